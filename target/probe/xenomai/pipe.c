// SPDX-License-Identifier: MIT
/*
 * Alchemy's message pipe (rt_pipe) joins a task to a thread of Linux, and exists with the Cobalt core only. A task below
 * PORT_HIGH is that thread here: Cobalt leaves a task to Linux as long as it makes Linux's calls. The stream between two
 * tasks, which Mercury has too, is the buffer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "xenomai.h"

#ifdef __COBALT__

enum port_status port_pipe_open(struct port_pipe *pipe)
{
	char path[32];
	int minor = rt_pipe_create(&pipe->pipe, NULL, P_MINOR_AUTO, 0);

	if (minor < 0)
		return xenomai_status(minor, "rt_pipe_create");
	snprintf(path, sizeof(path), "/dev/rtp%d", minor);
	pipe->fd = open(path, O_RDWR | O_CLOEXEC);
	if (pipe->fd >= 0)
		return PORT_OK;
	minor = errno;
	rt_pipe_delete(&pipe->pipe);
	return linux_fail(PORT_FAILED, path, minor);
}

/* A message each: whole or not at all. */
enum port_status port_pipe_write(struct port_pipe *pipe, const void *bytes, size_t count)
{
	ssize_t written;

	if (!xenomai_linux_end())
		return xenomai_status((int)rt_pipe_write(&pipe->pipe, bytes, count, P_NORMAL), "rt_pipe_write");
	do
		written = write(pipe->fd, bytes, count);
	while (written < 0 && errno == EINTR);
	return written < 0 ? linux_fail(PORT_FAILED, "writing to /dev/rtp", errno) : PORT_OK;
}

static ssize_t read_some(struct port_pipe *pipe, void *bytes, size_t count)
{
	ssize_t got;

	if (!xenomai_linux_end())
		return rt_pipe_read(&pipe->pipe, bytes, count, TM_INFINITE); /* refuses a message longer than that */
	got = read(pipe->fd, bytes, count);
	return got < 0 ? -errno : got;
}

enum port_status port_pipe_read(struct port_pipe *pipe, void *bytes, size_t count)
{
	for (size_t have = 0; have < count;) {
		ssize_t got = read_some(pipe, (char *)bytes + have, count - have);

		if (got == -EINTR)
			continue;
		if (got <= 0)
			return xenomai_status(got ? (int)got : -EPIPE, "reading from a message pipe");
		have += (size_t)got;
	}
	return PORT_OK;
}

void port_pipe_close(struct port_pipe *pipe)
{
	close(pipe->fd);
	rt_pipe_delete(&pipe->pipe);
}

#else

enum port_status port_pipe_open(struct port_pipe *pipe)
{
	return xenomai_status(rt_buffer_create(&pipe->buffer, NULL, PORT_PIPE_BYTES, B_PRIO), "rt_buffer_create");
}

/* Writes everything or nothing. */
enum port_status port_pipe_write(struct port_pipe *pipe, const void *bytes, size_t count)
{
	return xenomai_status((int)rt_buffer_write(&pipe->buffer, bytes, count, TM_INFINITE), "rt_buffer_write");
}

/* Reads everything, or less if a writer waits for room. */
enum port_status port_pipe_read(struct port_pipe *pipe, void *bytes, size_t count)
{
	for (size_t have = 0; have < count;) {
		ssize_t got = rt_buffer_read(&pipe->buffer, (char *)bytes + have, count - have, TM_INFINITE);

		if (got < 0)
			return xenomai_status((int)got, "rt_buffer_read");
		have += (size_t)got;
	}
	return PORT_OK;
}

void port_pipe_close(struct port_pipe *pipe)
{
	rt_buffer_delete(&pipe->buffer);
}

#endif

// SPDX-License-Identifier: MIT
/*
 * What threads pass data and signals through. EVL has no message queue. Its cross-buffer joins a thread of the core to
 * one of Linux; its flags are gone when a waiter has taken them.
 */
#include <errno.h>
#include <unistd.h>

#include "evl_port.h"

enum { FLAG = 1 };

static enum port_status no_queue(void)
{
	return linux_fail(PORT_NOT_OFFERED, "EVL has no message queue between threads of the core", 0);
}

enum port_status port_queue_open(struct port_queue *queue, unsigned int depth, size_t message_bytes)
{
	(void)queue, (void)depth, (void)message_bytes;
	return no_queue();
}

enum port_status port_queue_send(struct port_queue *queue, const void *message)
{
	(void)queue, (void)message;
	return no_queue();
}

enum port_status port_queue_receive(struct port_queue *queue, void *message)
{
	(void)queue, (void)message;
	return no_queue();
}

void port_queue_close(struct port_queue *queue)
{
	(void)queue;
}

enum port_status port_pipe_open(struct port_pipe *pipe)
{
	pipe->fd = evl_create_xbuf(PORT_PIPE_BYTES, PORT_PIPE_BYTES, EVL_CLONE_PRIVATE, NULL);
	return evl_status(pipe->fd, "evl_create_xbuf");
}

/* Writes everything or nothing. */
enum port_status port_pipe_write(struct port_pipe *pipe, const void *bytes, size_t count)
{
	const bool on_linux = evl_linux_end();
	ssize_t written;

	do
		written = on_linux ? write(pipe->fd, bytes, count) : oob_write(pipe->fd, bytes, count);
	while (written < 0 && errno == EINTR);
	return written < 0 ? linux_fail(PORT_FAILED, "writing to a cross-buffer", errno) : PORT_OK;
}

enum port_status port_pipe_read(struct port_pipe *pipe, void *bytes, size_t count)
{
	const bool on_linux = evl_linux_end();

	for (size_t have = 0; have < count;) {
		char *to = (char *)bytes + have;
		ssize_t got = on_linux ? read(pipe->fd, to, count - have) : oob_read(pipe->fd, to, count - have);

		if (got > 0)
			have += (size_t)got;
		else if (got == 0 || errno != EINTR)
			return linux_fail(PORT_FAILED, "reading from a cross-buffer", got ? errno : EPIPE);
	}
	return PORT_OK;
}

void port_pipe_close(struct port_pipe *pipe)
{
	close(pipe->fd);
}

enum port_status port_event_open(struct port_event *event)
{
	return evl_status(evl_create_flags(&event->flags, EVL_CLOCK_MONOTONIC, 0, EVL_CLONE_PRIVATE, NULL),
			  "evl_create_flags");
}

enum port_status port_event_wait(struct port_event *event)
{
	int flags;

	return evl_status(evl_wait_some_flags(&event->flags, FLAG, &flags), "evl_wait_some_flags");
}

enum port_status port_event_signal(struct port_event *event)
{
	return evl_status(evl_post_flags(&event->flags, FLAG), "evl_post_flags");
}

void port_event_close(struct port_event *event)
{
	evl_close_flags(&event->flags);
}

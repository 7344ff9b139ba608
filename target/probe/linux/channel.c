// SPDX-License-Identifier: MIT
/* What threads pass data and signals through: a POSIX message queue, a pipe, an eventfd. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "linux.h"

static enum port_status open_failed(const char *what)
{
	return linux_fail(errno == ENOSYS ? PORT_NOT_OFFERED : PORT_FAILED, what, errno);
}

/* The name is gone before anyone else could open it. */
enum port_status port_queue_open(struct port_queue *queue, unsigned int depth, size_t message_bytes)
{
	struct mq_attr attributes = { .mq_maxmsg = (long)depth, .mq_msgsize = (long)message_bytes };
	char name[32];

	snprintf(name, sizeof(name), "/rtqual-probe-%ld", (long)getpid());
	queue->id = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600, &attributes);
	if (queue->id == (mqd_t)-1)
		return open_failed("a POSIX message queue");
	mq_unlink(name);
	queue->message_bytes = message_bytes;
	return PORT_OK;
}

enum port_status port_queue_send(struct port_queue *queue, const void *message)
{
	while (mq_send(queue->id, message, queue->message_bytes, 0))
		if (errno != EINTR)
			return linux_fail(PORT_FAILED, "sending a message", errno);
	return PORT_OK;
}

enum port_status port_queue_receive(struct port_queue *queue, void *message)
{
	while (mq_receive(queue->id, message, queue->message_bytes, NULL) != (ssize_t)queue->message_bytes)
		if (errno != EINTR)
			return linux_fail(PORT_FAILED, "receiving a message", errno);
	return PORT_OK;
}

void port_queue_close(struct port_queue *queue)
{
	mq_close(queue->id);
}

enum port_status port_pipe_open(struct port_pipe *pipe)
{
	return pipe2(pipe->ends, O_CLOEXEC) ? open_failed("a pipe") : PORT_OK;
}

/* At most PIPE_BUF bytes, which are written whole or not at all. */
enum port_status port_pipe_write(struct port_pipe *pipe, const void *bytes, size_t count)
{
	while (write(pipe->ends[1], bytes, count) != (ssize_t)count)
		if (errno != EINTR)
			return linux_fail(PORT_FAILED, "writing to a pipe", errno);
	return PORT_OK;
}

enum port_status port_pipe_read(struct port_pipe *pipe, void *bytes, size_t count)
{
	for (size_t have = 0; have < count;) {
		ssize_t got = read(pipe->ends[0], (char *)bytes + have, count - have);

		if (got > 0)
			have += (size_t)got;
		else if (got == 0 || errno != EINTR)
			return linux_fail(PORT_FAILED, "reading from a pipe", got ? errno : EPIPE);
	}
	return PORT_OK;
}

void port_pipe_close(struct port_pipe *pipe)
{
	close(pipe->ends[0]);
	close(pipe->ends[1]);
}

/* Without EFD_SEMAPHORE: a read takes all signals there are, as the contract has it. */
enum port_status port_event_open(struct port_event *event)
{
	event->fd = eventfd(0, EFD_CLOEXEC);
	return event->fd < 0 ? open_failed("an eventfd") : PORT_OK;
}

enum port_status port_event_wait(struct port_event *event)
{
	uint64_t signals;

	while (read(event->fd, &signals, sizeof(signals)) != (ssize_t)sizeof(signals))
		if (errno != EINTR)
			return linux_fail(PORT_FAILED, "waiting for an eventfd", errno);
	return PORT_OK;
}

enum port_status port_event_signal(struct port_event *event)
{
	static const uint64_t one = 1;

	while (write(event->fd, &one, sizeof(one)) != (ssize_t)sizeof(one))
		if (errno != EINTR)
			return linux_fail(PORT_FAILED, "signalling an eventfd", errno);
	return PORT_OK;
}

void port_event_close(struct port_event *event)
{
	close(event->fd);
}

// SPDX-License-Identifier: MIT
/* Queues, pipes and events: ChibiOS's FIFO of objects, pipe and binary semaphore. */
#include <string.h>

#include "chibios.h"

_Static_assert(sizeof(((struct port_queue *)0)->buffers) == PORT_DEPTH * PORT_MESSAGE_BYTES, "room for a full queue");
_Static_assert(sizeof(((struct port_queue *)0)->pointers) == PORT_DEPTH * sizeof(msg_t), "room for a full queue");
_Static_assert(sizeof(((struct port_pipe *)0)->storage) == PORT_PIPE_BYTES, "room for a full pipe");

enum port_status port_queue_open(struct port_queue *queue, unsigned int depth, size_t message_bytes)
{
	if (depth > PORT_DEPTH || message_bytes > PORT_MESSAGE_BYTES)
		return PORT_FULL;
	queue->message_bytes = message_bytes;
	/* A free buffer holds the pool's pointer to the next one. */
	chFifoObjectInit(&queue->fifo, (message_bytes + sizeof(void *) - 1) / sizeof(void *) * sizeof(void *), depth,
			 queue->buffers, queue->pointers);
	return PORT_OK;
}

enum port_status port_queue_send(struct port_queue *queue, const void *message)
{
	void *buffer = chFifoTakeObjectTimeout(&queue->fifo, TIME_INFINITE);

	if (!buffer)
		return port_fail(PORT_FAILED, "chFifoTakeObjectTimeout");
	memcpy(buffer, message, queue->message_bytes);
	chFifoSendObject(&queue->fifo, buffer);
	return PORT_OK;
}

enum port_status port_queue_receive(struct port_queue *queue, void *message)
{
	void *buffer;

	if (chFifoReceiveObjectTimeout(&queue->fifo, &buffer, TIME_INFINITE) != MSG_OK)
		return port_fail(PORT_FAILED, "chFifoReceiveObjectTimeout");
	memcpy(message, buffer, queue->message_bytes);
	chFifoReturnObject(&queue->fifo, buffer);
	return PORT_OK;
}

void port_queue_close(struct port_queue *queue)
{
	(void)queue; /* the kernel keeps nothing of an object that nobody waits for */
}

enum port_status port_pipe_open(struct port_pipe *pipe)
{
	chPipeObjectInit(&pipe->pipe, pipe->storage, sizeof(pipe->storage));
	return PORT_OK;
}

enum port_status port_pipe_write(struct port_pipe *pipe, const void *bytes, size_t count)
{
	size_t done = chPipeWriteTimeout(&pipe->pipe, bytes, count, TIME_INFINITE);

	return done == count ? PORT_OK : port_fail(PORT_FAILED, "chPipeWriteTimeout");
}

enum port_status port_pipe_read(struct port_pipe *pipe, void *bytes, size_t count)
{
	size_t done = chPipeReadTimeout(&pipe->pipe, bytes, count, TIME_INFINITE);

	return done == count ? PORT_OK : port_fail(PORT_FAILED, "chPipeReadTimeout");
}

void port_pipe_close(struct port_pipe *pipe)
{
	(void)pipe;
}

/* ChibiOS's event flags belong to a thread; between any two threads a signal without a value is a binary semaphore. */
enum port_status port_event_open(struct port_event *event)
{
	chBSemObjectInit(&event->signalled, true);
	return PORT_OK;
}

enum port_status port_event_wait(struct port_event *event)
{
	return chBSemWait(&event->signalled) == MSG_OK ? PORT_OK : port_fail(PORT_FAILED, "chBSemWait");
}

enum port_status port_event_signal(struct port_event *event)
{
	chBSemSignal(&event->signalled);
	return PORT_OK;
}

void port_event_close(struct port_event *event)
{
	(void)event;
}

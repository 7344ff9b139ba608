// SPDX-License-Identifier: MIT
/* What tasks pass messages and signals through. */
#include <errno.h>

#include "xenomai.h"

enum { FLAG = 1 };

enum port_status port_queue_open(struct port_queue *queue, unsigned int depth, size_t message_bytes)
{
	queue->message_bytes = message_bytes;
	return xenomai_status(rt_queue_create(&queue->queue, NULL, depth * message_bytes, depth, Q_PRIO),
			      "rt_queue_create");
}

/* Alchemy refuses a message to a full queue, where the contract makes the sender wait. No benchmark fills a queue. */
enum port_status port_queue_send(struct port_queue *queue, const void *message)
{
	int result = rt_queue_write(&queue->queue, message, queue->message_bytes, Q_NORMAL);

	if (result != -ENOMEM)
		return xenomai_status(result, "rt_queue_write");
	linux_thread_failed();
	return linux_fail(PORT_FULL, "the queue is full, and Alchemy lets no sender wait", 0);
}

enum port_status port_queue_receive(struct port_queue *queue, void *message)
{
	ssize_t got = rt_queue_read(&queue->queue, message, queue->message_bytes, TM_INFINITE);

	if (got >= 0 && (size_t)got != queue->message_bytes)
		return linux_fail(PORT_FAILED, "rt_queue_read gave a message of another size", 0);
	return xenomai_status((int)got, "rt_queue_read");
}

void port_queue_close(struct port_queue *queue)
{
	rt_queue_delete(&queue->queue);
}

enum port_status port_event_open(struct port_event *event)
{
	return xenomai_status(rt_event_create(&event->event, NULL, 0, EV_PRIO), "rt_event_create");
}

/* Flags stay until they are cleared, which takes a second call. */
enum port_status port_event_wait(struct port_event *event)
{
	unsigned int flags;
	int result = rt_event_wait(&event->event, FLAG, &flags, EV_ANY, TM_INFINITE);

	if (!result)
		result = rt_event_clear(&event->event, FLAG, NULL);
	return xenomai_status(result, "waiting for an event");
}

enum port_status port_event_signal(struct port_event *event)
{
	return xenomai_status(rt_event_signal(&event->event, FLAG), "rt_event_signal");
}

void port_event_close(struct port_event *event)
{
	rt_event_delete(&event->event);
}

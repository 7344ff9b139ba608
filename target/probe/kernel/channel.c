// SPDX-License-Identifier: GPL-2.0
/*
 * Between threads: semaphore, mutex with priority inheritance, kfifo with a wait queue, wait queue with a flag.
 *
 * In a kernel that does not preempt itself (PREEMPT_VOLUNTARY, PREEMPT_NONE) a woken thread waits until the waker
 * offers the CPU, so every waking call here ends with such an offer; in a preemptible kernel the offer does nothing.
 */
#include <linux/string.h>

#include "kernel.h"

enum port_status port_semaphore_open(struct port_semaphore *semaphore, unsigned int count)
{
	sema_init(&semaphore->semaphore, (int)count);
	return PORT_OK;
}

enum port_status port_semaphore_wait(struct port_semaphore *semaphore)
{
	int error = down_interruptible(&semaphore->semaphore);

	return error ? kernel_fail(PORT_FAILED, "down_interruptible", error) : PORT_OK;
}

enum port_status port_semaphore_post(struct port_semaphore *semaphore)
{
	up(&semaphore->semaphore);
	cond_resched();
	return PORT_OK;
}

void port_semaphore_close(struct port_semaphore *semaphore)
{
}

enum port_status port_mutex_open(struct port_mutex *mutex)
{
	rt_mutex_init(&mutex->mutex);
	return PORT_OK;
}

enum port_status port_mutex_lock(struct port_mutex *mutex)
{
	rt_mutex_lock(&mutex->mutex);
	return PORT_OK;
}

enum port_status port_mutex_unlock(struct port_mutex *mutex)
{
	rt_mutex_unlock(&mutex->mutex);
	cond_resched();
	return PORT_OK;
}

void port_mutex_close(struct port_mutex *mutex)
{
}

static void open_pipe(struct port_pipe *pipe, unsigned int room)
{
	spin_lock_init(&pipe->lock);
	init_waitqueue_head(&pipe->changed);
	INIT_KFIFO(pipe->bytes);
	pipe->room = room;
}

static bool put(struct port_pipe *pipe, const void *bytes, unsigned int count)
{
	bool fits;

	spin_lock(&pipe->lock);
	fits = kfifo_len(&pipe->bytes) + count <= pipe->room;
	if (fits)
		kfifo_in(&pipe->bytes, (const unsigned char *)bytes, count);
	spin_unlock(&pipe->lock);
	return fits;
}

static bool get(struct port_pipe *pipe, void *bytes, unsigned int count)
{
	bool there;

	spin_lock(&pipe->lock);
	there = kfifo_len(&pipe->bytes) >= count && kfifo_out(&pipe->bytes, (unsigned char *)bytes, count) == count;
	spin_unlock(&pipe->lock);
	return there;
}

static enum port_status send(struct port_pipe *pipe, const void *bytes, size_t count)
{
	if (count > pipe->room)
		return kernel_fail(PORT_FULL, "more bytes than a pipe holds", 0);
	if (wait_event_interruptible(pipe->changed, put(pipe, bytes, (unsigned int)count)))
		return kernel_fail(PORT_FAILED, "a wait was interrupted", 0);
	wake_up_interruptible(&pipe->changed);
	cond_resched();
	return PORT_OK;
}

static enum port_status receive(struct port_pipe *pipe, void *bytes, size_t count)
{
	if (count > pipe->room)
		return kernel_fail(PORT_FULL, "more bytes than a pipe holds", 0);
	if (wait_event_interruptible(pipe->changed, get(pipe, bytes, (unsigned int)count)))
		return kernel_fail(PORT_FAILED, "a wait was interrupted", 0);
	wake_up_interruptible(&pipe->changed);
	cond_resched();
	return PORT_OK;
}

enum port_status port_queue_open(struct port_queue *queue, unsigned int depth, size_t message_bytes)
{
	if (depth > PORT_DEPTH || message_bytes > PORT_MESSAGE_BYTES)
		return kernel_fail(PORT_FULL, "a queue larger than the contract has", 0);
	open_pipe(&queue->messages, depth * (unsigned int)message_bytes);
	queue->message_bytes = message_bytes;
	return PORT_OK;
}

enum port_status port_queue_send(struct port_queue *queue, const void *message)
{
	return send(&queue->messages, message, queue->message_bytes);
}

enum port_status port_queue_receive(struct port_queue *queue, void *message)
{
	return receive(&queue->messages, message, queue->message_bytes);
}

void port_queue_close(struct port_queue *queue)
{
}

enum port_status port_pipe_open(struct port_pipe *pipe)
{
	open_pipe(pipe, PORT_PIPE_BYTES);
	return PORT_OK;
}

enum port_status port_pipe_write(struct port_pipe *pipe, const void *bytes, size_t count)
{
	return send(pipe, bytes, count);
}

enum port_status port_pipe_read(struct port_pipe *pipe, void *bytes, size_t count)
{
	return receive(pipe, bytes, count);
}

void port_pipe_close(struct port_pipe *pipe)
{
}

enum port_status port_event_open(struct port_event *event)
{
	init_waitqueue_head(&event->changed);
	event->signalled = 0;
	return PORT_OK;
}

enum port_status port_event_wait(struct port_event *event)
{
	if (wait_event_interruptible(event->changed, xchg(&event->signalled, 0)))
		return kernel_fail(PORT_FAILED, "a wait was interrupted", 0);
	return PORT_OK;
}

enum port_status port_event_signal(struct port_event *event)
{
	xchg(&event->signalled, 1);
	wake_up_interruptible(&event->changed);
	cond_resched();
	return PORT_OK;
}

void port_event_close(struct port_event *event)
{
}

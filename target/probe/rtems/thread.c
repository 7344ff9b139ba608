// SPDX-License-Identifier: MIT
/* Threads, semaphores, mutexes, queues and events of RTEMS's Classic API. */
#include "rtems_port.h"

/* A lower number is more urgent. Main, which calls the battery, is below all benchmarks, the timer server above. */
enum { PRIORITY_MAIN = 100, STACK_BYTES = 8192 };

static rtems_name name_of(void)
{
	return rtems_build_name('r', 't', 'q', ' ');
}

enum port_status rtems_port_done(rtems_status_code code, const char *what)
{
	return code == RTEMS_SUCCESSFUL ? PORT_OK : port_fail(PORT_FAILED, what);
}

static void run_thread(rtems_task_argument argument)
{
	struct port_thread *thread = (struct port_thread *)argument;

	thread->entry(thread->argument);
	port_semaphore_post(&thread->ended);
	rtems_task_exit();
}

enum port_status port_thread_start(struct port_thread *thread, const char *name, enum port_priority priority, int cpu,
				   port_entry entry, void *argument)
{
	(void)name; /* nothing here shows it */
	if (cpu != PORT_ANY_CPU && cpu != 0)
		return port_fail(PORT_DENIED, "RTEMS runs on one CPU here, number 0");
	thread->entry = entry;
	thread->argument = argument;
	if (port_semaphore_open(&thread->ended, 0) != PORT_OK)
		return PORT_FAILED;
	if (rtems_task_create(name_of(), PRIORITY_MAIN - (rtems_task_priority)priority, STACK_BYTES, RTEMS_PREEMPT,
			      RTEMS_DEFAULT_ATTRIBUTES, &thread->id) != RTEMS_SUCCESSFUL)
		return port_fail(PORT_FAILED, "rtems_task_create");
	return rtems_port_done(rtems_task_start(thread->id, run_thread, (rtems_task_argument)thread),
			       "rtems_task_start");
}

enum port_status port_thread_join(struct port_thread *thread)
{
	enum port_status ended = port_semaphore_wait(&thread->ended);

	port_semaphore_close(&thread->ended);
	return ended;
}

/* RTEMS tells the priority that a task was lent, not the one that it was given. */
enum port_status port_priority_now(enum port_priority *priority)
{
	rtems_task_priority now;

	if (rtems_task_set_priority(RTEMS_SELF, RTEMS_CURRENT_PRIORITY, &now) != RTEMS_SUCCESSFUL ||
	    now < PRIORITY_MAIN - PORT_HIGHEST || now > PRIORITY_MAIN - PORT_LOW)
		return port_fail(PORT_FAILED, "the caller is no thread of a benchmark");
	*priority = (enum port_priority)(PRIORITY_MAIN - now);
	return PORT_OK;
}

void port_yield(void)
{
	rtems_task_wake_after(RTEMS_YIELD_PROCESSOR);
}

enum port_status port_semaphore_open(struct port_semaphore *semaphore, unsigned int count)
{
	return rtems_port_done(rtems_semaphore_create(name_of(), count, RTEMS_COUNTING_SEMAPHORE | RTEMS_PRIORITY, 0,
						      &semaphore->id),
			       "rtems_semaphore_create");
}

enum port_status port_semaphore_wait(struct port_semaphore *semaphore)
{
	return rtems_port_done(rtems_semaphore_obtain(semaphore->id, RTEMS_WAIT, RTEMS_NO_TIMEOUT),
			       "rtems_semaphore_obtain");
}

enum port_status port_semaphore_post(struct port_semaphore *semaphore)
{
	return rtems_port_done(rtems_semaphore_release(semaphore->id), "rtems_semaphore_release");
}

void port_semaphore_close(struct port_semaphore *semaphore)
{
	rtems_semaphore_delete(semaphore->id);
}

enum port_status port_mutex_open(struct port_mutex *mutex)
{
	return rtems_port_done(rtems_semaphore_create(name_of(), 1,
						      RTEMS_BINARY_SEMAPHORE | RTEMS_INHERIT_PRIORITY | RTEMS_PRIORITY,
						      0, &mutex->id),
			       "rtems_semaphore_create");
}

enum port_status port_mutex_lock(struct port_mutex *mutex)
{
	return rtems_port_done(rtems_semaphore_obtain(mutex->id, RTEMS_WAIT, RTEMS_NO_TIMEOUT),
			       "rtems_semaphore_obtain");
}

enum port_status port_mutex_unlock(struct port_mutex *mutex)
{
	return rtems_port_done(rtems_semaphore_release(mutex->id), "rtems_semaphore_release");
}

void port_mutex_close(struct port_mutex *mutex)
{
	rtems_semaphore_delete(mutex->id);
}

enum port_status port_queue_open(struct port_queue *queue, unsigned int depth, size_t message_bytes)
{
	if (depth > PORT_DEPTH || message_bytes > PORT_MESSAGE_BYTES)
		return PORT_FULL;
	queue->message_bytes = message_bytes;
	return rtems_port_done(rtems_message_queue_create(name_of(), depth, message_bytes, RTEMS_PRIORITY, &queue->id),
			       "rtems_message_queue_create");
}

/* A sender to a full queue is refused: it cannot wait. */
enum port_status port_queue_send(struct port_queue *queue, const void *message)
{
	rtems_status_code code = rtems_message_queue_send(queue->id, message, queue->message_bytes);

	return code == RTEMS_TOO_MANY ? PORT_FULL : rtems_port_done(code, "rtems_message_queue_send");
}

enum port_status port_queue_receive(struct port_queue *queue, void *message)
{
	size_t size;

	return rtems_port_done(rtems_message_queue_receive(queue->id, message, &size, RTEMS_WAIT, RTEMS_NO_TIMEOUT),
			       "rtems_message_queue_receive");
}

void port_queue_close(struct port_queue *queue)
{
	rtems_message_queue_delete(queue->id);
}

enum port_status port_pipe_open(struct port_pipe *pipe)
{
	(void)pipe;
	return port_fail(PORT_NOT_OFFERED, "RTEMS with its file system, which has pipes, was not tried");
}

enum port_status port_pipe_write(struct port_pipe *pipe, const void *bytes, size_t count)
{
	(void)bytes;
	(void)count;
	return port_pipe_open(pipe);
}

enum port_status port_pipe_read(struct port_pipe *pipe, void *bytes, size_t count)
{
	(void)bytes;
	(void)count;
	return port_pipe_open(pipe);
}

void port_pipe_close(struct port_pipe *pipe)
{
	(void)pipe;
}

/* RTEMS's events are sent to a task; between any two a signal without a value is a simple binary semaphore. */
enum port_status port_event_open(struct port_event *event)
{
	return rtems_port_done(rtems_semaphore_create(name_of(), 0, RTEMS_SIMPLE_BINARY_SEMAPHORE | RTEMS_PRIORITY, 0,
						      &event->id),
			       "rtems_semaphore_create");
}

enum port_status port_event_wait(struct port_event *event)
{
	return rtems_port_done(rtems_semaphore_obtain(event->id, RTEMS_WAIT, RTEMS_NO_TIMEOUT),
			       "rtems_semaphore_obtain");
}

enum port_status port_event_signal(struct port_event *event)
{
	return rtems_port_done(rtems_semaphore_release(event->id), "rtems_semaphore_release");
}

void port_event_close(struct port_event *event)
{
	rtems_semaphore_delete(event->id);
}

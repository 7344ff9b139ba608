// SPDX-License-Identifier: MIT
/* Threads under SCHED_FIFO that refuse to run otherwise, and the semaphores between them. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "nuttx.h"

static int priority_of(enum port_priority priority)
{
	return NUTTX_PRIORITY_MAIN + (int)priority;
}

/* What the thread has, by NuttX's own account. */
static enum port_status settle(const struct port_thread *thread)
{
	struct sched_param got = { 0 };

	if (sched_getscheduler(0) != SCHED_FIFO || sched_getparam(0, &got) || got.sched_priority != thread->priority)
		return linux_fail(PORT_DENIED, "the thread did not get its priority or policy", 0);
	return PORT_OK;
}

static void *thread_main(void *argument)
{
	struct port_thread *thread = argument;
	enum port_status status = settle(thread);

	thread->status = status;
	port_semaphore_post(&thread->checked);
	if (status == PORT_OK)
		thread->entry(thread->argument);
	return NULL;
}

static int create(struct port_thread *thread)
{
	struct sched_param priority = { .sched_priority = thread->priority };
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);

	if (!error)
		error = pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	if (!error)
		error = pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	if (!error)
		error = pthread_attr_setschedparam(&attributes, &priority);
	if (!error)
		error = pthread_attr_setstack(&attributes, thread->stack, sizeof(thread->stack));
	if (!error)
		error = pthread_create(&thread->id, &attributes, thread_main, thread);
	pthread_attr_destroy(&attributes);
	return error;
}

enum port_status port_thread_start(struct port_thread *thread, const char *name, enum port_priority priority, int cpu,
				   port_entry entry, void *argument)
{
	int error;

	(void)name; /* nothing here shows it */
	if (cpu != PORT_ANY_CPU && cpu != 0)
		return linux_fail(PORT_DENIED, "NuttX runs on one CPU here, number 0", 0);
	thread->priority = priority_of(priority);
	thread->entry = entry;
	thread->argument = argument;
	port_semaphore_open(&thread->checked, 0);
	error = create(thread);
	if (error)
		return linux_fail(PORT_FAILED, "starting a thread", error);
	port_semaphore_wait(&thread->checked);
	if (thread->status != PORT_OK)
		pthread_join(thread->id, NULL);
	return (enum port_status)thread->status;
}

enum port_status port_thread_join(struct port_thread *thread)
{
	int error = pthread_join(thread->id, NULL);

	port_semaphore_close(&thread->checked);
	return error ? linux_fail(PORT_FAILED, "waiting for a thread's end", error) : PORT_OK;
}

/* NuttX tells the priority that a thread was lent, not the one that it was given. */
enum port_status port_priority_now(enum port_priority *priority)
{
	struct sched_param now = { 0 };

	if (sched_getparam(0, &now))
		return linux_fail(PORT_FAILED, "sched_getparam", errno);
	if (now.sched_priority < priority_of(PORT_LOW) || now.sched_priority > priority_of(PORT_HIGHEST))
		return linux_fail(PORT_FAILED, "a priority that is none of ours", 0);
	*priority = (enum port_priority)(now.sched_priority - NUTTX_PRIORITY_MAIN);
	return PORT_OK;
}

void port_yield(void)
{
	sched_yield(); /* cannot fail on NuttX */
}

/* Who posts is not who waited, so nobody holds it: without this, a poster would be lent a waiter's priority. */
enum port_status port_semaphore_open(struct port_semaphore *semaphore, unsigned int count)
{
	if (sem_init(&semaphore->semaphore, 0, count) || sem_setprotocol(&semaphore->semaphore, SEM_PRIO_NONE))
		return linux_fail(PORT_FAILED, "sem_init", errno);
	return PORT_OK;
}

enum port_status port_semaphore_wait(struct port_semaphore *semaphore)
{
	while (sem_wait(&semaphore->semaphore))
		if (errno != EINTR)
			return linux_fail(PORT_FAILED, "sem_wait", errno);
	return PORT_OK;
}

enum port_status port_semaphore_post(struct port_semaphore *semaphore)
{
	return sem_post(&semaphore->semaphore) ? linux_fail(PORT_FAILED, "sem_post", errno) : PORT_OK;
}

void port_semaphore_close(struct port_semaphore *semaphore)
{
	sem_destroy(&semaphore->semaphore);
}

// SPDX-License-Identifier: MIT
/* Threads, semaphores and mutexes: ChibiOS's own, one for one. */
#include "chibios.h"

static void run_thread(void *argument)
{
	struct port_thread *thread = argument;

	thread->entry(thread->argument);
}

enum port_status port_thread_start(struct port_thread *thread, const char *name, enum port_priority priority, int cpu,
				   port_entry entry, void *argument)
{
	(void)name; /* nothing here shows it */
	if (cpu != PORT_ANY_CPU && cpu != 0)
		return port_fail(PORT_DENIED, "ChibiOS runs on one CPU here, number 0");
	thread->entry = entry;
	thread->argument = argument;
	thread->id = chThdCreateStatic(thread->area, sizeof(thread->area), CHIBIOS_PRIORITY_MAIN + (tprio_t)priority,
				       run_thread, thread);
	return PORT_OK; /* it cannot fail: the memory is there, and any priority is granted */
}

enum port_status port_thread_join(struct port_thread *thread)
{
	chThdWait(thread->id);
	return PORT_OK;
}

/* ChibiOS tells the priority that a thread was lent, not the one that it was given. */
enum port_status port_priority_now(enum port_priority *priority)
{
	tprio_t now = chThdGetPriorityX();

	if (now < CHIBIOS_PRIORITY_MAIN + PORT_LOW || now > CHIBIOS_PRIORITY_MAIN + PORT_HIGHEST)
		return port_fail(PORT_FAILED, "the caller is no thread of a benchmark");
	*priority = (enum port_priority)(now - CHIBIOS_PRIORITY_MAIN);
	return PORT_OK;
}

void port_yield(void)
{
	chThdYield();
}

enum port_status port_semaphore_open(struct port_semaphore *semaphore, unsigned int count)
{
	chSemObjectInit(&semaphore->semaphore, (cnt_t)count);
	return PORT_OK;
}

enum port_status port_semaphore_wait(struct port_semaphore *semaphore)
{
	return chSemWait(&semaphore->semaphore) == MSG_OK ? PORT_OK : port_fail(PORT_FAILED, "chSemWait");
}

enum port_status port_semaphore_post(struct port_semaphore *semaphore)
{
	chSemSignal(&semaphore->semaphore);
	return PORT_OK;
}

void port_semaphore_close(struct port_semaphore *semaphore)
{
	(void)semaphore; /* the kernel keeps nothing of an object that nobody waits for */
}

enum port_status port_mutex_open(struct port_mutex *mutex)
{
	chMtxObjectInit(&mutex->mutex);
	return PORT_OK;
}

enum port_status port_mutex_lock(struct port_mutex *mutex)
{
	chMtxLock(&mutex->mutex);
	return PORT_OK;
}

enum port_status port_mutex_unlock(struct port_mutex *mutex)
{
	chMtxUnlock(&mutex->mutex);
	return PORT_OK;
}

void port_mutex_close(struct port_mutex *mutex)
{
	(void)mutex;
}

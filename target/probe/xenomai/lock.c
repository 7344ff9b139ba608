// SPDX-License-Identifier: MIT
/* Semaphores and mutexes. Waiting tasks queue by priority. Alchemy's mutexes all inherit priority. */
#include "xenomai.h"

enum port_status port_semaphore_open(struct port_semaphore *semaphore, unsigned int count)
{
	return xenomai_status(rt_sem_create(&semaphore->sem, NULL, count, S_PRIO), "rt_sem_create");
}

enum port_status port_semaphore_wait(struct port_semaphore *semaphore)
{
	return xenomai_status(rt_sem_p(&semaphore->sem, TM_INFINITE), "rt_sem_p");
}

enum port_status port_semaphore_post(struct port_semaphore *semaphore)
{
	return xenomai_status(rt_sem_v(&semaphore->sem), "rt_sem_v");
}

void port_semaphore_close(struct port_semaphore *semaphore)
{
	rt_sem_delete(&semaphore->sem);
}

enum port_status port_mutex_open(struct port_mutex *mutex)
{
	return xenomai_status(rt_mutex_create(&mutex->mutex, NULL), "rt_mutex_create");
}

enum port_status port_mutex_lock(struct port_mutex *mutex)
{
	return xenomai_status(rt_mutex_acquire(&mutex->mutex, TM_INFINITE), "rt_mutex_acquire");
}

enum port_status port_mutex_unlock(struct port_mutex *mutex)
{
	return xenomai_status(rt_mutex_release(&mutex->mutex), "rt_mutex_release");
}

void port_mutex_close(struct port_mutex *mutex)
{
	rt_mutex_delete(&mutex->mutex);
}

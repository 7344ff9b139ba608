// SPDX-License-Identifier: MIT
/* Semaphores and mutexes. EVL's mutexes without a ceiling all inherit priority. */
#include "evl_port.h"

enum port_status port_semaphore_open(struct port_semaphore *semaphore, unsigned int count)
{
	return evl_status(evl_create_sem(&semaphore->sem, EVL_CLOCK_MONOTONIC, (int)count, EVL_CLONE_PRIVATE, NULL),
			  "evl_create_sem");
}

enum port_status port_semaphore_wait(struct port_semaphore *semaphore)
{
	return evl_status(evl_get_sem(&semaphore->sem), "evl_get_sem");
}

enum port_status port_semaphore_post(struct port_semaphore *semaphore)
{
	return evl_status(evl_put_sem(&semaphore->sem), "evl_put_sem");
}

void port_semaphore_close(struct port_semaphore *semaphore)
{
	evl_close_sem(&semaphore->sem);
}

enum port_status port_mutex_open(struct port_mutex *mutex)
{
	return evl_status(evl_create_mutex(&mutex->mutex, EVL_CLOCK_MONOTONIC, 0, EVL_MUTEX_NORMAL | EVL_CLONE_PRIVATE,
					   NULL),
			  "evl_create_mutex");
}

enum port_status port_mutex_lock(struct port_mutex *mutex)
{
	return evl_status(evl_lock_mutex(&mutex->mutex), "evl_lock_mutex");
}

enum port_status port_mutex_unlock(struct port_mutex *mutex)
{
	return evl_status(evl_unlock_mutex(&mutex->mutex), "evl_unlock_mutex");
}

void port_mutex_close(struct port_mutex *mutex)
{
	evl_close_mutex(&mutex->mutex);
}

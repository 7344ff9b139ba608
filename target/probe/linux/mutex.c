// SPDX-License-Identifier: MIT
/* POSIX mutexes with priority inheritance: the kernel's rt_mutex behind a futex. */
#include <errno.h>
#include <pthread.h>

#include "linux.h"

enum port_status port_mutex_open(struct port_mutex *mutex)
{
	pthread_mutexattr_t attributes;
	int error = pthread_mutexattr_init(&attributes);

	if (!error)
		error = pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	if (!error)
		error = pthread_mutex_init(&mutex->mutex, &attributes);
	pthread_mutexattr_destroy(&attributes);
	if (error)
		return linux_fail(error == ENOTSUP || error == ENOSYS ? PORT_NOT_OFFERED : PORT_FAILED,
				  "a mutex with priority inheritance", error);
	return PORT_OK;
}

enum port_status port_mutex_lock(struct port_mutex *mutex)
{
	int error = pthread_mutex_lock(&mutex->mutex);

	return error ? linux_fail(PORT_FAILED, "locking a mutex", error) : PORT_OK;
}

enum port_status port_mutex_unlock(struct port_mutex *mutex)
{
	int error = pthread_mutex_unlock(&mutex->mutex);

	return error ? linux_fail(PORT_FAILED, "unlocking a mutex", error) : PORT_OK;
}

void port_mutex_close(struct port_mutex *mutex)
{
	pthread_mutex_destroy(&mutex->mutex);
}

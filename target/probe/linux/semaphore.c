// SPDX-License-Identifier: MIT
/*
 * A semaphore as Linux has it: a counter, and a futex to sleep on while it is 0 (glibc's works the same way). Written
 * out, because musl's spins a hundred times before it sleeps, which would be measured as Linux's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "linux.h"

/* The kernel's <linux/futex.h>, which musl's compiler wrapper does not find: 0 and 1 with FUTEX_PRIVATE_FLAG. */
enum { FUTEX_WAIT_PRIVATE = 128, FUTEX_WAKE_PRIVATE = 129 };

enum port_status port_semaphore_open(struct port_semaphore *semaphore, unsigned int count)
{
	*semaphore = (struct port_semaphore){ .count = count };
	return PORT_OK;
}

static bool take(struct port_semaphore *semaphore)
{
	uint32_t count = __atomic_load_n(&semaphore->count, __ATOMIC_RELAXED);

	while (count)
		if (__atomic_compare_exchange_n(&semaphore->count, &count, count - 1, false, __ATOMIC_ACQUIRE,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

static int sleep_while_zero(struct port_semaphore *semaphore, const struct timespec *timeout)
{
	int error = 0;

	__atomic_fetch_add(&semaphore->waiters, 1, __ATOMIC_SEQ_CST);
	while (!take(semaphore)) {
		if (syscall(SYS_futex, &semaphore->count, FUTEX_WAIT_PRIVATE, 0, timeout, NULL, 0) == 0)
			continue;
		if (errno != EAGAIN && errno != EINTR) {
			error = errno;
			break;
		}
	}
	__atomic_fetch_sub(&semaphore->waiters, 1, __ATOMIC_RELAXED);
	return error;
}

enum port_status port_semaphore_wait(struct port_semaphore *semaphore)
{
	int error;

	if (take(semaphore))
		return PORT_OK;
	error = sleep_while_zero(semaphore, NULL);
	return error ? linux_fail(PORT_FAILED, "futex wait", error) : PORT_OK;
}

bool linux_semaphore_wait_s(struct port_semaphore *semaphore, int timeout_s)
{
	/* As the kernel's old time type on 32-bit systems has it, whose futex call this is. */
	struct {
		long s, ns;
	} timeout = { timeout_s, 0 };

	return take(semaphore) || !sleep_while_zero(semaphore, (const struct timespec *)&timeout);
}

enum port_status port_semaphore_post(struct port_semaphore *semaphore)
{
	__atomic_fetch_add(&semaphore->count, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&semaphore->waiters, __ATOMIC_SEQ_CST))
		return PORT_OK;
	if (syscall(SYS_futex, &semaphore->count, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0) < 0)
		return linux_fail(PORT_FAILED, "futex wake", errno);
	return PORT_OK;
}

void port_semaphore_close(struct port_semaphore *semaphore)
{
	(void)semaphore;
}

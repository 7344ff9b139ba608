// SPDX-License-Identifier: MIT
/*
 * Waiting for a time by the ways that EVL has: the absolute sleep, a timer that is read, another thread. All of its
 * timers expire in hard-interrupt context.
 */
#include <errno.h>
#include <time.h>
#include <unistd.h>

#include "evl_port.h"
#include "rtos.h"

enum port_status port_fail(enum port_status status, const char *what)
{
	return linux_fail(status, what, 0);
}

static enum port_status sleep_until(uint64_t due_ns)
{
	const struct timespec due = evl_timespec(due_ns);
	int result;

	do
		result = evl_sleep_until(EVL_CLOCK_MONOTONIC, &due);
	while (result == -EINTR);
	return evl_status(result, "evl_sleep_until");
}

static enum port_status wait_for_timer(int fd, uint64_t due_ns)
{
	const struct itimerspec due = { .it_value = evl_timespec(due_ns) };
	uint64_t expirations;
	ssize_t got;

	if (due_ns <= port_now_ns())
		return PORT_OK;
	if (evl_status(evl_set_timer(fd, &due, NULL), "evl_set_timer") != PORT_OK)
		return PORT_FAILED;
	do
		got = oob_read(fd, &expirations, sizeof(expirations));
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)sizeof(expirations) ? PORT_OK : linux_fail(PORT_FAILED, "reading a timer", errno);
}

enum port_status port_timer_open(struct port_timer *timer, enum port_path path)
{
	*timer = (struct port_timer){ .path = path, .fd = -1 };
	switch (path) {
	case PORT_PATH_SLEEP:
		return PORT_OK;
	case PORT_PATH_HARD_TIMER:
		timer->fd = evl_new_timer(EVL_CLOCK_MONOTONIC);
		return evl_status(timer->fd, "evl_new_timer");
	case PORT_PATH_SOFT_TIMER:
		return linux_fail(PORT_NOT_OFFERED, "EVL defers no timer", 0);
	case PORT_PATH_NETWORK:
		return linux_fail(PORT_NOT_OFFERED, "EVL's network is experimental", 0);
	case PORT_PATH_FUTEX:
		return rtos_waker_start(sleep_until);
	case PORT_PATHS:
		break;
	}
	return linux_fail(PORT_NOT_OFFERED, "an unknown path", 0);
}

/* Any nanosecond will do. */
uint64_t port_timer_next_ns(const struct port_timer *timer, uint64_t from_ns)
{
	(void)timer;
	return from_ns;
}

enum port_status port_timer_wait(struct port_timer *timer, uint64_t due_ns)
{
	switch (timer->path) {
	case PORT_PATH_HARD_TIMER:
		return wait_for_timer(timer->fd, due_ns);
	case PORT_PATH_FUTEX:
		return rtos_waker_wait(due_ns);
	default:
		return sleep_until(due_ns);
	}
}

void port_timer_close(struct port_timer *timer)
{
	if (timer->path == PORT_PATH_FUTEX)
		rtos_waker_stop();
	if (timer->fd >= 0)
		close(timer->fd);
}

// SPDX-License-Identifier: MIT
/*
 * Waiting for a time by the paths that ChibiOS has: the sleep and the virtual timer, which both expire in the timer's
 * interrupt, and another thread. It has no thread that runs timers, and no network of its own.
 */
#include "chibios.h"

/* To ChibiOS, whose differences have no sign, a time already past lies long ahead. */
static enum port_status sleep_until(uint64_t due_ns)
{
	uint64_t now_ns = port_now_ns();

	if (now_ns < due_ns)
		chThdSleepUntilWindowed(now_ns, due_ns);
	return PORT_OK;
}

/* In the timer's interrupt. */
static void expired(virtual_timer_t *virtual, void *argument)
{
	struct port_timer *timer = argument;

	(void)virtual;
	chSysLockFromISR();
	chSemSignalI(&timer->expired.semaphore);
	chSysUnlockFromISR();
}

enum port_status port_timer_open(struct port_timer *timer, enum port_path path)
{
	timer->path = path;
	switch (path) {
	case PORT_PATH_SLEEP:
		return PORT_OK;
	case PORT_PATH_HARD_TIMER:
		chVTObjectInit(&timer->timer);
		return port_semaphore_open(&timer->expired, 0);
	case PORT_PATH_SOFT_TIMER:
		return port_fail(PORT_NOT_OFFERED, "ChibiOS's timers all expire in the interrupt");
	case PORT_PATH_FUTEX:
		return rtos_waker_start(sleep_until);
	case PORT_PATH_NETWORK:
	case PORT_PATHS:
		break;
	}
	return port_fail(PORT_NOT_OFFERED, "ChibiOS has no network of its own");
}

uint64_t port_timer_next_ns(const struct port_timer *timer, uint64_t from_ns)
{
	(void)timer;
	return from_ns; /* tickless, and a count is a nanosecond */
}

enum port_status port_timer_wait(struct port_timer *timer, uint64_t due_ns)
{
	uint64_t now_ns = port_now_ns();

	if (now_ns >= due_ns)
		return PORT_OK;
	switch (timer->path) {
	case PORT_PATH_HARD_TIMER:
		chVTSet(&timer->timer, due_ns - now_ns, expired, timer);
		return port_semaphore_wait(&timer->expired);
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
}

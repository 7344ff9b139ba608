// SPDX-License-Identifier: MIT
/*
 * Waiting for a time by the paths that ChibiOS has: the sleep and the virtual timer, which both expire in the timer's
 * interrupt, and another thread. It has no thread that runs timers, and no network of its own.
 */
#include "chibios.h"

/* The other thread of PORT_PATH_FUTEX: sleeps until the time, then wakes the thread that asked. */
static struct helper {
	struct port_thread thread;
	struct port_semaphore asked;
	struct port_semaphore woken;
	uint64_t due_ns; /* 0: end */
	bool taken;
} helper;

static void helper_main(void *argument)
{
	(void)argument;
	for (;;) {
		port_semaphore_wait(&helper.asked);
		if (!helper.due_ns)
			return;
		chThdSleepUntilWindowed(port_now_ns(), helper.due_ns);
		port_semaphore_post(&helper.woken);
	}
}

static enum port_status helper_start(void)
{
	if (helper.taken)
		return chibios_fail(PORT_FULL, "one thread at a time can be woken by another");
	helper.taken = true;
	port_semaphore_open(&helper.asked, 0);
	port_semaphore_open(&helper.woken, 0);
	return port_thread_start(&helper.thread, "waker", PORT_HIGHEST, PORT_ANY_CPU, helper_main, NULL);
}

static void helper_ask(uint64_t due_ns)
{
	helper.due_ns = due_ns;
	port_semaphore_post(&helper.asked);
}

static void helper_stop(void)
{
	helper_ask(0);
	port_thread_join(&helper.thread);
	helper.taken = false;
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
		return chibios_fail(PORT_NOT_OFFERED, "ChibiOS's timers all expire in the interrupt");
	case PORT_PATH_FUTEX:
		return helper_start();
	case PORT_PATH_NETWORK:
	case PORT_PATHS:
		break;
	}
	return chibios_fail(PORT_NOT_OFFERED, "ChibiOS has no network of its own");
}

uint64_t port_timer_next_ns(const struct port_timer *timer, uint64_t from_ns)
{
	(void)timer;
	return from_ns; /* tickless, and a count is a nanosecond */
}

enum port_status port_timer_wait(struct port_timer *timer, uint64_t due_ns)
{
	uint64_t now_ns = port_now_ns();

	if (now_ns >= due_ns) /* to ChibiOS, whose differences have no sign, a time long ahead */
		return PORT_OK;
	switch (timer->path) {
	case PORT_PATH_HARD_TIMER:
		chVTSet(&timer->timer, due_ns - now_ns, expired, timer);
		return port_semaphore_wait(&timer->expired);
	case PORT_PATH_FUTEX:
		helper_ask(due_ns);
		return port_semaphore_wait(&helper.woken);
	default:
		chThdSleepUntilWindowed(now_ns, due_ns);
		return PORT_OK;
	}
}

void port_timer_close(struct port_timer *timer)
{
	if (timer->path == PORT_PATH_FUTEX)
		helper_stop();
}

// SPDX-License-Identifier: MIT
/*
 * Waiting for a time by the paths that RTEMS has: the sleep and the timer, which both expire in the tick's interrupt, the
 * timer server's task, another task. Its network is a library of its own, which was not tried.
 */
#include <time.h>

#include "rtems_port.h"

enum { SERVER_PRIORITY = 90, SERVER_STACK_BYTES = 8192 };

/* The other thread of PORT_PATH_FUTEX: sleeps until the time, then wakes the thread that asked. */
static struct helper {
	struct port_thread thread;
	struct port_semaphore asked;
	struct port_semaphore woken;
	uint64_t due_ns; /* 0: end */
	bool taken;
	bool server; /* whether the timer server runs, which never ends */
} helper;

/* Ticks of the clock until a time that is a whole number of them from its start. */
static rtems_interval ticks_until(uint64_t due_ns)
{
	return (rtems_interval)(due_ns / RTEMS_PORT_TICK_NS) - rtems_clock_get_ticks_since_boot();
}

static enum port_status sleep_until(uint64_t due_ns)
{
	return rtems_port_done(rtems_task_wake_after(ticks_until(due_ns)), "rtems_task_wake_after");
}

/* Its failures reach main through rtems_port_fail(). */
static void helper_main(void *argument)
{
	(void)argument;
	for (;;) {
		if (port_semaphore_wait(&helper.asked) != PORT_OK || !helper.due_ns)
			return;
		if (port_now_ns() < helper.due_ns && sleep_until(helper.due_ns) != PORT_OK)
			return;
		port_semaphore_post(&helper.woken);
	}
}

static enum port_status helper_start(void)
{
	if (helper.taken)
		return rtems_port_fail(PORT_FULL, "one thread at a time can be woken by another");
	if (port_semaphore_open(&helper.asked, 0) != PORT_OK || port_semaphore_open(&helper.woken, 0) != PORT_OK)
		return PORT_FAILED;
	helper.taken = true;
	return port_thread_start(&helper.thread, "waker", PORT_HIGHEST, PORT_ANY_CPU, helper_main, NULL);
}

static enum port_status helper_ask(uint64_t due_ns)
{
	helper.due_ns = due_ns;
	return port_semaphore_post(&helper.asked);
}

static void helper_stop(void)
{
	helper_ask(0);
	port_thread_join(&helper.thread);
	port_semaphore_close(&helper.asked);
	port_semaphore_close(&helper.woken);
	helper.taken = false;
}

/* In the tick's interrupt, or in the timer server. */
static void expired(rtems_id id, void *argument)
{
	(void)id;
	port_semaphore_post(&((struct port_timer *)argument)->expired);
}

static enum port_status open_timer(struct port_timer *timer)
{
	if (timer->path == PORT_PATH_SOFT_TIMER && !helper.server) {
		if (rtems_timer_initiate_server(SERVER_PRIORITY, SERVER_STACK_BYTES, RTEMS_DEFAULT_ATTRIBUTES) !=
		    RTEMS_SUCCESSFUL)
			return rtems_port_fail(PORT_FAILED, "rtems_timer_initiate_server");
		helper.server = true;
	}
	if (rtems_timer_create(rtems_build_name('r', 't', 'q', ' '), &timer->id) != RTEMS_SUCCESSFUL)
		return rtems_port_fail(PORT_FAILED, "rtems_timer_create");
	return port_semaphore_open(&timer->expired, 0);
}

enum port_status port_timer_open(struct port_timer *timer, enum port_path path)
{
	timer->path = path;
	switch (path) {
	case PORT_PATH_SLEEP:
		return PORT_OK;
	case PORT_PATH_HARD_TIMER:
	case PORT_PATH_SOFT_TIMER:
		return open_timer(timer);
	case PORT_PATH_FUTEX:
		return helper_start();
	case PORT_PATH_NETWORK:
	case PORT_PATHS:
		break;
	}
	return rtems_port_fail(PORT_NOT_OFFERED, "RTEMS with a network was not tried");
}

/* RTEMS counts ticks from its start. */
uint64_t port_timer_next_ns(const struct port_timer *timer, uint64_t from_ns)
{
	(void)timer;
	return (from_ns + RTEMS_PORT_TICK_NS - 1) / RTEMS_PORT_TICK_NS * RTEMS_PORT_TICK_NS;
}

enum port_status port_timer_wait(struct port_timer *timer, uint64_t due_ns)
{
	rtems_status_code code;

	if (port_now_ns() >= due_ns)
		return PORT_OK;
	switch (timer->path) {
	case PORT_PATH_HARD_TIMER:
		code = rtems_timer_fire_after(timer->id, ticks_until(due_ns), expired, timer);
		break;
	case PORT_PATH_SOFT_TIMER:
		code = rtems_timer_server_fire_after(timer->id, ticks_until(due_ns), expired, timer);
		break;
	case PORT_PATH_FUTEX:
		return helper_ask(due_ns) != PORT_OK ? PORT_FAILED : port_semaphore_wait(&helper.woken);
	default:
		return sleep_until(due_ns);
	}
	return code == RTEMS_SUCCESSFUL ? port_semaphore_wait(&timer->expired) :
					  rtems_port_done(code, "setting a timer");
}

void port_timer_close(struct port_timer *timer)
{
	if (timer->path == PORT_PATH_FUTEX)
		helper_stop();
	if (timer->path == PORT_PATH_HARD_TIMER || timer->path == PORT_PATH_SOFT_TIMER) {
		rtems_timer_delete(timer->id);
		port_semaphore_close(&timer->expired);
	}
}

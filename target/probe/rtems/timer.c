// SPDX-License-Identifier: MIT
/*
 * Waiting for a time by the paths that RTEMS has: the sleep and the timer, which both expire in the tick's interrupt, the
 * timer server's task, another task. Its network is a library of its own, which was not tried.
 */
#include "rtems_port.h"

enum { SERVER_PRIORITY = 90, SERVER_STACK_BYTES = 8192 };

static bool server_runs; /* the timer server, which never ends */

/* Ticks of the clock until a time that is a whole number of them from its start. */
static rtems_interval ticks_until(uint64_t due_ns)
{
	return (rtems_interval)(due_ns / RTEMS_PORT_TICK_NS) - rtems_clock_get_ticks_since_boot();
}

static enum port_status sleep_until(uint64_t due_ns)
{
	if (port_now_ns() >= due_ns)
		return PORT_OK;
	return rtems_port_done(rtems_task_wake_after(ticks_until(due_ns)), "rtems_task_wake_after");
}

/* In the tick's interrupt, or in the timer server. */
static void expired(rtems_id id, void *argument)
{
	(void)id;
	port_semaphore_post(&((struct port_timer *)argument)->expired);
}

static enum port_status open_timer(struct port_timer *timer)
{
	if (timer->path == PORT_PATH_SOFT_TIMER && !server_runs) {
		if (rtems_timer_initiate_server(SERVER_PRIORITY, SERVER_STACK_BYTES, RTEMS_DEFAULT_ATTRIBUTES) !=
		    RTEMS_SUCCESSFUL)
			return port_fail(PORT_FAILED, "rtems_timer_initiate_server");
		server_runs = true;
	}
	if (rtems_timer_create(rtems_build_name('r', 't', 'q', ' '), &timer->id) != RTEMS_SUCCESSFUL)
		return port_fail(PORT_FAILED, "rtems_timer_create");
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
		return rtos_waker_start(sleep_until);
	case PORT_PATH_NETWORK:
	case PORT_PATHS:
		break;
	}
	return port_fail(PORT_NOT_OFFERED, "RTEMS with a network was not tried");
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
		return rtos_waker_wait(due_ns);
	default:
		return sleep_until(due_ns);
	}
	return code == RTEMS_SUCCESSFUL ? port_semaphore_wait(&timer->expired) :
					  rtems_port_done(code, "setting a timer");
}

void port_timer_close(struct port_timer *timer)
{
	if (timer->path == PORT_PATH_FUTEX)
		rtos_waker_stop();
	if (timer->path == PORT_PATH_HARD_TIMER || timer->path == PORT_PATH_SOFT_TIMER) {
		rtems_timer_delete(timer->id);
		port_semaphore_close(&timer->expired);
	}
}

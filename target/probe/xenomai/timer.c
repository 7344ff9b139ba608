// SPDX-License-Identifier: MIT
/*
 * Waiting for a time by the ways that Alchemy has: a task's own period (what the study's tasks wait for, and what a
 * control loop on Alchemy would use), the absolute sleep, an alarm, another task. There is no network in Alchemy.
 */
#define _GNU_SOURCE
#include <errno.h>

#include <alchemy/alarm.h>

#include "xenomai.h"

enum { NS_PER_S = 1000000000, FAR_S = 3600 };

/* A task has one period. It follows from the times asked for: the second time gives it. */
static _Thread_local struct {
	uint64_t asked_ns; /* the last time that was asked for, or 0 */
	uint64_t next_ns; /* when the period that runs now ends, or 0: out of step */
	uint64_t period_ns;
} periodic;

/* What the alarm and the other task wake; one benchmark at a time uses either. */
static struct {
	RT_ALARM alarm;
	struct port_thread helper;
	struct port_semaphore asked; /* the helper */
	struct port_semaphore woken;
	uint64_t due_ns;
	bool stop;
} waker;

static enum port_status set_period(uint64_t due_ns, uint64_t period_ns)
{
	periodic.next_ns = 0;
	periodic.period_ns = period_ns;
	return xenomai_status(rt_task_set_periodic(NULL, due_ns, period_ns), "rt_task_set_periodic");
}

static enum port_status wait_for_period(uint64_t due_ns)
{
	int result = rt_task_wait_period(NULL);

	/* -ETIMEDOUT: later periods have ended, too. */
	periodic.next_ns = result ? 0 : due_ns + periodic.period_ns;
	return result == -ETIMEDOUT ? PORT_OK : xenomai_status(result, "rt_task_wait_period");
}

/* In step with the period, one call. Otherwise the period begins anew, and what is pending of the old period ends a
 * wait early. */
static enum port_status wait_in_step(uint64_t due_ns)
{
	const uint64_t asked_ns = periodic.asked_ns;
	enum port_status status;

	periodic.asked_ns = due_ns;
	if (due_ns == periodic.next_ns)
		return wait_for_period(due_ns);
	if (due_ns <= port_now_ns())
		return PORT_OK;
	status = set_period(due_ns, asked_ns && asked_ns < due_ns ? due_ns - asked_ns : NS_PER_S);
	while (status == PORT_OK) {
		status = wait_for_period(due_ns);
		if (port_now_ns() >= due_ns)
			break;
	}
	return status;
}

static enum port_status sleep_until(uint64_t due_ns)
{
	int result = rt_task_sleep_until(due_ns);

	return result == -ETIMEDOUT ? PORT_OK : xenomai_status(result, "rt_task_sleep_until");
}

static void wake(void *nothing)
{
	(void)nothing;
	port_semaphore_post(&waker.woken); /* a failure reaches main through linux_fail() */
}

static enum port_status open_alarm(void)
{
	enum port_status status = port_semaphore_open(&waker.woken, 0);

	if (status != PORT_OK)
		return status;
	status = xenomai_status(rt_alarm_create(&waker.alarm, NULL, wake, NULL), "rt_alarm_create");
	if (status != PORT_OK)
		port_semaphore_close(&waker.woken);
	return status;
}

/* An alarm's time is relative: it begins when the call does. */
static enum port_status wait_for_alarm(uint64_t due_ns)
{
	uint64_t now_ns = port_now_ns();
	enum port_status status;

	if (due_ns <= now_ns)
		return PORT_OK;
	status = xenomai_status(rt_alarm_start(&waker.alarm, due_ns - now_ns, TM_INFINITE), "rt_alarm_start");
	return status == PORT_OK ? port_semaphore_wait(&waker.woken) : status;
}

static void help(void *nothing)
{
	(void)nothing;
	while (port_semaphore_wait(&waker.asked) == PORT_OK && !waker.stop && sleep_until(waker.due_ns) == PORT_OK)
		port_semaphore_post(&waker.woken);
}

static enum port_status open_helper(void)
{
	enum port_status status = port_semaphore_open(&waker.woken, 0);

	if (status != PORT_OK)
		return status;
	waker.stop = false;
	status = port_semaphore_open(&waker.asked, 0);
	if (status == PORT_OK) {
		/* It runs on the caller's CPUs, which it inherits. */
		status = xenomai_thread_start(&waker.helper, "waker", linux_priority(PORT_HIGH) + HELPER_ABOVE_HIGH,
					      PORT_ANY_CPU, help, NULL);
		if (status != PORT_OK)
			port_semaphore_close(&waker.asked);
	}
	if (status != PORT_OK)
		port_semaphore_close(&waker.woken);
	return status;
}

static void close_helper(void)
{
	waker.stop = true;
	port_semaphore_post(&waker.asked);
	port_thread_join(&waker.helper);
	port_semaphore_close(&waker.asked);
	port_semaphore_close(&waker.woken);
}

static enum port_status wait_for_helper(uint64_t due_ns)
{
	enum port_status status;

	waker.due_ns = due_ns;
	status = port_semaphore_post(&waker.asked);
	return status == PORT_OK ? port_semaphore_wait(&waker.woken) : status;
}

enum port_status port_timer_open(struct port_timer *timer, enum port_path path)
{
	timer->path = path;
	switch (path) {
	case PORT_PATH_SLEEP: /* the timer behind it is made now, not when it is measured */
		return set_period(port_now_ns() + (uint64_t)FAR_S * NS_PER_S, (uint64_t)FAR_S * NS_PER_S);
	case PORT_PATH_HARD_TIMER:
		return PORT_OK;
	case PORT_PATH_SOFT_TIMER:
		return open_alarm();
	case PORT_PATH_NETWORK:
		return linux_fail(PORT_NOT_OFFERED, "Alchemy has no network", 0);
	case PORT_PATH_FUTEX:
		return open_helper();
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
		return sleep_until(due_ns);
	case PORT_PATH_SOFT_TIMER:
		return wait_for_alarm(due_ns);
	case PORT_PATH_FUTEX:
		return wait_for_helper(due_ns);
	default:
		return wait_in_step(due_ns);
	}
}

void port_timer_close(struct port_timer *timer)
{
	switch (timer->path) {
	case PORT_PATH_SLEEP:
		rt_task_set_periodic(NULL, TM_NOW, TM_INFINITE);
		periodic.next_ns = 0;
		periodic.asked_ns = 0;
		break;
	case PORT_PATH_SOFT_TIMER:
		rt_alarm_delete(&waker.alarm);
		port_semaphore_close(&waker.woken);
		break;
	case PORT_PATH_FUTEX:
		close_helper();
		break;
	default:
		break;
	}
}

// SPDX-License-Identifier: MIT
/*
 * Waiting for a time by the paths that NuttX has: the absolute sleep and the watchdog timer, which both expire in the
 * timer's interrupt, the POSIX timer, whose SIGEV_THREAD runs in the work queue's thread, another thread. There is no
 * wait by its network: no build with one was tried.
 */
#include <errno.h>
#include <nuttx/clock.h>
#include <nuttx/config.h>
#include <signal.h>
#include <time.h>

#include "nuttx.h"

enum { NS_OF_TICK = CONFIG_USEC_PER_TICK * 1000 };

static enum port_status sleep_until(uint64_t due_ns)
{
	struct timespec due = nuttx_timespec(due_ns);
	int error;

	do
		error = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
	while (error == EINTR);
	return error ? linux_fail(PORT_FAILED, "clock_nanosleep", error) : PORT_OK;
}

/* In the timer's interrupt. */
static void watchdog_expired(wdparm_t timer)
{
	sem_post(&((struct port_timer *)timer)->expired.semaphore);
}

static enum port_status wait_hard(struct port_timer *timer, uint64_t due_ns)
{
	int error = wd_start_abstick(&timer->watchdog, (clock_t)((due_ns + NS_OF_TICK - 1) / NS_OF_TICK),
				     watchdog_expired, (wdparm_t)timer);

	return error ? linux_fail(PORT_FAILED, "wd_start_abstick", -error) : port_semaphore_wait(&timer->expired);
}

/* In the work queue's thread. */
static void soft_expired(union sigval timer)
{
	port_semaphore_post(&((struct port_timer *)timer.sival_ptr)->expired);
}

static enum port_status open_soft(struct port_timer *timer)
{
#ifdef CONFIG_SIG_EVTHREAD
	struct sigevent event = { .sigev_notify = SIGEV_THREAD, .sigev_value.sival_ptr = timer };

	event.sigev_notify_function = soft_expired;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer->soft))
		return linux_fail(PORT_FAILED, "timer_create", errno);
	return port_semaphore_open(&timer->expired, 0);
#else
	(void)timer;
	(void)soft_expired;
	return linux_fail(PORT_NOT_OFFERED, "this build has no SIGEV_THREAD (CONFIG_SIG_EVTHREAD)", 0);
#endif
}

static enum port_status wait_soft(struct port_timer *timer, uint64_t due_ns)
{
	struct itimerspec due = { .it_value = nuttx_timespec(due_ns) };

	if (timer_settime(timer->soft, TIMER_ABSTIME, &due, NULL))
		return linux_fail(PORT_FAILED, "timer_settime", errno);
	return port_semaphore_wait(&timer->expired);
}

enum port_status port_timer_open(struct port_timer *timer, enum port_path path)
{
	*timer = (struct port_timer){ .path = path };
	switch (path) {
	case PORT_PATH_SLEEP:
		return PORT_OK;
	case PORT_PATH_HARD_TIMER:
		return port_semaphore_open(&timer->expired, 0);
	case PORT_PATH_SOFT_TIMER:
		return open_soft(timer);
	case PORT_PATH_NETWORK:
		return linux_fail(PORT_NOT_OFFERED, "NuttX with a network was not tried", 0);
	case PORT_PATH_FUTEX:
		return rtos_waker_start(sleep_until);
	case PORT_PATHS:
		break;
	}
	return linux_fail(PORT_NOT_OFFERED, "an unknown path", 0);
}

/* NuttX counts ticks of the clock from its start: every time is rounded up to one, also where it is tickless. */
uint64_t port_timer_next_ns(const struct port_timer *timer, uint64_t from_ns)
{
	(void)timer;
	return (from_ns + NS_OF_TICK - 1) / NS_OF_TICK * NS_OF_TICK;
}

enum port_status port_timer_wait(struct port_timer *timer, uint64_t due_ns)
{
	if (port_now_ns() >= due_ns)
		return PORT_OK;
	switch (timer->path) {
	case PORT_PATH_HARD_TIMER:
		return wait_hard(timer, due_ns);
	case PORT_PATH_SOFT_TIMER:
		return wait_soft(timer, due_ns);
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
	if (timer->path == PORT_PATH_SOFT_TIMER)
		timer_delete(timer->soft);
	if (timer->path == PORT_PATH_HARD_TIMER || timer->path == PORT_PATH_SOFT_TIMER)
		port_semaphore_close(&timer->expired);
}

// SPDX-License-Identifier: MIT
/*
 * Waiting for a time by the paths that SylixOS has: the sleep in ticks and the high-speed timer, which both expire in the
 * tick's interrupt; the application timer, which its thread t_itimer runs; another thread.
 */
#include "sylixos_port.h"

#include <time.h>

#include "board.h"

enum { NS_PER_S = 1000000000 };

/* Ticks of the clock until a time that is a whole number of them from the counter's start. */
static ULONG ticks_until(uint64_t due_ns)
{
	uint64_t next_ns = board_next_tick_ns();

	return due_ns <= next_ns ? 1 : 1 + (ULONG)((due_ns - next_ns + board_tick_ns() - 1) / board_tick_ns());
}

#ifdef SYLIXOS_SLEEP_POSIX
/* What a POSIX program calls, as cyclictest does: below a tick it looks at the clock until the time has come. */
static enum port_status sleep_until(uint64_t due_ns)
{
	const uint64_t before_ns = port_now_ns();
	struct timespec due;

	clock_gettime(CLOCK_MONOTONIC, &due);
	if (before_ns >= due_ns)
		return PORT_OK;
	due.tv_nsec += (long)((due_ns - before_ns) % NS_PER_S);
	due.tv_sec += (time_t)((due_ns - before_ns) / NS_PER_S) + due.tv_nsec / NS_PER_S;
	due.tv_nsec %= NS_PER_S;
	return clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) ? port_fail(PORT_FAILED, "clock_nanosleep") :
									     PORT_OK;
}
#else
static enum port_status sleep_until(uint64_t due_ns)
{
	while (port_now_ns() < due_ns)
		API_TimeSleep(ticks_until(due_ns));
	return PORT_OK;
}
#endif

/* In the tick's interrupt, or in t_itimer. */
static VOID expired(PVOID argument)
{
	port_semaphore_post(&((struct port_timer *)argument)->expired);
}

enum port_status port_timer_open(struct port_timer *timer, enum port_path path)
{
	timer->path = path;
	switch (path) {
	case PORT_PATH_SLEEP:
		return PORT_OK;
	case PORT_PATH_HARD_TIMER:
	case PORT_PATH_SOFT_TIMER:
		timer->id = API_TimerCreate(
			"rtqual", path == PORT_PATH_HARD_TIMER ? LW_OPTION_HTIMER : LW_OPTION_ITIMER, LW_NULL);
		if (sylixos_made(timer->id, "API_TimerCreate") != PORT_OK)
			return PORT_FAILED;
		return port_semaphore_open(&timer->expired, 0);
	case PORT_PATH_FUTEX:
		return rtos_waker_start(sleep_until);
	case PORT_PATH_NETWORK:
	case PORT_PATHS:
		break;
	}
	return port_fail(PORT_NOT_OFFERED, "SylixOS's network was not started");
}

uint64_t port_timer_next_ns(const struct port_timer *timer, uint64_t from_ns)
{
#ifdef SYLIXOS_SLEEP_POSIX
	if (timer->path == PORT_PATH_SLEEP || timer->path == PORT_PATH_FUTEX)
		return from_ns;
#endif
	(void)timer;
	return (from_ns + board_tick_ns() - 1) / board_tick_ns() * board_tick_ns();
}

enum port_status port_timer_wait(struct port_timer *timer, uint64_t due_ns)
{
	if (port_now_ns() >= due_ns)
		return PORT_OK;
	switch (timer->path) {
	case PORT_PATH_HARD_TIMER:
	case PORT_PATH_SOFT_TIMER:
		if (API_TimerStart(timer->id, ticks_until(due_ns), LW_OPTION_MANUAL_RESTART,
				   (PTIMER_CALLBACK_ROUTINE)expired, timer) != ERROR_NONE)
			return port_fail(PORT_FAILED, "API_TimerStart");
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
	if (timer->path == PORT_PATH_HARD_TIMER || timer->path == PORT_PATH_SOFT_TIMER) {
		API_TimerDelete(&timer->id);
		port_semaphore_close(&timer->expired);
	}
}

// SPDX-License-Identifier: MIT
/*
 * How late a thread of high priority is woken by each kind of timer while one of middle priority works. On PREEMPT_RT the
 * timers of timerfd and timer_create expire in threads of the kernel, ktimers/N, at SCHED_FIFO 1: the middle thread goes
 * first, and the high one waits for it. A sleep expires in the interrupt.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <time.h>

#include "battery/team.h"
#include "battery/work.h"
#include "linux.h"

enum { NS_PER_S = 1000000000, MS = 1000000, WORK_WORDS = 256 };

struct beside {
	struct run *run;
	struct series *late; /* ns */
	enum port_status (*wait)(struct beside *beside, uint64_t due_ns);
	struct port_timer timer;
	timer_t signals;
	struct port_semaphore ready;
	struct work work;
	uint32_t rounds;
	uint64_t from_ns; /* when the first timer is due */
};

/* The middle thread works for half of each interval; the timer is due in the middle of that. */
static uint64_t share_ns(const struct beside *beside, uint32_t per_mille)
{
	return port_divide(beside->run->options->interval_ns * per_mille, 1000);
}

static enum port_status play_high(void *state)
{
	struct beside *beside = state;
	struct work *const works[] = { &beside->work };
	const struct options *options = beside->run->options;

	work_calibrate(works, 1);
	beside->rounds = work_rounds(&beside->work, share_ns(beside, 500));
	beside->from_ns = port_now_ns() + 2 * options->interval_ns + options->seed;
	TRY(port_semaphore_post(&beside->ready));
	for (uint32_t i = 0; i < options->iterations; i++) {
		const uint64_t due_ns = beside->from_ns + i * options->interval_ns;

		TRY(beside->wait(beside, due_ns));
		series_add(beside->late, port_now_ns() - due_ns);
	}
	return PORT_OK;
}

static enum port_status play_middle(void *state)
{
	struct beside *beside = state;
	const struct options *options = beside->run->options;
	struct port_timer timer;

	TRY(port_timer_open(&timer, PORT_PATH_SLEEP));
	TRY(port_semaphore_wait(&beside->ready));
	for (uint32_t i = 0; i < options->iterations; i++) {
		TRY(port_timer_wait(&timer, beside->from_ns + i * options->interval_ns - share_ns(beside, 250)));
		work_do(&beside->work, beside->rounds);
	}
	port_timer_close(&timer);
	return PORT_OK;
}

static enum port_status measure(struct beside *beside)
{
	const struct role roles[] = {
		{ "high", PORT_HIGH, beside->run->options->cpu, play_high, beside },
		{ "middle", PORT_LOW, beside->run->options->cpu, play_middle, beside },
	};
	enum port_status status;

	beside->late = run_series(beside->run, "late", "ns", beside->run->options->iterations);
	if (!beside->late)
		return PORT_FULL;
	TRY(work_open(beside->run, &beside->work, WORK_WORDS));
	TRY(port_semaphore_open(&beside->ready, 0));
	run_fact(beside->run, "middle's work", "ns", share_ns(beside, 500));
	status = team_run(beside->run, roles, 2);
	port_semaphore_close(&beside->ready);
	return status;
}

/* --- the timers ----------------------------------------------------------------------------------- */

static enum port_status wait_timer(struct beside *beside, uint64_t due_ns)
{
	return port_timer_wait(&beside->timer, due_ns);
}

/* Threads may still look at it where one of them has failed, so it is no local. */
static struct beside *made(struct run *run, enum port_status (*wait)(struct beside *beside, uint64_t due_ns))
{
	struct beside *beside = run_memory(run, sizeof(*beside));

	if (beside)
		*beside = (struct beside){ .run = run, .wait = wait };
	return beside;
}

static enum port_status measure_sleep(struct run *run)
{
	struct beside *beside = made(run, wait_timer);

	if (!beside)
		return PORT_FULL;
	TRY(port_timer_open(&beside->timer, PORT_PATH_SLEEP));
	return measure(beside);
}

static enum port_status measure_timerfd(struct run *run)
{
	struct beside *beside = made(run, wait_timer);
	enum port_status status;

	if (!beside)
		return PORT_FULL;
	TRY(linux_open_timerfd(&beside->timer));
	status = measure(beside);
	port_timer_close(&beside->timer);
	return status;
}

static enum port_status wait_signal(struct beside *beside, uint64_t due_ns)
{
	const struct itimerspec due = { .it_value = { (time_t)(due_ns / NS_PER_S), (long)(due_ns % NS_PER_S) } };
	sigset_t expired;

	sigemptyset(&expired);
	sigaddset(&expired, SIGALRM);
	if (timer_settime(beside->signals, TIMER_ABSTIME, &due, NULL))
		return linux_fail(PORT_FAILED, "timer_settime", errno);
	while (sigwaitinfo(&expired, NULL) < 0)
		if (errno != EINTR)
			return linux_fail(PORT_FAILED, "waiting for a timer's signal", errno);
	return PORT_OK;
}

static enum port_status measure_signal(struct run *run)
{
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct beside *beside = made(run, wait_signal);
	enum port_status status;
	sigset_t expired;

	if (!beside)
		return PORT_FULL;
	sigemptyset(&expired);
	sigaddset(&expired, SIGALRM);
	if (sigprocmask(SIG_BLOCK, &expired, NULL)) /* of all threads, which inherit that */
		return linux_fail(PORT_FAILED, "blocking a signal", errno);
	if (timer_create(CLOCK_MONOTONIC, &event, &beside->signals))
		return linux_fail(PORT_FAILED, "timer_create", errno);
	status = measure(beside);
	timer_delete(beside->signals);
	return status;
}

static const struct benchmark benchmarks[] = {
	{ "sleep beside a middle thread", measure_sleep },
	{ "timerfd beside a middle thread", measure_timerfd },
	{ "timer_create beside a middle thread", measure_signal },
	{ 0 },
};

const struct family linux_families[] = {
	{ "beside", benchmarks, 1000, 1 * MS, 0 },
	{ 0 },
};

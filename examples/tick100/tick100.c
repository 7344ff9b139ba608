// SPDX-License-Identifier: MIT
/*
 * tick100 - as frameworks of flight software run: a thread of high priority is released a hundred times a second by a
 * POSIX timer's signal, and one of middle priority works for 12 ms of every 70 ms, as one that loads or computes now and
 * then. It prints one CSV line a tick at the end: tick, lateness of its start in ns.
 *
 *   tick100 [TICKS [PRIORITY]]     the middle thread has PRIORITY - 20
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { NS_PER_S = 1000000000, PERIOD_NS = 10000000, WORK_NS = 12000000, WORKS_EVERY_NS = 70000000, BELOW = 20 };

static struct {
	int ticks, priority;
	int64_t *late;
	volatile int over;
} g = { 300, 80, NULL, 0 };

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static struct timespec at_ns(int64_t ns)
{
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

static void *tick(void *unused)
{
	int64_t due = now_ns() + 2 * PERIOD_NS;
	struct itimerspec every = { at_ns(PERIOD_NS), at_ns(due) };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	sigset_t alarm;
	timer_t timer;

	(void)unused;
	pthread_setname_np(pthread_self(), "tick-100hz");
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, TIMER_ABSTIME, &every, NULL))
		exit(1);
	for (int i = 0; i < g.ticks; i++) {
		sigwaitinfo(&alarm, NULL);
		due += i ? (1 + timer_getoverrun(timer)) * (int64_t)PERIOD_NS : 0;
		g.late[i] = now_ns() - due;
	}
	g.over = 1;
	return NULL;
}

static void *middle(void *unused)
{
	int64_t next = now_ns() + 2 * PERIOD_NS;

	(void)unused;
	pthread_setname_np(pthread_self(), "middle");
	while (!g.over) {
		struct timespec at = at_ns(next += WORKS_EVERY_NS);
		volatile uint64_t sum = 0;
		int64_t until;

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		until = now_ns() + WORK_NS;
		while (now_ns() < until)
			for (int i = 0; i < 1000; i++)
				sum += (uint64_t)i;
	}
	return NULL;
}

static pthread_t start(void *(*run)(void *), int priority)
{
	struct sched_param param = { .sched_priority = priority };
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	pthread_attr_setschedparam(&attr, &param);
	if (pthread_create(&thread, &attr, run, NULL)) {
		fputs("tick100: cannot start a real-time thread: be root\n", stderr);
		exit(1);
	}
	return thread;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	sigset_t alarm;

	g.ticks = argc > 1 ? atoi(argv[1]) : g.ticks;
	g.priority = argc > 2 ? atoi(argv[2]) : g.priority;
	if (g.ticks < 1 || g.priority <= BELOW || !(g.late = calloc((size_t)g.ticks, sizeof(*g.late))))
		return 1;
	mlockall(MCL_CURRENT | MCL_FUTURE);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarm, NULL); /* of all threads, which inherit that */
	threads[0] = start(tick, g.priority);
	threads[1] = start(middle, g.priority - BELOW);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("tick,late_ns\n");
	for (int i = 0; i < g.ticks; i++)
		printf("%d,%lld\n", i, (long long)g.late[i]);
	return 0;
}

// SPDX-License-Identifier: MIT
/* spin N [faults]: on each of N CPUs at once, for how many ns a loop of equal length runs; the least of three, a line
 * each. With faults the first of 400 instructions in a row divides by zero at first. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

enum { TIMES = 3, LOOPS = 300000, FAULTS = 1000, START_US = 1000 };

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void divide_by_one(int signal, siginfo_t *info, void *context)
{
	(void)signal;
	(void)info;
	((ucontext_t *)context)->uc_mcontext.gregs[REG_RCX] = 1;
}

static void fault(void)
{
	for (int k = 0; k < FAULTS; k++)
		__asm__ volatile("xorl %%edx, %%edx\n\txorl %%ecx, %%ecx\n\tdivl %%ecx\n\t.rept 400\n\tnop\n\t.endr"
				 :
				 :
				 : "eax", "ecx", "edx", "cc");
}

static int64_t spin(int cpu, bool faults)
{
	struct sigaction action = { .sa_sigaction = divide_by_one, .sa_flags = SA_SIGINFO };

	int64_t least = INT64_MAX;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sigaction(SIGFPE, &action, NULL) || sched_setaffinity(0, sizeof(set), &set))
		exit(1);
	usleep(START_US);
	for (int i = 0; i < TIMES; i++) {
		int64_t begun = now_ns(), took;

		if (faults)
			fault();
		else
			for (volatile long k = 0; k < LOOPS; k++)
				;
		took = now_ns() - begun;
		least = took < least ? took : least;
	}
	return least;
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 0;

	for (int cpu = 0; cpu < n; cpu++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (!child) {
			printf("%lld\n", (long long)spin(cpu, argc > 2));
			fflush(stdout);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return n < 1;
}

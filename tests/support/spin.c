// SPDX-License-Identifier: MIT
/* spin N: on each of N CPUs at once, for how many ns a loop of equal length runs; the least of three, a line each. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TIMES = 3, LOOPS = 300000, START_US = 1000 };

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int64_t spin(int cpu)
{
	int64_t least = INT64_MAX;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		exit(1);
	usleep(START_US);
	for (int i = 0; i < TIMES; i++) {
		int64_t begun = now_ns(), took;

		for (volatile long k = 0; k < LOOPS; k++)
			;
		took = now_ns() - begun;
		least = took < least ? took : least;
	}
	return least;
}

int main(int argc, char **argv)
{
	int n = argc == 2 ? atoi(argv[1]) : 0;

	for (int cpu = 0; cpu < n; cpu++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (!child) {
			printf("%lld\n", (long long)spin(cpu));
			fflush(stdout);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return n < 1;
}

// SPDX-License-Identifier: MIT
/* CLOCK_MONOTONIC, and the counter's frequency by it. */
#include <time.h>

#include "linux.h"

enum { NS_PER_S = 1000000000, MEASURE_NS = 50000000, TRIES = 8 };

uint64_t port_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists and the address is good */
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The clock and the counter at the same moment: of several readings the one that took least time. */
static void both(uint64_t *now_ns, uint64_t *cycles)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = port_cycles();
		uint64_t between_ns = port_now_ns();
		uint64_t after = port_cycles();

		if (after - before >= least)
			continue;
		least = after - before;
		*now_ns = between_ns;
		*cycles = before + least / 2;
	}
}

uint64_t linux_measure_cycles_per_s(void)
{
	uint64_t from_ns = 0, to_ns = 0, from = 0, to = 0;
	struct timespec pause = { .tv_nsec = MEASURE_NS };

	both(&from_ns, &from);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL); /* cut short by a signal, it measures less exactly */
	both(&to_ns, &to);
	return (uint64_t)((double)(to - from) * NS_PER_S / (double)(to_ns - from_ns) + 0.5);
}

/* Linux reports 1 ns whatever its counter's step; on ARM that is the counter that we read. */
uint64_t port_clock_step_ns(void)
{
	struct timespec step = { 0 };
	uint64_t counter_ns = (NS_PER_S + port_cycles_per_s() - 1) / port_cycles_per_s();
	uint64_t stated_ns;

	clock_getres(CLOCK_MONOTONIC, &step);
	stated_ns = (uint64_t)step.tv_sec * NS_PER_S + (uint64_t)step.tv_nsec;
	return stated_ns > counter_ns ? stated_ns : counter_ns;
}

// SPDX-License-Identifier: MIT
/* The control loop, 1 kHz: here a controller goes that flies. It measures how late it wakes. */
#define _GNU_SOURCE
#include <time.h>

#include "world.h"

void *control_thread(void *argument)
{
	struct world *world = argument;
	uint64_t due_ns = now_ns(), said_ns = 0;

	become_realtime(world, PRIORITY_CONTROL);
	for (;;) {
		struct timespec due;
		uint64_t late_ns, woken_ns;
		uint32_t late_us;

		due_ns += CONTROL_PERIOD_NS;
		due = (struct timespec){ (time_t)(due_ns / 1000000000), (long)(due_ns % 1000000000) };
		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL))
			;
		woken_ns = now_ns();
		late_ns = woken_ns - due_ns;
		late_us = (uint32_t)(late_ns / 1000);
		atomic_fetch_add(&world->beat[THREAD_CONTROL], 1);
		atomic_fetch_add(&world->control_cycles, 1);
		atomic_store(&world->control_late_us, late_us);
		if (late_us > atomic_load(&world->control_late_most_us))
			atomic_store(&world->control_late_most_us, late_us);
		if (late_us > atomic_load(&world->control_late_checked_us))
			atomic_store(&world->control_late_checked_us, late_us);
		if (late_ns <= CONTROL_PERIOD_NS)
			continue;
		/* Periods that have passed are misses; they are not made up for. */
		atomic_fetch_add(&world->control_misses, (uint32_t)(late_ns / CONTROL_PERIOD_NS));
		due_ns += late_ns / CONTROL_PERIOD_NS * CONTROL_PERIOD_NS;
		if (woken_ns - said_ns > 1000000000) {
			said_ns = woken_ns;
			tell(world, TOLD_CONTROL, WORD_MISS, late_us, atomic_load(&world->control_misses));
		}
	}
	return NULL;
}

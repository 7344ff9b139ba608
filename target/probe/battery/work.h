/* SPDX-License-Identifier: MIT */
/* Work that takes a given time: what the benchmarks' tasks do to compute. */
#ifndef RTQUAL_WORK_H
#define RTQUAL_WORK_H

#include "battery.h"

/* A working set, and how fast it is worked on undisturbed. */
struct work {
	uint32_t *memory;
	uint32_t mask; /* words less one, a power of two less one */
	uint32_t state;
	uint32_t calibrated_rounds; /* rounds that took calibrated_ns */
	uint32_t calibrated_ns;
};

/* `words` is a power of two. */
enum port_status work_open(struct run *run, struct work *work, uint32_t words);
/*
 * Measure the speed of working on `count` sets by turns, as by tasks that evict each other's sets from the cache. It
 * takes a few milliseconds for each set, in a thread of high priority, before any of them is used.
 */
void work_calibrate(struct work *const *works, unsigned int count);
/* The number of rounds that take this time when nothing disturbs. */
uint32_t work_rounds(const struct work *work, uint64_t time_ns);
void work_do(struct work *work, uint32_t rounds);

#endif

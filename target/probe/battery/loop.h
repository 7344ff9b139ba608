/* SPDX-License-Identifier: MIT */
/*
 * A flight computer's control loop, once an interval: sensor, estimator, control and actuator tasks, each a thread of
 * its own with a budget of work, each waking the next. The sensor's thread is woken at its due time, by a path of the
 * kernel.
 */
#ifndef RTQUAL_LOOP_H
#define RTQUAL_LOOP_H

#include "battery/team.h"

enum { STAGES = 4, LOOP_OTHERS_MOST = 8 };

/*
 * Run it with `others`, more roles that run meanwhile; `*ended`, unless NULL, is set when the loop is over, whether
 * well or not. `words` (a power of two) of memory are what each stage works on.
 */
enum port_status loop_measure(struct run *run, enum port_path path, uint32_t words, const struct role *others,
			      unsigned int other_count, uint32_t *ended);

/* A benchmark for each path. Series and facts: docs/probe.md. */
extern const struct benchmark loop_benchmarks[];
/*
 * A benchmark for each share of their time in which other CPUs stream memory. What they and the loop work on, in words,
 * for the family's entry in the battery.
 */
enum { MEMORY_STAGE_WORDS = 256 * 1024, MEMORY_STREAM_WORDS = 8 * 1024 * 1024 };
extern const struct benchmark memory_benchmarks[];

#endif

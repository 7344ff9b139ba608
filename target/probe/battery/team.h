/* SPDX-License-Identifier: MIT */
/* The threads of one benchmark: they start together or not at all. */
#ifndef RTQUAL_TEAM_H
#define RTQUAL_TEAM_H

#include "battery.h"

/* What one thread of a benchmark is to do; `state` is the benchmark's. */
struct role {
	const char *name;
	enum port_priority priority;
	int cpu;
	enum port_status (*play)(void *state);
	void *state;
};

/*
 * Run a thread a role and wait until all have ended. The first status that is not PORT_OK, of a start or of a play.
 * List roles by falling priority: if the system denies a role its priority or CPU, none of them plays.
 */
enum port_status team_run(struct run *run, const struct role *roles, unsigned int count);

/* Can a thread run on this CPU? Tried with a thread that ends at once. */
bool team_has_cpu(struct run *run, int cpu);

#endif

/* SPDX-License-Identifier: MIT */
/* What watch.c is asked for (src/rtqual/parts/explain/spec.py writes it). */
#ifndef WATCH_SPEC_H
#define WATCH_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_WATCHED = 4096, MOST_WINDOWS = 4096 };

struct watched {
	uint64_t address;
	char kind;
};

struct window {
	uint64_t first, last;
};

struct spec {
	struct watched watched[MOST_WATCHED]; /* ascending */
	size_t n_watched;
	struct window windows[MOST_WINDOWS]; /* ascending, apart */
	size_t n_windows;
	uint64_t ns; /* of an instruction */
	uint64_t section_ns; /* shorter sections are not noted */
	uint64_t arm_bits; /* 32, 64; or 0: x86-64 */
	uint64_t word_bytes; /* of a pointer */
	uint64_t kernel; /* its lowest address */
	uint64_t per_cpu; /* where a CPU's own variables begin stands there; or 0: at 0 */
	uint64_t current, count; /* among those: the thread that runs, preempt_count */
	uint64_t count_in_task; /* is that in the thread, which an entry of kind x tells, instead? */
	uint64_t init_task; /* a thread of Linux whose name and priority are known; or 0. Where these lie, or 0: */
	uint64_t comm_at, prio_at;
	uint64_t at_leave; /* do threads switch when an interrupt or a call ends? else at an entry of kind S */
};

/* Lines: entry KIND ADDRESS | value NAME NUMBER (these two hexadecimal) | window FIRST LAST. False, and
 * said, where it cannot be read. */
bool spec_read(struct spec *spec, const char *path);

/* The kind of the entry at an address, or 0. */
char spec_entry(const struct spec *spec, uint64_t address);

#endif

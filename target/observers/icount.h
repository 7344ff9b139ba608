/* SPDX-License-Identifier: MIT */
/*
 * QEMU's instruction clock, moved on by hand.
 *
 * While a CPU runs, the clock stands at what it was, and of the instructions `budget` that may run until the next timer
 * `low` and `extra` are left. Taking some from these lets the clock go on at that very place, and the next timer come
 * that much earlier; no lock and no time of the host's takes part. QEMU tells nobody where a CPU keeps the three, but
 * it exports icount_update(), whose code reads them.
 */
#ifndef ICOUNT_H
#define ICOUNT_H

#include <stdbool.h>
#include <stdint.h>

struct CPUState;
void icount_update(struct CPUState *cpu);

/* Where a CPU keeps them. */
struct icount {
	int32_t budget, low, extra;
};

/* Returns false where icount_update() is not the code that is known: nothing may be charged then. */
bool icount_find(struct icount *at);

/* Returns how many instructions are left until the next timer. */
int64_t icount_left(const struct icount *at, const struct CPUState *cpu);

/* The clock goes on by so many instructions, back where there are fewer than none: by no more than were counted since
 * the CPU's last timer. What reaches beyond the next timer makes it late. */
void icount_charge(const struct icount *at, struct CPUState *cpu, int64_t insns);

#endif

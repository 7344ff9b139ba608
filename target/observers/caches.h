/* SPDX-License-Identifier: MIT */
/*
 * A model of a board's caches and memory: what an access stalls the CPU that makes it.
 *
 * Each CPU has an L1 for code and one for data; all share an L2 and the way to DRAM. Lines are 64 bytes, known by their
 * number in physical memory. All is integers, so every host and compiler gives the same. docs/memory.md says what is
 * modelled and what is not; tests/target/test_caches.py has the same model in Python, written apart.
 */
#ifndef CACHES_H
#define CACHES_H

#include <stdbool.h>
#include <stdint.h>

enum {
	CACHES_MOST_CPUS = 8,
	TICKS_A_NS = 960, /* a tick divides a ns evenly among up to 6 CPUs */
	LINE_SHIFT = 6,
	MOST_LINES = 0x7fffffff, /* the number of a line is below */
};

struct geometry {
	uint32_t sets, ways; /* sets: a power of two */
};

struct shape {
	struct geometry l1i, l1d, l2;
	uint32_t l2_ticks, dram_ticks; /* from asking to having; DRAM's without waiting for its turn */
	uint32_t line_ticks; /* for which a line keeps DRAM busy */
	uint32_t load_share, store_share,
		next_line_share; /* 1/256: of its stall that a load, a store, and the fetch of the
							      line behind the last one pay */
};

/* Of a CPU. */
struct counts {
	uint64_t l1i_misses, l1i_dram, l1d_misses, l1d_dram, prefetched;
	uint64_t stalled_ticks, waited_ticks; /* all; of it, for DRAM's turn */
};

struct caches;

/* Returns NULL where there is no memory for it. */
struct caches *caches_new(const struct shape *shape, unsigned int n_cpus);

/* Returns for how many ticks of its own time a CPU stalls at a line: code; data. */
int64_t caches_fetch(struct caches *caches, unsigned int cpu, uint32_t line);
int64_t caches_access(struct caches *caches, unsigned int cpu, uint32_t line, bool write);

/* A CPU's own time goes on, stalls apart; it halts, and DRAM is done before it goes on; a round of all CPUs is over. */
void caches_ran(struct caches *caches, unsigned int cpu, int64_t ticks);
void caches_halted(struct caches *caches, unsigned int cpu);
void caches_round(struct caches *caches, int64_t round_ticks);

const struct counts *caches_counts(const struct caches *caches, unsigned int cpu);
uint64_t caches_dram_lines(const struct caches *caches); /* all that went to and from DRAM */

#endif

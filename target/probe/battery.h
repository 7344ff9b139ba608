/* SPDX-License-Identifier: MIT */
/*
 * What every benchmark gets and returns. A benchmark is a function: it opens what it needs, starts its threads, lets
 * them fill series of samples, joins them, and returns a status; run.c prints the result.
 */
#ifndef RTQUAL_BATTERY_H
#define RTQUAL_BATTERY_H

#include "port.h"

enum { SERIES_MOST = 16, FACTS_MOST = 24 };

struct options {
	uint32_t iterations; /* samples of each series; 0: as many as the family says */
	uint64_t interval_ns; /* period of periodic benchmarks; 0: what the family says */
	int cpu; /* that the measuring threads run on */
	uint32_t seed; /* ns by which the phase is shifted against the system's own timers */
};

/* Samples in the order they were taken. What does not fit 32 bits is counted in `overflows`, not cut. */
struct series {
	const char *name;
	const char *unit; /* "ns", or "cycles" of port_cycles() */
	uint32_t *values;
	uint32_t count;
	uint32_t capacity;
	uint32_t overflows;
	uint32_t lost; /* taken, but without room to keep them */
};

/* A figure beside the samples. */
struct fact {
	const char *name;
	const char *unit;
	uint64_t value;
};

struct run {
	const struct options *options;
	struct series series[SERIES_MOST];
	unsigned int series_count;
	struct fact facts[FACTS_MOST];
	unsigned int fact_count;
	uint32_t *memory; /* not yet given to a series */
	size_t room;
	const char *complaint; /* what went wrong, if it was not the port that failed */
};

/* A line of the result that is being written. */
enum { LINE_MOST = 240 };
struct text {
	char line[LINE_MOST];
	size_t length;
	uint32_t crc;
	enum port_status status;
};

struct workspace {
	struct options options;
	struct run run;
	struct text text;
	char complaint[LINE_MOST]; /* of the first benchmark that failed, with its name */
};

struct benchmark {
	const char *name;
	enum port_status (*measure)(struct run *run);
};

/* Benchmarks that are run together under one name on the command line; the last entry has no name. */
struct family {
	const char *name;
	const struct benchmark *benchmarks;
	uint32_t iterations; /* default */
	uint64_t interval_ns;
	size_t words; /* of sample memory, used beyond samples, threads and small objects */
};

extern const struct family battery[];

/* A series with room for `capacity` samples; NULL, with a complaint, if there is not enough memory. */
struct series *run_series(struct run *run, const char *name, const char *unit, uint32_t capacity);
/* Memory for a benchmark's own objects, aligned for any type, not cleared; NULL with a complaint. */
void *run_memory(struct run *run, size_t bytes);
void run_fact(struct run *run, const char *name, const char *unit, uint64_t value);

/*
 * Run a family and write its result. Returns the status of the first benchmark that failed otherwise than by lacking
 * its mechanism, or that of port_write() if the result could not be written; workspace->complaint says why. The
 * workspace, some 2 KiB, is main's: too large for a kernel's stack.
 */
enum port_status battery_run(const struct family *family, const struct options *options, struct workspace *workspace);

/* The minimum of work that a measuring loop does for a sample. */
static inline void series_add(struct series *series, uint64_t value)
{
	if (value > UINT32_MAX)
		series->overflows++;
	else if (series->count < series->capacity)
		series->values[series->count++] = (uint32_t)value;
	else
		series->lost++;
}

/*
 * A value that one thread leaves for another, ordered only by a mechanism of the port. Like plain memory, except that
 * the compiler neither moves nor splits the access.
 */
static inline void shared_set32(uint32_t *where, uint32_t value)
{
	__atomic_store_n(where, value, __ATOMIC_RELAXED);
}

static inline uint32_t shared_get32(const uint32_t *where)
{
	return __atomic_load_n(where, __ATOMIC_RELAXED);
}

static inline void shared_set(uint64_t *where, uint64_t value)
{
	__atomic_store_n(where, value, __ATOMIC_RELAXED);
}

static inline uint64_t shared_get(const uint64_t *where)
{
	return __atomic_load_n(where, __ATOMIC_RELAXED);
}

/* Return from a benchmark at the first call that did not succeed. */
#define TRY(call)                                     \
	do {                                          \
		enum port_status try_status = (call); \
		if (try_status != PORT_OK)            \
			return try_status;            \
	} while (0)

#endif

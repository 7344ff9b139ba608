/* SPDX-License-Identifier: MIT */
/*
 * The three shapes that most rows of the primitives have, as RTOSBench defines them: one thread alone, a thread that
 * unblocks a higher one, a thread that blocks and leaves the CPU to a lower one. They are inlined with the operation
 * that a row measures, so that no call through a pointer is included.
 */
#ifndef RTQUAL_ROW_H
#define RTQUAL_ROW_H

#include "battery/rest.h"
#include "battery/team.h"

struct row {
	const struct options *options;
	struct series *time; /* cycles */
	uint64_t stamp; /* when the operation began, from one thread for the other */
	uint32_t turn; /* the number of that thread, from 1; for switch.c */
	struct port_semaphore ready; /* higher threads signal the lowest that they are about to wait */
	struct port_semaphore auxiliary;
	struct port_semaphore middle; /* makes a thread of middle priority ready */
	union {
		struct port_semaphore semaphore;
		struct port_queue queue;
		struct port_event event;
		struct port_mutex mutex;
		struct port_pipe pipes[2]; /* there, back */
	} object;
};

typedef enum port_status (*row_operation)(struct row *row);

enum { ROW_THREADS_MOST = 3 };

/* How a row is measured: its object, and a play for each thread, by falling priority from PORT_HIGH. */
struct row_plan {
	enum port_status (*open)(struct row *row);
	void (*close)(struct row *row);
	enum port_status (*plays[ROW_THREADS_MOST])(void *row); /* NULL after the last */
};

enum port_status row_measure(struct run *run, const struct row_plan *plan);
/* The same with all threads at PORT_HIGH. */
enum port_status row_measure_equals(struct run *run, const struct row_plan *plan);

static inline enum port_status row_nothing(struct row *row)
{
	(void)row;
	return PORT_OK;
}

#define ROW_SHAPE static inline __attribute__((always_inline)) enum port_status

/* Prepare, measure an operation, restore. */
ROW_SHAPE row_alone(struct row *row, row_operation prepare, row_operation measured, row_operation restore)
{
	enum port_status status;
	struct rest rest;

	TRY(rest_open(&rest));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		uint64_t from, to;

		TRY(prepare(row));
		from = port_cycles();
		status = measured(row);
		to = port_cycles();
		TRY(status);
		series_add(row->time, to - from);
		TRY(restore(row));
		TRY(rest_after(&rest, i));
	}
	rest_close(&rest);
	return PORT_OK;
}

/* From before the lower thread's signal until the higher thread is back from its wait. */
ROW_SHAPE row_unblock_lower(struct row *row, row_operation signal)
{
	struct rest rest;

	TRY(rest_open(&rest));
	TRY(port_semaphore_wait(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		shared_set(&row->stamp, port_cycles());
		TRY(signal(row));
		TRY(rest_after(&rest, i));
	}
	rest_close(&rest);
	return PORT_OK;
}

ROW_SHAPE row_unblock_higher(struct row *row, row_operation wait)
{
	TRY(port_semaphore_post(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		enum port_status status = wait(row);
		uint64_t now = port_cycles();

		TRY(status);
		series_add(row->time, now - shared_get(&row->stamp));
	}
	return PORT_OK;
}

/* From before the higher thread's wait, which blocks, until the lower thread runs on after the signal it had sent. */
ROW_SHAPE row_block_higher(struct row *row, row_operation wait)
{
	TRY(port_semaphore_post(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations + 1; i++) {
		shared_set(&row->stamp, port_cycles());
		TRY(wait(row));
	}
	return PORT_OK;
}

ROW_SHAPE row_block_lower(struct row *row, row_operation signal)
{
	struct rest rest;

	TRY(rest_open(&rest));
	TRY(port_semaphore_wait(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		enum port_status status = signal(row);
		uint64_t now = port_cycles();

		TRY(status);
		series_add(row->time, now - shared_get(&row->stamp));
		TRY(rest_after(&rest, i));
	}
	TRY(signal(row)); /* lets the higher one end */
	rest_close(&rest);
	return PORT_OK;
}

#endif

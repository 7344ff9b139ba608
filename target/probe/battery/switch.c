// SPDX-License-Identifier: MIT
/*
 * The row "mq context switch": two threads of equal priority yield to each other; from before one's yield until the
 * other is back from its own. (The study measured it among its queue tests; no queue takes part.)
 */
#include "battery/primitives.h"
#include "battery/row.h"

static uint32_t batch_of(const struct row *row, uint32_t done)
{
	uint32_t left = row->options->iterations - done;

	return left < REST_EVERY ? left : REST_EVERY;
}

/* Each batch begins with the second thread back in its yield. */
static enum port_status play_first(void *state)
{
	struct row *row = state;
	struct rest rest;

	TRY(rest_open(&rest));
	TRY(port_semaphore_wait(&row->ready));
	for (uint32_t done = 0; done < row->options->iterations;) {
		TRY(port_semaphore_post(&row->auxiliary));
		port_yield();
		for (uint32_t left = batch_of(row, done); left; left--) {
			shared_set32(&row->turn, ++done);
			shared_set(&row->stamp, port_cycles());
			port_yield();
		}
		TRY(rest_take(&rest));
	}
	rest_close(&rest);
	return PORT_OK;
}

static enum port_status play_second(void *state)
{
	struct row *row = state;

	TRY(port_semaphore_post(&row->ready));
	for (uint32_t done = 0; done < row->options->iterations;) {
		TRY(port_semaphore_wait(&row->auxiliary));
		for (uint32_t left = batch_of(row, done); left; left--) {
			uint64_t now;

			port_yield();
			now = port_cycles();
			if (shared_get32(&row->turn) == ++done)
				series_add(row->time, now - shared_get(&row->stamp));
			else
				row->time->lost++; /* the other thread had no turn, or two */
		}
	}
	return PORT_OK;
}

static enum port_status open_nothing(struct row *row)
{
	return row_nothing(row);
}

static void close_nothing(struct row *row)
{
	(void)row;
}

static const struct row_plan plan = { open_nothing, close_nothing, { play_first, play_second } };

enum port_status primitive_context_switch(struct run *run)
{
	enum port_status status = row_measure_equals(run, &plan);

	if (status != PORT_OK || !run->series[0].lost)
		return status;
	run->complaint = "two threads of equal priority did not take turns by yielding";
	return PORT_FAILED;
}

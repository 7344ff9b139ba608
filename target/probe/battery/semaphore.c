// SPDX-License-Identifier: MIT
/* Counting semaphores: the rows "sem ..." but its workload. */
#include "battery/primitives.h"
#include "battery/row.h"

static enum port_status open_semaphore(struct row *row)
{
	return port_semaphore_open(&row->object.semaphore, 0);
}

static void close_semaphore(struct row *row)
{
	port_semaphore_close(&row->object.semaphore);
}

static enum port_status give(struct row *row)
{
	return port_semaphore_post(&row->object.semaphore);
}

static enum port_status take(struct row *row)
{
	return port_semaphore_wait(&row->object.semaphore);
}

static enum port_status signal_alone(void *row)
{
	return row_alone(row, row_nothing, give, take);
}

static enum port_status wait_alone(void *row)
{
	return row_alone(row, give, take, row_nothing);
}

static enum port_status unblock_higher(void *row)
{
	return row_unblock_higher(row, take);
}

static enum port_status unblock_lower(void *row)
{
	return row_unblock_lower(row, give);
}

static enum port_status block_higher(void *row)
{
	return row_block_higher(row, take);
}

static enum port_status block_lower(void *row)
{
	return row_block_lower(row, give);
}

/* The semaphore that is signalled has a waiter of lower priority, which only becomes ready. */
static enum port_status prio_higher(void *state)
{
	struct row *row = state;

	TRY(port_semaphore_post(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		enum port_status status;
		uint64_t from, to;

		TRY(port_semaphore_wait(&row->auxiliary));
		from = port_cycles();
		status = give(row);
		to = port_cycles();
		TRY(status);
		series_add(row->time, to - from);
	}
	return PORT_OK;
}

static enum port_status prio_middle(void *state)
{
	struct row *row = state;

	TRY(port_semaphore_post(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++)
		TRY(take(row));
	return PORT_OK;
}

static enum port_status prio_lower(void *state)
{
	struct row *row = state;
	struct rest rest;

	TRY(rest_open(&rest));
	TRY(port_semaphore_wait(&row->ready));
	TRY(port_semaphore_wait(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		TRY(port_semaphore_post(&row->auxiliary));
		TRY(rest_after(&rest, i));
	}
	rest_close(&rest);
	return PORT_OK;
}

static const struct row_plan signal_plan = { open_semaphore, close_semaphore, { signal_alone } };
static const struct row_plan wait_plan = { open_semaphore, close_semaphore, { wait_alone } };
static const struct row_plan unblock_plan = { open_semaphore, close_semaphore, { unblock_higher, unblock_lower } };
static const struct row_plan block_plan = { open_semaphore, close_semaphore, { block_higher, block_lower } };
static const struct row_plan prio_plan = { open_semaphore, close_semaphore, { prio_higher, prio_middle, prio_lower } };

enum port_status primitive_sem_signal(struct run *run)
{
	return row_measure(run, &signal_plan);
}

enum port_status primitive_sem_wait(struct run *run)
{
	return row_measure(run, &wait_plan);
}

enum port_status primitive_sem_signal_unblock(struct run *run)
{
	return row_measure(run, &unblock_plan);
}

enum port_status primitive_sem_wait_block(struct run *run)
{
	return row_measure(run, &block_plan);
}

enum port_status primitive_sem_signaling_with_prio(struct run *run)
{
	return row_measure(run, &prio_plan);
}

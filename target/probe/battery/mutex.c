// SPDX-License-Identifier: MIT
/* Mutexes with priority inheritance: the rows "mutex ..." but its workload. */
#include "battery/primitives.h"
#include "battery/row.h"

static enum port_status open_mutex(struct row *row)
{
	return port_mutex_open(&row->object.mutex);
}

static void close_mutex(struct row *row)
{
	port_mutex_close(&row->object.mutex);
}

static enum port_status acquire(struct row *row)
{
	return port_mutex_lock(&row->object.mutex);
}

static enum port_status release(struct row *row)
{
	return port_mutex_unlock(&row->object.mutex);
}

static enum port_status acquisition_alone(void *row)
{
	return row_alone(row, row_nothing, acquire, release);
}

static enum port_status release_alone(void *row)
{
	return row_alone(row, acquire, release, row_nothing);
}

/* From before the lower thread's release until the higher thread, which waited for the mutex, has it. */
static enum port_status unblock_higher(void *state)
{
	struct row *row = state;

	TRY(port_semaphore_post(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		enum port_status status;
		uint64_t now;

		TRY(port_semaphore_wait(&row->auxiliary));
		status = acquire(row);
		now = port_cycles();
		TRY(status);
		series_add(row->time, now - shared_get(&row->stamp));
		TRY(release(row));
	}
	return PORT_OK;
}

static enum port_status unblock_lower(void *state)
{
	struct row *row = state;
	struct rest rest;

	TRY(rest_open(&rest));
	TRY(port_semaphore_wait(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		TRY(acquire(row));
		TRY(port_semaphore_post(&row->auxiliary));
		shared_set(&row->stamp, port_cycles());
		TRY(release(row));
		TRY(rest_after(&rest, i));
	}
	rest_close(&rest);
	return PORT_OK;
}

/* From before the higher thread asks for the mutex until the lower thread, which has it, runs on. */
static enum port_status request_higher(void *state)
{
	struct row *row = state;

	TRY(port_semaphore_post(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		TRY(port_semaphore_wait(&row->auxiliary));
		shared_set(&row->stamp, port_cycles());
		TRY(acquire(row));
		TRY(release(row));
	}
	return PORT_OK;
}

static enum port_status request_lower(void *state)
{
	struct row *row = state;
	struct rest rest;

	TRY(rest_open(&rest));
	TRY(port_semaphore_wait(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		enum port_status status;
		uint64_t now;

		TRY(acquire(row));
		status = port_semaphore_post(&row->auxiliary);
		now = port_cycles();
		TRY(status);
		series_add(row->time, now - shared_get(&row->stamp));
		TRY(release(row));
		TRY(rest_after(&rest, i));
	}
	rest_close(&rest);
	return PORT_OK;
}

/* As before, with a thread of middle priority that is ready: the lower one runs on because it inherits. */
static enum port_status pip_higher(void *state)
{
	struct row *row = state;

	TRY(port_semaphore_post(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		TRY(port_semaphore_wait(&row->auxiliary));
		TRY(port_semaphore_post(&row->middle));
		shared_set(&row->stamp, port_cycles());
		TRY(acquire(row));
		TRY(release(row));
	}
	return PORT_OK;
}

static enum port_status pip_middle(void *state)
{
	struct row *row = state;

	TRY(port_semaphore_post(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++)
		TRY(port_semaphore_wait(&row->middle));
	return PORT_OK;
}

static enum port_status pip_lower(void *row)
{
	TRY(port_semaphore_wait(&((struct row *)row)->ready));
	return request_lower(row);
}

static const struct row_plan acquisition_plan = { open_mutex, close_mutex, { acquisition_alone } };
static const struct row_plan release_plan = { open_mutex, close_mutex, { release_alone } };
static const struct row_plan unblock_plan = { open_mutex, close_mutex, { unblock_higher, unblock_lower } };
static const struct row_plan request_plan = { open_mutex, close_mutex, { request_higher, request_lower } };
static const struct row_plan pip_plan = { open_mutex, close_mutex, { pip_higher, pip_middle, pip_lower } };

enum port_status primitive_mutex_acquisition(struct run *run)
{
	return row_measure(run, &acquisition_plan);
}

enum port_status primitive_mutex_release(struct run *run)
{
	return row_measure(run, &release_plan);
}

enum port_status primitive_mutex_release_unblock(struct run *run)
{
	return row_measure(run, &unblock_plan);
}

enum port_status primitive_mutex_request_block(struct run *run)
{
	return row_measure(run, &request_plan);
}

enum port_status primitive_mutex_pip(struct run *run)
{
	return row_measure(run, &pip_plan);
}

// SPDX-License-Identifier: MIT
/*
 * Inter-task communication as the Xenomai study measures it (figures 4, 6 and 8): a periodic task gives, another task
 * waits. Semaphore and message queue: from before the give until the other task has taken. Message pipe: there and
 * back, from before the periodic task writes until it has read what the other task wrote in answer.
 *
 * The study's listings read the first time after the give; a higher task would then have taken before the measurement
 * began. The pipe's other task is the lower task: in the study it is an ordinary thread of Linux.
 */
#include "battery/itc.h"
#include "battery/row.h"

ROW_SHAPE give_periodically(struct row *row, row_operation give)
{
	const struct options *options = row->options;
	struct port_timer timer;
	uint64_t due_ns;

	TRY(port_timer_open(&timer, PORT_PATH_SLEEP));
	TRY(port_semaphore_wait(&row->ready));
	due_ns = port_timer_next_ns(&timer, port_now_ns() + options->interval_ns + options->seed);
	for (uint32_t i = 0; i < options->iterations; i++) {
		TRY(port_timer_wait(&timer, due_ns));
		TRY(give(row));
		due_ns += options->interval_ns;
	}
	port_timer_close(&timer);
	return PORT_OK;
}

static enum port_status open_semaphore(struct row *row)
{
	return port_semaphore_open(&row->object.semaphore, 0);
}

static void close_semaphore(struct row *row)
{
	port_semaphore_close(&row->object.semaphore);
}

static enum port_status post(struct row *row)
{
	shared_set(&row->stamp, port_cycles());
	return port_semaphore_post(&row->object.semaphore);
}

static enum port_status wait_for_post(struct row *row)
{
	return port_semaphore_wait(&row->object.semaphore);
}

static enum port_status semaphore_take(void *row)
{
	return row_unblock_higher(row, wait_for_post);
}

static enum port_status semaphore_give(void *row)
{
	return give_periodically(row, post);
}

static enum port_status open_queue(struct row *row)
{
	return port_queue_open(&row->object.queue, 2, sizeof(uint32_t));
}

static void close_queue(struct row *row)
{
	port_queue_close(&row->object.queue);
}

static enum port_status put(struct row *row)
{
	const uint32_t message = 1;

	shared_set(&row->stamp, port_cycles());
	return port_queue_send(&row->object.queue, &message);
}

static enum port_status get(struct row *row)
{
	uint32_t message;

	return port_queue_receive(&row->object.queue, &message);
}

static enum port_status queue_take(void *row)
{
	return row_unblock_higher(row, get);
}

static enum port_status queue_give(void *row)
{
	return give_periodically(row, put);
}

static enum port_status open_pipes(struct row *row)
{
	enum port_status status;

	TRY(port_pipe_open(&row->object.pipes[0]));
	status = port_pipe_open(&row->object.pipes[1]);
	if (status != PORT_OK)
		port_pipe_close(&row->object.pipes[0]);
	return status;
}

static void close_pipes(struct row *row)
{
	port_pipe_close(&row->object.pipes[1]);
	port_pipe_close(&row->object.pipes[0]);
}

static enum port_status there_and_back(struct row *row)
{
	uint32_t message = 1;
	uint64_t from = port_cycles(), to;

	TRY(port_pipe_write(&row->object.pipes[0], &message, sizeof(message)));
	TRY(port_pipe_read(&row->object.pipes[1], &message, sizeof(message)));
	to = port_cycles();
	series_add(row->time, to - from);
	return PORT_OK;
}

static enum port_status pipe_give(void *row)
{
	return give_periodically(row, there_and_back);
}

static enum port_status pipe_answer(void *state)
{
	struct row *row = state;
	uint32_t message;

	TRY(port_semaphore_post(&row->ready));
	for (uint32_t i = 0; i < row->options->iterations; i++) {
		TRY(port_pipe_read(&row->object.pipes[0], &message, sizeof(message)));
		TRY(port_pipe_write(&row->object.pipes[1], &message, sizeof(message)));
	}
	return PORT_OK;
}

static const struct row_plan semaphore_plan = { open_semaphore, close_semaphore, { semaphore_take, semaphore_give } };
static const struct row_plan queue_plan = { open_queue, close_queue, { queue_take, queue_give } };
static const struct row_plan pipe_plan = { open_pipes, close_pipes, { pipe_give, pipe_answer } };

static enum port_status measure_semaphore(struct run *run)
{
	return row_measure(run, &semaphore_plan);
}

static enum port_status measure_queue(struct run *run)
{
	return row_measure(run, &queue_plan);
}

static enum port_status measure_pipe(struct run *run)
{
	return row_measure(run, &pipe_plan);
}

const struct benchmark itc_benchmarks[] = {
	{ "semaphore", measure_semaphore },
	{ "message queue", measure_queue },
	{ "message pipe", measure_pipe },
	{ 0 },
};

// SPDX-License-Identifier: MIT
/* Message queues: the rows "mq ..." but the context switch and its workload. */
#include "battery/primitives.h"
#include "battery/row.h"

enum { DEPTH = 2 };

/* RTOSBench's messages are 32-bit numbers. */
static enum port_status open_queue(struct row *row)
{
	return port_queue_open(&row->object.queue, DEPTH, sizeof(uint32_t));
}

static void close_queue(struct row *row)
{
	port_queue_close(&row->object.queue);
}

static enum port_status put(struct row *row)
{
	const uint32_t message = 1;

	return port_queue_send(&row->object.queue, &message);
}

static enum port_status get(struct row *row)
{
	uint32_t message;

	return port_queue_receive(&row->object.queue, &message);
}

static enum port_status send_alone(void *row)
{
	return row_alone(row, row_nothing, put, get);
}

static enum port_status receive_alone(void *row)
{
	return row_alone(row, put, get, row_nothing);
}

static enum port_status unblock_higher(void *row)
{
	return row_unblock_higher(row, get);
}

static enum port_status unblock_lower(void *row)
{
	return row_unblock_lower(row, put);
}

static enum port_status block_higher(void *row)
{
	return row_block_higher(row, get);
}

static enum port_status block_lower(void *row)
{
	return row_block_lower(row, put);
}

static const struct row_plan send_plan = { open_queue, close_queue, { send_alone } };
static const struct row_plan receive_plan = { open_queue, close_queue, { receive_alone } };
static const struct row_plan unblock_plan = { open_queue, close_queue, { unblock_higher, unblock_lower } };
static const struct row_plan block_plan = { open_queue, close_queue, { block_higher, block_lower } };

enum port_status primitive_mq_send(struct run *run)
{
	return row_measure(run, &send_plan);
}

enum port_status primitive_mq_receive(struct run *run)
{
	return row_measure(run, &receive_plan);
}

enum port_status primitive_mq_send_unblock(struct run *run)
{
	return row_measure(run, &unblock_plan);
}

enum port_status primitive_mq_receive_block(struct run *run)
{
	return row_measure(run, &block_plan);
}

// SPDX-License-Identifier: MIT
/* The cost of reading a clock, and of measuring nothing. */
#include "battery/primitives.h"
#include "battery/row.h"

static enum port_status open_nothing(struct row *row)
{
	return row_nothing(row);
}

static void close_nothing(struct row *row)
{
	(void)row;
}

static enum port_status read_clock(struct row *row)
{
	(void)row;
	port_now_ns();
	return PORT_OK;
}

static enum port_status read_cycles(struct row *row)
{
	(void)row;
	port_cycles();
	return PORT_OK;
}

static enum port_status empty_alone(void *row)
{
	return row_alone(row, row_nothing, row_nothing, row_nothing);
}

static enum port_status clock_alone(void *row)
{
	return row_alone(row, row_nothing, read_clock, row_nothing);
}

static enum port_status cycles_alone(void *row)
{
	return row_alone(row, row_nothing, read_cycles, row_nothing);
}

static const struct row_plan empty_plan = { open_nothing, close_nothing, { empty_alone } };
static const struct row_plan clock_plan = { open_nothing, close_nothing, { clock_alone } };
static const struct row_plan cycles_plan = { open_nothing, close_nothing, { cycles_alone } };

enum port_status primitive_empty(struct run *run)
{
	return row_measure(run, &empty_plan);
}

enum port_status primitive_clock_read(struct run *run)
{
	return row_measure(run, &clock_plan);
}

enum port_status primitive_cycle_read(struct run *run)
{
	return row_measure(run, &cycles_plan);
}

// SPDX-License-Identifier: MIT
/* Event signalling, which is part of RTOSBench's contract but not of the study's tables. */
#include "battery/primitives.h"
#include "battery/row.h"

static enum port_status open_event(struct row *row)
{
	return port_event_open(&row->object.event);
}

static void close_event(struct row *row)
{
	port_event_close(&row->object.event);
}

static enum port_status give(struct row *row)
{
	return port_event_signal(&row->object.event);
}

static enum port_status take(struct row *row)
{
	return port_event_wait(&row->object.event);
}

static enum port_status signal_alone(void *row)
{
	return row_alone(row, row_nothing, give, take);
}

static enum port_status unblock_higher(void *row)
{
	return row_unblock_higher(row, take);
}

static enum port_status unblock_lower(void *row)
{
	return row_unblock_lower(row, give);
}

static const struct row_plan signal_plan = { open_event, close_event, { signal_alone } };
static const struct row_plan unblock_plan = { open_event, close_event, { unblock_higher, unblock_lower } };

enum port_status primitive_event_signal(struct run *run)
{
	return row_measure(run, &signal_plan);
}

enum port_status primitive_event_signal_unblock(struct run *run)
{
	return row_measure(run, &unblock_plan);
}

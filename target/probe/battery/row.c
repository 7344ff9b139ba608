// SPDX-License-Identifier: MIT
#include "battery/row.h"

static enum port_status play_all(struct run *run, struct row *row, const struct row_plan *plan, unsigned int step)
{
	struct role roles[ROW_THREADS_MOST];
	unsigned int count = 0;

	for (; count < ROW_THREADS_MOST && plan->plays[count]; count++) {
		enum port_priority priority = (enum port_priority)(PORT_HIGH - step * count);

		roles[count] = (struct role){ "row", priority, run->options->cpu, plan->plays[count], row };
	}
	return team_run(run, roles, count);
}

static enum port_status measure(struct run *run, const struct row_plan *plan, unsigned int step)
{
	struct series *time = run_series(run, "time", "cycles", run->options->iterations);
	struct row *row = run_memory(run, sizeof(*row));
	enum port_status status;

	if (!time || !row)
		return PORT_FULL;
	row->options = run->options;
	row->time = time;
	row->stamp = 0;
	row->turn = 0;
	TRY(port_semaphore_open(&row->ready, 0));
	TRY(port_semaphore_open(&row->auxiliary, 0));
	TRY(port_semaphore_open(&row->middle, 0));
	status = plan->open(row);
	if (status == PORT_OK) {
		status = play_all(run, row, plan, step);
		plan->close(row);
	}
	port_semaphore_close(&row->middle);
	port_semaphore_close(&row->auxiliary);
	port_semaphore_close(&row->ready);
	return status;
}

enum port_status row_measure(struct run *run, const struct row_plan *plan)
{
	return measure(run, plan, 1);
}

enum port_status row_measure_equals(struct run *run, const struct row_plan *plan)
{
	return measure(run, plan, 0);
}

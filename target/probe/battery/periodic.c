// SPDX-License-Identifier: MIT
/* A periodic task as the Xenomai study measures it (figure 3): the time from one wake-up to the next. */
#include "battery/periodic.h"
#include "battery/asleep.h"
#include "battery/team.h"

struct periodic {
	const struct options *options;
	struct series *period, *jitter;
};

static enum port_status play(void *state)
{
	struct periodic *periodic = state;
	const uint64_t interval_ns = periodic->options->interval_ns;
	enum port_status status = PORT_OK;
	uint64_t due_ns, before_ns;
	struct port_timer timer;

	TRY(port_timer_open(&timer, PORT_PATH_SLEEP));
	due_ns = port_timer_next_ns(&timer, port_now_ns() + interval_ns + periodic->options->seed);
	status = port_timer_wait(&timer, due_ns);
	before_ns = port_now_ns();
	for (uint32_t i = 0; i < periodic->options->iterations && status == PORT_OK; i++) {
		uint64_t now_ns, period_ns;

		due_ns += interval_ns; /* missed periods are made up for at once */
		status = port_timer_wait(&timer, due_ns);
		now_ns = port_now_ns();
		period_ns = now_ns - before_ns;
		series_add(periodic->period, period_ns);
		series_add(periodic->jitter,
			   period_ns > interval_ns ? period_ns - interval_ns : interval_ns - period_ns);
		before_ns = now_ns;
	}
	port_timer_close(&timer);
	return status;
}

static enum port_status measure(struct run *run)
{
	struct periodic periodic = { .options = run->options };
	const struct role role = { "periodic", PORT_HIGH, run->options->cpu, play, &periodic };

	periodic.period = run_series(run, "period", "ns", run->options->iterations);
	periodic.jitter = run_series(run, "jitter", "ns", run->options->iterations);
	return periodic.period && periodic.jitter ? team_run(run, &role, 1) : PORT_FULL;
}

const struct benchmark periodic_benchmarks[] = { { "periodic task", measure }, { "asleep", asleep_measure }, { 0 } };

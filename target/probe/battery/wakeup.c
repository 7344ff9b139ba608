// SPDX-License-Identifier: MIT
/* How late a thread wakes that sleeps until absolute times, one period after the other: what cyclictest measures. */
#include "battery/wakeup.h"
#include "battery/asleep.h"
#include "battery/team.h"

struct sleeper {
	struct run *run;
	struct series *late;
	uint64_t step_ns; /* between two times that the timer can be set to */
};

static enum port_status sleep_and_look(void *state)
{
	struct sleeper *sleeper = state;
	const struct options *options = sleeper->run->options;
	enum port_status status = PORT_OK;
	struct port_timer timer;
	uint64_t due_ns;

	TRY(port_timer_open(&timer, PORT_PATH_SLEEP));
	due_ns = port_timer_next_ns(&timer, port_now_ns() + options->interval_ns + options->seed);
	sleeper->step_ns = port_timer_next_ns(&timer, due_ns + 1) - due_ns;
	for (uint32_t i = 0; i < options->iterations && status == PORT_OK; i++) {
		uint64_t now_ns;

		status = port_timer_wait(&timer, due_ns);
		now_ns = port_now_ns();
		if (now_ns < due_ns) {
			sleeper->run->complaint =
				"woken before the time: the clock stepped back, or the timer is early";
			status = PORT_FAILED;
			break;
		}
		series_add(sleeper->late, now_ns - due_ns);
		/* After a wake-up later than a whole period, goes on with the next period that lies ahead, as
		 * cyclictest does. */
		do
			due_ns += options->interval_ns;
		while (due_ns <= now_ns);
	}
	port_timer_close(&timer);
	return status;
}

enum port_status wakeup_measure(struct run *run)
{
	struct sleeper sleeper = { run, run_series(run, "latency", "ns", run->options->iterations), 0 };
	struct role role = { "sleeper", PORT_HIGH, run->options->cpu, sleep_and_look, &sleeper };
	enum port_status status = sleeper.late ? team_run(run, &role, 1) : PORT_FULL;

	run_fact(run, "timer step", "ns", sleeper.step_ns);
	return status;
}

const struct benchmark wakeup_benchmarks[] = { { "wake-up", wakeup_measure }, { "asleep", asleep_measure }, { 0 } };

// SPDX-License-Identifier: MIT
#include "battery/asleep.h"
#include "battery/team.h"

enum {
	SLEEPS = 10,
	LEAST_NS = 1000000, /* of a sleep: a short one is mostly the switches there and back */
	MOST_NS = 10000000,
	ALONE_NS = 2000000,
	LONGEST_NS = 2 * SLEEPS * MOST_NS,
	ROUNDS = 64, /* between two looks at the clock */
};

struct asleep {
	struct run *run;
	struct port_semaphore counted; /* what the lower thread does when it is alone is known */
	uint32_t ended;
	uint32_t alone, beside; /* looks at the clock */
	uint64_t alone_ns, asleep_ns;
	uint64_t own_ns; /* CPU time of the sleeper; 0: the system does not tell */
};

static uint64_t look(void)
{
	for (volatile uint32_t round = 0; round < ROUNDS;)
		round = round + 1;
	return port_now_ns();
}

static enum port_status count(void *state)
{
	struct asleep *asleep = state;
	const uint64_t from_ns = look();
	uint64_t now_ns;

	do {
		now_ns = look();
		asleep->alone++;
	} while (now_ns - from_ns < ALONE_NS);
	asleep->alone_ns = now_ns - from_ns;
	TRY(port_semaphore_post(&asleep->counted));
	/* Not for ever: some systems end a sleep by a thread that is lower still. */
	for (const uint64_t until_ns = now_ns + LONGEST_NS; !shared_get32(&asleep->ended) && look() < until_ns;)
		asleep->beside++;
	return PORT_OK;
}

static uint64_t own_ns(void)
{
	struct port_disturbance now = { 0 };

	return port_disturbance_now(&now) == PORT_OK ? now.thread_ns : 0;
}

static enum port_status sleep_on(struct asleep *asleep, struct port_timer *timer)
{
	const uint64_t asked_ns = asleep->run->options->interval_ns;
	const uint64_t interval_ns = asked_ns < LEAST_NS ? LEAST_NS : asked_ns > MOST_NS ? MOST_NS : asked_ns;
	const uint64_t own_before_ns = own_ns(), from_ns = port_now_ns();
	enum port_status status = PORT_OK;

	for (int i = 0; i < SLEEPS && status == PORT_OK; i++)
		status = port_timer_wait(timer, port_timer_next_ns(timer, port_now_ns() + interval_ns));
	asleep->asleep_ns = port_now_ns() - from_ns;
	asleep->own_ns = own_ns() - own_before_ns;
	return status;
}

static enum port_status sleep_beside(void *state)
{
	struct asleep *asleep = state;
	struct port_timer timer;
	enum port_status status = port_timer_open(&timer, PORT_PATH_SLEEP);

	if (status == PORT_OK) {
		status = port_semaphore_wait(&asleep->counted);
		if (status == PORT_OK)
			status = sleep_on(asleep, &timer);
		port_timer_close(&timer);
	}
	shared_set32(&asleep->ended, 1);
	return status;
}

static uint64_t percent(uint64_t part_ns, uint64_t whole_ns)
{
	return port_divide(part_ns * 100, (uint32_t)whole_ns);
}

enum port_status asleep_measure(struct run *run)
{
	struct asleep asleep = { .run = run };
	const struct role roles[] = { { "sleeper", PORT_HIGH, run->options->cpu, sleep_beside, &asleep },
				      { "lower", PORT_LOW, run->options->cpu, count, &asleep } };
	enum port_status status;

	TRY(port_semaphore_open(&asleep.counted, 0));
	status = team_run(run, roles, 2);
	port_semaphore_close(&asleep.counted);
	if (status != PORT_OK)
		return status;
	run_fact(run, "lower thread's share", "%",
		 percent(port_divide(asleep.alone_ns * asleep.beside, asleep.alone), asleep.asleep_ns));
	if (asleep.own_ns)
		run_fact(run, "own share", "%", percent(asleep.own_ns, asleep.asleep_ns));
	return PORT_OK;
}

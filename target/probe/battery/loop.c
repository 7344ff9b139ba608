// SPDX-License-Identifier: MIT
#include "battery/loop.h"
#include "battery/asleep.h"
#include "battery/work.h"

/* Cycles that may be under way at once, when the last stage lags behind the first. */
enum { UNDER_WAY = 8, SMALL_WORDS = 2048 };

struct cycle {
	uint64_t due_ns; /* when the sensor was to wake */
	uint64_t handed_ns; /* when the previous stage was done; for the first stage the due time */
};

struct loop;

struct stage {
	struct loop *loop;
	unsigned int number;
	struct series *start, *response; /* ns */
	struct port_semaphore go;
	struct cycle cycles[UNDER_WAY];
	struct work work;
	uint32_t rounds;
};

struct loop {
	struct run *run;
	enum port_path path;
	struct stage stages[STAGES];
	struct series *end_to_end; /* ns */
	struct port_semaphore room; /* slots for cycles under way: when none is free, the sensor waits */
	uint32_t skipped; /* periods in which no cycle began */
	uint32_t missed; /* cycles that ended more than a period after their due time */
	uint32_t cancelled; /* the sensor has failed: the others must not wait for it */
	uint32_t *ended; /* the other roles run until this is set; or NULL */
};

/* 5, 20, 10 and 2.5 % of the interval: the estimator has the largest share. Per mille. */
static const struct {
	const char *start, *response, *budget;
	uint32_t per_mille;
	enum port_priority priority;
} stage_facts[STAGES] = {
	{ "sensor start", "sensor response", "sensor budget", 50, PORT_HIGHEST },
	{ "estimator start", "estimator response", "estimator budget", 200, PORT_HIGH },
	{ "control start", "control response", "control budget", 100, PORT_MIDDLE },
	{ "actuator start", "actuator response", "actuator budget", 25, PORT_LOW },
};

static uint64_t budget_ns(const struct loop *loop, unsigned int stage)
{
	return port_divide(loop->run->options->interval_ns * stage_facts[stage].per_mille, 1000);
}

/* Do the stage's work for a cycle; returns the time at which it was done. */
static uint64_t work_on(struct stage *stage, const struct cycle *cycle)
{
	uint64_t start_ns = port_now_ns(), done_ns;

	work_do(&stage->work, stage->rounds);
	done_ns = port_now_ns();
	series_add(stage->start, start_ns - cycle->due_ns);
	series_add(stage->response, done_ns - cycle->handed_ns);
	return done_ns;
}

static enum port_status hand_on(struct stage *stage, uint32_t number, const struct cycle *cycle, uint64_t done_ns)
{
	struct stage *next = stage + 1;

	next->cycles[number % UNDER_WAY] = (struct cycle){ cycle->due_ns, done_ns };
	return port_semaphore_post(&next->go);
}

static enum port_status sense(struct stage *stage, struct port_timer *timer)
{
	struct loop *loop = stage->loop;
	const struct options *options = loop->run->options;
	const uint64_t from_ns = port_now_ns() + options->interval_ns + options->seed;
	struct cycle cycle = { .due_ns = port_timer_next_ns(timer, from_ns) };

	for (uint32_t number = 0; number < options->iterations; number++) {
		TRY(port_semaphore_wait(&loop->room));
		for (uint64_t now_ns = port_now_ns(); cycle.due_ns <= now_ns; cycle.due_ns += options->interval_ns)
			loop->skipped++;
		TRY(port_timer_wait(timer, cycle.due_ns));
		if (port_now_ns() < cycle.due_ns) {
			loop->run->complaint = "woken before the time: the clock stepped back, or the timer is early";
			return PORT_FAILED;
		}
		cycle.handed_ns = cycle.due_ns;
		TRY(hand_on(stage, number, &cycle, work_on(stage, &cycle)));
		cycle.due_ns += options->interval_ns;
	}
	return PORT_OK;
}

static void over(struct loop *loop)
{
	if (loop->ended)
		shared_set32(loop->ended, 1);
}

static void cancel(struct loop *loop)
{
	shared_set32(&loop->cancelled, 1);
	for (unsigned int i = 1; i < STAGES; i++)
		port_semaphore_post(&loop->stages[i].go);
	over(loop);
}

static void calibrate(struct loop *loop)
{
	struct work *works[STAGES];

	for (unsigned int i = 0; i < STAGES; i++)
		works[i] = &loop->stages[i].work;
	work_calibrate(works, STAGES);
	for (unsigned int i = 0; i < STAGES; i++)
		loop->stages[i].rounds = work_rounds(works[i], budget_ns(loop, i));
}

static enum port_status play_sensor(void *state)
{
	struct stage *stage = state;
	struct loop *loop = stage->loop;
	enum port_status status;
	struct port_timer timer;

	status = port_timer_open(&timer, loop->path);
	if (status == PORT_OK) {
		calibrate(loop);
		status = sense(stage, &timer);
		port_timer_close(&timer);
	}
	if (status != PORT_OK)
		cancel(loop);
	return status;
}

static enum port_status play_stage(void *state)
{
	struct stage *stage = state;
	struct loop *loop = stage->loop;

	for (uint32_t number = 0; number < loop->run->options->iterations; number++) {
		struct cycle *cycle = &stage->cycles[number % UNDER_WAY];
		uint64_t done_ns;

		TRY(port_semaphore_wait(&stage->go));
		if (shared_get32(&loop->cancelled))
			return PORT_OK;
		done_ns = work_on(stage, cycle);
		if (stage->number < STAGES - 1) {
			TRY(hand_on(stage, number, cycle, done_ns));
			continue;
		}
		series_add(loop->end_to_end, done_ns - cycle->due_ns);
		if (done_ns - cycle->due_ns > loop->run->options->interval_ns)
			loop->missed++;
		TRY(port_semaphore_post(&loop->room));
	}
	if (stage->number == STAGES - 1)
		over(loop);
	return PORT_OK;
}

static enum port_status open_stage(struct loop *loop, unsigned int number, uint32_t words)
{
	struct stage *stage = &loop->stages[number];
	const uint32_t iterations = loop->run->options->iterations;

	stage->loop = loop;
	stage->number = number;
	stage->start = run_series(loop->run, stage_facts[number].start, "ns", iterations);
	stage->response = run_series(loop->run, stage_facts[number].response, "ns", iterations);
	if (!stage->start || !stage->response)
		return PORT_FULL;
	run_fact(loop->run, stage_facts[number].budget, "ns", budget_ns(loop, number));
	TRY(work_open(loop->run, &stage->work, words));
	return port_semaphore_open(&stage->go, 0);
}

static enum port_status open_loop(struct loop *loop, uint32_t words)
{
	loop->end_to_end = run_series(loop->run, "end to end", "ns", loop->run->options->iterations);
	if (!loop->end_to_end)
		return PORT_FULL;
	loop->skipped = 0;
	loop->missed = 0;
	loop->cancelled = 0;
	TRY(port_semaphore_open(&loop->room, UNDER_WAY));
	for (unsigned int i = 0; i < STAGES; i++)
		TRY(open_stage(loop, i, words));
	return PORT_OK;
}

enum port_status loop_measure(struct run *run, enum port_path path, uint32_t words, const struct role *others,
			      unsigned int other_count, uint32_t *ended)
{
	struct loop *loop = run_memory(run, sizeof(*loop));
	struct role roles[STAGES + LOOP_OTHERS_MOST];
	enum port_status status;

	if (!loop)
		return PORT_FULL;
	loop->run = run;
	loop->path = path;
	loop->ended = ended;
	TRY(open_loop(loop, words));
	for (unsigned int i = 0; i < STAGES; i++)
		roles[i] = (struct role){ "loop", stage_facts[i].priority, run->options->cpu,
					  i ? play_stage : play_sensor, &loop->stages[i] };
	for (unsigned int i = 0; i < other_count; i++)
		roles[STAGES + i] = others[i];
	status = team_run(run, roles, STAGES + other_count);
	for (unsigned int i = 0; i < STAGES; i++)
		port_semaphore_close(&loop->stages[i].go);
	port_semaphore_close(&loop->room);
	run_fact(run, "deadline misses", "1", loop->missed);
	run_fact(run, "skipped periods", "1", loop->skipped);
	return status;
}

static enum port_status measure(struct run *run, enum port_path path)
{
	return loop_measure(run, path, SMALL_WORDS, NULL, 0, NULL);
}

static enum port_status measure_sleep(struct run *run)
{
	return measure(run, PORT_PATH_SLEEP);
}

static enum port_status measure_hard(struct run *run)
{
	return measure(run, PORT_PATH_HARD_TIMER);
}

static enum port_status measure_soft(struct run *run)
{
	return measure(run, PORT_PATH_SOFT_TIMER);
}

static enum port_status measure_network(struct run *run)
{
	return measure(run, PORT_PATH_NETWORK);
}

static enum port_status measure_futex(struct run *run)
{
	return measure(run, PORT_PATH_FUTEX);
}

const struct benchmark loop_benchmarks[] = {
	{ "loop by sleep", measure_sleep },
	{ "loop by hard timer", measure_hard },
	{ "loop by soft timer", measure_soft },
	{ "loop by network", measure_network },
	{ "loop by futex", measure_futex },
	{ "asleep", asleep_measure },
	{ 0 },
};

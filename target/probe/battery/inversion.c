// SPDX-License-Identifier: MIT
/*
 * Priority inversion: how long a high thread waits for a lock that a low one holds, while a middle one wants to run.
 * With priority inheritance that is the rest of the critical section; without, the middle thread's work comes on top.
 * The lock without inheritance is a semaphore, since no system lends a semaphore's priority.
 */
#include "battery/primitives.h"
#include "battery/rest.h"
#include "battery/team.h"
#include "battery/work.h"

enum { SECTION_NS = 50000, MIDDLE_NS = 200000, WORK_WORDS = 256 };

struct inversion {
	struct run *run;
	struct series *waited; /* ns */
	bool inherits;
	struct port_mutex mutex;
	struct port_semaphore lock;
	struct port_semaphore ready, high, middle;
	struct work low_work, middle_work;
	uint32_t middle_rounds; /* set by the low thread before it wakes the others */
};

static enum port_status acquire(struct inversion *inversion)
{
	return inversion->inherits ? port_mutex_lock(&inversion->mutex) : port_semaphore_wait(&inversion->lock);
}

static enum port_status release(struct inversion *inversion)
{
	return inversion->inherits ? port_mutex_unlock(&inversion->mutex) : port_semaphore_post(&inversion->lock);
}

/* All threads go round once more than there are samples: the first round looks at the priority, which may take long. */
static uint32_t rounds_of(const struct inversion *inversion)
{
	return inversion->run->options->iterations + 1;
}

/* The low thread holds the lock whenever this thread is woken. */
static enum port_status play_high(void *state)
{
	struct inversion *inversion = state;

	TRY(port_semaphore_post(&inversion->ready));
	for (uint32_t i = 0; i < rounds_of(inversion); i++) {
		enum port_status status;
		uint64_t from_ns, to_ns;

		TRY(port_semaphore_wait(&inversion->high));
		TRY(port_semaphore_post(&inversion->middle));
		from_ns = port_now_ns();
		status = acquire(inversion);
		to_ns = port_now_ns();
		TRY(status);
		if (i)
			series_add(inversion->waited, to_ns - from_ns);
		TRY(release(inversion));
	}
	return PORT_OK;
}

static enum port_status play_middle(void *state)
{
	struct inversion *inversion = state;

	TRY(port_semaphore_post(&inversion->ready));
	for (uint32_t i = 0; i < rounds_of(inversion); i++) {
		TRY(port_semaphore_wait(&inversion->middle));
		work_do(&inversion->middle_work, inversion->middle_rounds);
	}
	return PORT_OK;
}

/* Which priority does this thread have while the high thread waits? */
static void note_priority(struct run *run)
{
	enum port_priority priority = PORT_LOW;

	if (port_priority_now(&priority) == PORT_OK)
		run_fact(run, "priority in the section", "1", priority);
}

static enum port_status play_low(void *state)
{
	struct inversion *inversion = state;
	struct work *const works[] = { &inversion->low_work, &inversion->middle_work };
	uint32_t rounds;
	struct rest rest;

	work_calibrate(works, 2);
	rounds = work_rounds(works[0], SECTION_NS);
	inversion->middle_rounds = work_rounds(works[1], MIDDLE_NS);
	TRY(rest_open(&rest));
	TRY(port_semaphore_wait(&inversion->ready));
	TRY(port_semaphore_wait(&inversion->ready));
	for (uint32_t i = 0; i < rounds_of(inversion); i++) {
		TRY(acquire(inversion));
		TRY(port_semaphore_post(&inversion->high));
		work_do(&inversion->low_work, rounds);
		if (!i)
			note_priority(inversion->run);
		TRY(release(inversion));
		TRY(rest_after(&rest, i));
	}
	rest_close(&rest);
	return PORT_OK;
}

static enum port_status open_inversion(struct run *run, struct inversion *inversion, bool inherits)
{
	inversion->run = run;
	inversion->inherits = inherits;
	inversion->waited = run_series(run, "high waits", "ns", run->options->iterations);
	if (!inversion->waited)
		return PORT_FULL;
	TRY(work_open(run, &inversion->low_work, WORK_WORDS));
	TRY(work_open(run, &inversion->middle_work, WORK_WORDS));
	TRY(port_semaphore_open(&inversion->lock, 1));
	TRY(port_semaphore_open(&inversion->ready, 0));
	TRY(port_semaphore_open(&inversion->high, 0));
	TRY(port_semaphore_open(&inversion->middle, 0));
	run_fact(run, "critical section", "ns", SECTION_NS);
	run_fact(run, "middle's work", "ns", MIDDLE_NS);
	return inherits ? port_mutex_open(&inversion->mutex) : PORT_OK;
}

static void close_inversion(struct inversion *inversion)
{
	if (inversion->inherits)
		port_mutex_close(&inversion->mutex);
	port_semaphore_close(&inversion->middle);
	port_semaphore_close(&inversion->high);
	port_semaphore_close(&inversion->ready);
	port_semaphore_close(&inversion->lock);
}

static enum port_status measure(struct run *run, bool inherits)
{
	struct inversion *inversion = run_memory(run, sizeof(*inversion));
	const struct role roles[] = {
		{ "high", PORT_HIGH, run->options->cpu, play_high, inversion },
		{ "middle", PORT_MIDDLE, run->options->cpu, play_middle, inversion },
		{ "low", PORT_LOW, run->options->cpu, play_low, inversion },
	};
	enum port_status status;

	if (!inversion)
		return PORT_FULL;
	TRY(open_inversion(run, inversion, inherits));
	status = team_run(run, roles, 3);
	close_inversion(inversion);
	return status;
}

enum port_status primitive_inversion_with_pi(struct run *run)
{
	return measure(run, true);
}

enum port_status primitive_inversion_without_pi(struct run *run)
{
	return measure(run, false);
}

// SPDX-License-Identifier: MIT
/*
 * The wake-up, and the semaphore once an interval, while other threads work. The load asks for the port's contract
 * alone, so it is the same on every system: below all that is measured one thread passes another messages, as
 * hackbench's do, and at the middle priority one walks through memory for some quarter of the time, at times that no
 * period meets.
 */
#include "battery/loaded.h"
#include "battery/asleep.h"
#include "battery/primitives.h"
#include "battery/rest.h"
#include "battery/team.h"
#include "battery/wakeup.h"
#include "battery/work.h"

enum { WALK_EVERY_NS = 1000000, WALK_NS = 300000, WALK_WORDS = 16 * 1024, MESSAGE_WORDS = 16 };

enum { GO_ON, LAST };

struct load {
	struct run *run;
	struct port_queue queue;
	struct work walk;
	uint32_t ended; /* set by main */
	uint32_t messages, walks; /* done so far */
};

struct loader {
	struct port_thread thread;
	struct load *load;
	enum port_status (*play)(struct load *load);
	enum port_status status;
};

/* A period of its own would meet what is measured at the same place every time. */
static uint64_t next_walk_ns(const struct load *load, const struct port_timer *timer)
{
	const uint32_t anywhere_ns = load->walk.state >> 12; /* up to 1,048,575 */

	return port_timer_next_ns(timer, port_now_ns() + WALK_EVERY_NS / 4 + anywhere_ns);
}

static enum port_status play_walk(struct load *load)
{
	struct work *const works[] = { &load->walk };
	enum port_status status = PORT_OK;
	struct port_timer timer;
	uint64_t due_ns;
	uint32_t rounds;

	work_calibrate(works, 1);
	rounds = work_rounds(&load->walk, WALK_NS);
	TRY(port_timer_open(&timer, PORT_PATH_SLEEP));
	due_ns = next_walk_ns(load, &timer);
	while (status == PORT_OK && !shared_get32(&load->ended)) {
		status = port_timer_wait(&timer, due_ns);
		work_do(&load->walk, rounds);
		shared_set32(&load->walks, load->walks + 1);
		due_ns = next_walk_ns(load, &timer);
	}
	port_timer_close(&timer);
	return status;
}

static enum port_status play_receiver(struct load *load)
{
	uint32_t message[MESSAGE_WORDS];

	do
		TRY(port_queue_receive(&load->queue, message));
	while (message[0] == GO_ON);
	return PORT_OK;
}

static enum port_status send_all(struct load *load, struct rest *rest)
{
	uint32_t message[MESSAGE_WORDS] = { GO_ON };

	while (!shared_get32(&load->ended)) {
		enum port_status status = port_queue_send(&load->queue, message);

		if (status == PORT_FULL) { /* some systems refuse in place of waiting */
			port_yield();
			continue;
		}
		TRY(status);
		TRY(rest_after(rest, load->messages));
		shared_set32(&load->messages, load->messages + 1);
	}
	return PORT_OK;
}

static enum port_status play_sender(struct load *load)
{
	const uint32_t last[MESSAGE_WORDS] = { LAST };
	enum port_status status, ended;
	struct rest rest;

	status = rest_open(&rest);
	if (status == PORT_OK) {
		status = send_all(load, &rest);
		rest_close(&rest);
	}
	/* Without it the receiver waits for ever. */
	while ((ended = port_queue_send(&load->queue, last)) == PORT_FULL)
		port_yield();
	return status != PORT_OK ? status : ended;
}

static void loader_main(void *argument)
{
	struct loader *loader = argument;

	loader->status = loader->play(loader->load);
}

/* The sender is the last: what it needs is there. */
static const struct {
	const char *name;
	enum port_priority priority;
	enum port_status (*play)(struct load *load);
} loaders_of[] = {
	{ "walk", PORT_MIDDLE, play_walk },
	{ "receiver", PORT_LOW, play_receiver },
	{ "sender", PORT_LOW, play_sender },
};

enum { LOADERS = sizeof(loaders_of) / sizeof(*loaders_of) };

static enum port_status start(struct loader *loaders, struct load *load)
{
	for (unsigned int i = 0; i < LOADERS; i++) {
		loaders[i].load = load;
		loaders[i].play = loaders_of[i].play;
		loaders[i].status = PORT_OK;
		TRY(port_thread_start(&loaders[i].thread, loaders_of[i].name, loaders_of[i].priority,
				      load->run->options->cpu, loader_main, &loaders[i]));
	}
	return PORT_OK;
}

static enum port_status stop(struct loader *loaders, struct load *load)
{
	enum port_status status = PORT_OK;

	shared_set32(&load->ended, 1);
	for (unsigned int i = 0; i < LOADERS; i++) {
		enum port_status ended = port_thread_join(&loaders[i].thread);

		if (status == PORT_OK)
			status = ended != PORT_OK ? ended : loaders[i].status;
	}
	return status;
}

static enum port_status measure_loaded(struct run *run, enum port_status (*measure)(struct run *run))
{
	struct load *load = run_memory(run, sizeof(*load));
	struct loader *loaders = run_memory(run, LOADERS * sizeof(*loaders));
	enum port_status status, ended;

	if (!load || !loaders)
		return PORT_FULL;
	load->run = run;
	load->ended = load->messages = load->walks = 0;
	TRY(work_open(run, &load->walk, WALK_WORDS));
	TRY(port_queue_open(&load->queue, PORT_DEPTH, sizeof(uint32_t[MESSAGE_WORDS])));
	TRY(start(loaders, load)); /* what one of them cannot have ends the run, and these threads with it */
	status = measure(run);
	run_fact(run, "load's messages", "1", shared_get32(&load->messages));
	run_fact(run, "load's walks", "1", shared_get32(&load->walks));
	ended = stop(loaders, load);
	port_queue_close(&load->queue);
	return status != PORT_OK ? status : ended;
}

static enum port_status wakeup_loaded(struct run *run)
{
	return measure_loaded(run, wakeup_measure);
}

static enum port_status semaphore_loaded(struct run *run)
{
	return measure_loaded(run, primitive_sem_workload);
}

const struct benchmark loaded_benchmarks[] = {
	{ "empty", primitive_empty },
	{ "wake-up under load", wakeup_loaded },
	{ "sem workload under load", semaphore_loaded },
	{ "asleep", asleep_measure }, /* without the load: does a sleep poll? */
	{ 0 },
};

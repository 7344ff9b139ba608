// SPDX-License-Identifier: MIT
/*
 * The rows "... workload": as the row "... unblock", but before each sample the sender sleeps, while lower threads work
 * and become ready again. Every other period two threads of equal priority yield in the same situation: the context
 * switch's part of the row's time.
 *
 * RTOSBench's workers never stop, for 10 ms between samples. Ours take a quarter of each interval in total, since Linux
 * does not let real-time threads occupy a CPU fully (see rest.h).
 */
#include "battery/primitives.h"
#include "battery/team.h"
#include "battery/work.h"

enum { WORKERS = 4, WORK_WORDS = 1024, PIECES = 8, SHARE = 4 };

struct workload {
	const struct options *options;
	struct series *time, *context_switch; /* cycles */
	uint64_t stamp;
	uint32_t stopped;
	struct port_semaphore ready; /* the receiver and the peer are about to wait */
	struct port_semaphore work_to_do, peer, auxiliary;
	struct work work[WORKERS];
	uint32_t rounds; /* of one worker in one interval */
	union {
		struct port_semaphore semaphore;
		struct port_queue queue;
		struct port_mutex mutex;
	} object;
};

/* Each mechanism has its own plays, so that no call through a pointer is measured. */
struct mechanism {
	enum port_status (*open)(struct workload *workload);
	void (*close)(struct workload *workload);
	enum port_status (*receive)(void *workload);
	enum port_status (*send)(void *workload);
};

#define SHAPE static inline __attribute__((always_inline)) enum port_status
typedef enum port_status (*operation)(struct workload *workload);

static enum port_status wait_period(struct workload *workload, struct port_timer *timer, uint64_t *due_ns)
{
	enum port_status status = port_timer_wait(timer, *due_ns);

	do
		*due_ns += workload->options->interval_ns;
	while (*due_ns <= port_now_ns());
	for (unsigned int i = 0; i < WORKERS && status == PORT_OK; i++)
		status = port_semaphore_post(&workload->work_to_do);
	return status;
}

static enum port_status give_turn(struct workload *workload)
{
	TRY(port_semaphore_post(&workload->peer));
	port_yield(); /* until the peer is in its yield */
	shared_set(&workload->stamp, port_cycles());
	port_yield();
	return PORT_OK;
}

static void calibrate(struct workload *workload)
{
	struct work *works[WORKERS];

	for (unsigned int i = 0; i < WORKERS; i++)
		works[i] = &workload->work[i];
	work_calibrate(works, WORKERS);
	workload->rounds = work_rounds(works[0], port_divide(workload->options->interval_ns, SHARE * WORKERS * PIECES));
}

SHAPE send_all(struct workload *workload, operation prepare, operation signal)
{
	struct port_timer timer;
	uint64_t due_ns;

	calibrate(workload);
	TRY(port_timer_open(&timer, PORT_PATH_SLEEP));
	TRY(port_semaphore_wait(&workload->ready));
	TRY(port_semaphore_wait(&workload->ready));
	due_ns = port_timer_next_ns(&timer, port_now_ns() + workload->options->interval_ns + workload->options->seed);
	for (uint32_t i = 0; i < workload->options->iterations; i++) {
		TRY(wait_period(workload, &timer, &due_ns));
		TRY(prepare(workload));
		shared_set(&workload->stamp, port_cycles());
		TRY(signal(workload));
		TRY(wait_period(workload, &timer, &due_ns));
		TRY(give_turn(workload));
	}
	port_timer_close(&timer);
	shared_set32(&workload->stopped, 1);
	for (unsigned int i = 0; i < WORKERS; i++)
		TRY(port_semaphore_post(&workload->work_to_do));
	return PORT_OK;
}

SHAPE receive_all(struct workload *workload, operation before, operation receive, operation after)
{
	TRY(port_semaphore_post(&workload->ready));
	for (uint32_t i = 0; i < workload->options->iterations; i++) {
		enum port_status status;
		uint64_t now;

		TRY(before(workload));
		status = receive(workload);
		now = port_cycles();
		TRY(status);
		series_add(workload->time, now - shared_get(&workload->stamp));
		TRY(after(workload));
	}
	return PORT_OK;
}

static enum port_status play_peer(void *state)
{
	struct workload *workload = state;

	TRY(port_semaphore_post(&workload->ready));
	for (uint32_t i = 0; i < workload->options->iterations; i++) {
		uint64_t now;

		TRY(port_semaphore_wait(&workload->peer));
		port_yield();
		now = port_cycles();
		series_add(workload->context_switch, now - shared_get(&workload->stamp));
	}
	return PORT_OK;
}

struct worker {
	struct workload *workload;
	struct work *work;
};

static enum port_status play_worker(void *state)
{
	struct worker *worker = state;
	struct workload *workload = worker->workload;

	for (;;) {
		TRY(port_semaphore_wait(&workload->work_to_do));
		if (shared_get32(&workload->stopped))
			return PORT_OK;
		for (int i = 0; i < PIECES; i++) {
			work_do(worker->work, workload->rounds);
			port_yield();
		}
	}
}

static enum port_status nothing(struct workload *workload)
{
	(void)workload;
	return PORT_OK;
}

static enum port_status open_queue(struct workload *workload)
{
	return port_queue_open(&workload->object.queue, 2, sizeof(uint32_t));
}

static void close_queue(struct workload *workload)
{
	port_queue_close(&workload->object.queue);
}

static enum port_status put(struct workload *workload)
{
	const uint32_t message = 1;

	return port_queue_send(&workload->object.queue, &message);
}

static enum port_status get(struct workload *workload)
{
	uint32_t message;

	return port_queue_receive(&workload->object.queue, &message);
}

static enum port_status receive_message(void *workload)
{
	return receive_all(workload, nothing, get, nothing);
}

static enum port_status send_message(void *workload)
{
	return send_all(workload, nothing, put);
}

static enum port_status open_semaphore(struct workload *workload)
{
	return port_semaphore_open(&workload->object.semaphore, 0);
}

static void close_semaphore(struct workload *workload)
{
	port_semaphore_close(&workload->object.semaphore);
}

static enum port_status give(struct workload *workload)
{
	return port_semaphore_post(&workload->object.semaphore);
}

static enum port_status take(struct workload *workload)
{
	return port_semaphore_wait(&workload->object.semaphore);
}

static enum port_status take_semaphore(void *workload)
{
	return receive_all(workload, nothing, take, nothing);
}

static enum port_status give_semaphore(void *workload)
{
	return send_all(workload, nothing, give);
}

static enum port_status open_mutex(struct workload *workload)
{
	return port_mutex_open(&workload->object.mutex);
}

static void close_mutex(struct workload *workload)
{
	port_mutex_close(&workload->object.mutex);
}

static enum port_status acquire(struct workload *workload)
{
	return port_mutex_lock(&workload->object.mutex);
}

static enum port_status release(struct workload *workload)
{
	return port_mutex_unlock(&workload->object.mutex);
}

static enum port_status await_owner(struct workload *workload)
{
	return port_semaphore_wait(&workload->auxiliary);
}

/* Own the mutex and have the receiver wait for it. */
static enum port_status own(struct workload *workload)
{
	TRY(acquire(workload));
	return port_semaphore_post(&workload->auxiliary);
}

static enum port_status take_mutex(void *workload)
{
	return receive_all(workload, await_owner, acquire, release);
}

static enum port_status give_mutex(void *workload)
{
	return send_all(workload, own, release);
}

static enum port_status open_workload(struct run *run, struct workload *workload)
{
	workload->options = run->options;
	workload->time = run_series(run, "time", "cycles", run->options->iterations);
	workload->context_switch = run_series(run, "context switch", "cycles", run->options->iterations);
	if (!workload->time || !workload->context_switch)
		return PORT_FULL;
	workload->stamp = 0;
	workload->stopped = 0;
	for (unsigned int i = 0; i < WORKERS; i++)
		TRY(work_open(run, &workload->work[i], WORK_WORDS));
	TRY(port_semaphore_open(&workload->ready, 0));
	TRY(port_semaphore_open(&workload->work_to_do, 0));
	TRY(port_semaphore_open(&workload->peer, 0));
	return port_semaphore_open(&workload->auxiliary, 0);
}

static void close_workload(struct workload *workload)
{
	port_semaphore_close(&workload->auxiliary);
	port_semaphore_close(&workload->peer);
	port_semaphore_close(&workload->work_to_do);
	port_semaphore_close(&workload->ready);
}

static enum port_status play_all(struct run *run, struct workload *workload, const struct mechanism *mechanism)
{
	const int cpu = run->options->cpu;
	struct worker workers[WORKERS];
	struct role roles[3 + WORKERS] = {
		{ "receiver", PORT_HIGH, cpu, mechanism->receive, workload },
		{ "sender", PORT_MIDDLE, cpu, mechanism->send, workload },
		{ "peer", PORT_MIDDLE, cpu, play_peer, workload },
	};

	for (unsigned int i = 0; i < WORKERS; i++) {
		workers[i] = (struct worker){ workload, &workload->work[i] };
		roles[3 + i] = (struct role){ "worker", PORT_LOW, cpu, play_worker, &workers[i] };
	}
	return team_run(run, roles, 3 + WORKERS);
}

static enum port_status measure(struct run *run, const struct mechanism *mechanism)
{
	struct workload *workload = run_memory(run, sizeof(*workload));
	enum port_status status;

	if (!workload)
		return PORT_FULL;
	TRY(open_workload(run, workload));
	status = mechanism->open(workload);
	if (status == PORT_OK) {
		status = play_all(run, workload, mechanism);
		mechanism->close(workload);
	}
	close_workload(workload);
	return status;
}

static const struct mechanism queue = { open_queue, close_queue, receive_message, send_message };
static const struct mechanism mutex = { open_mutex, close_mutex, take_mutex, give_mutex };
static const struct mechanism semaphore = { open_semaphore, close_semaphore, take_semaphore, give_semaphore };

enum port_status primitive_mq_workload(struct run *run)
{
	return measure(run, &queue);
}

enum port_status primitive_mutex_workload(struct run *run)
{
	return measure(run, &mutex);
}

enum port_status primitive_sem_workload(struct run *run)
{
	return measure(run, &semaphore);
}

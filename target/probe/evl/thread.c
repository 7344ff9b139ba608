// SPDX-License-Identifier: MIT
/* Threads of the EVL core, which refuse to run without their priority or CPU. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "evl_port.h"

enum { PATIENCE_S = 2 }; /* with threads that may still wait because another thread failed */

/* Shared by main, which starts and joins, and the threads; semaphores of the C library: main is no thread of EVL. */
static struct {
	sem_t checked; /* by the one thread that is being started */
	sem_t changed; /* a thread ended or failed */
	uint32_t failed;
} threads;

static _Thread_local const struct port_thread *self;

bool evl_linux_end(void)
{
	return self && self->priority < linux_priority(PORT_HIGH);
}

void linux_thread_failed(void)
{
	__atomic_store_n(&threads.failed, 1, __ATOMIC_RELAXED);
	sem_post(&threads.changed);
}

static void wait_without_end(sem_t *semaphore)
{
	while (sem_wait(semaphore) && errno == EINTR)
		;
}

static bool wait_patiently(sem_t *semaphore)
{
	struct timespec until = { 0 };

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += PATIENCE_S;
	while (sem_timedwait(semaphore, &until))
		if (errno != EINTR)
			return false;
	return true;
}

static enum port_status settle_cpu(int cpu)
{
	cpu_set_t set;
	char what[64];

	if (cpu == PORT_ANY_CPU)
		return PORT_OK;
	snprintf(what, sizeof(what), "CPU %d is none of those that this process may use", cpu);
	if (!linux_has_cpu(cpu))
		return linux_fail(PORT_DENIED, what, 0);
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) || sched_getaffinity(0, sizeof(set), &set) ||
	    CPU_COUNT(&set) != 1 || !CPU_ISSET((size_t)cpu, &set))
		return linux_fail(PORT_DENIED, "the thread did not get its CPU", 0);
	return PORT_OK;
}

/* EVL gives a thread that is attached the policy and priority that it has on Linux, and is asked for both. */
static enum port_status attach(const struct port_thread *thread)
{
	const struct sched_param wanted = { .sched_priority = thread->priority };
	struct evl_sched_attrs got = { 0 };
	enum port_status status = settle_cpu(thread->cpu);
	char what[96];
	int error;

	if (status != PORT_OK)
		return status;
	snprintf(what, sizeof(what), "SCHED_FIFO priority %d (be root, or raise RLIMIT_RTPRIO with ulimit -r)",
		 thread->priority);
	error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
	if (error)
		return linux_fail(PORT_DENIED, what, error);
	status = evl_status(evl_attach_thread(EVL_CLONE_PRIVATE, NULL), "evl_attach_thread");
	if (status == PORT_OK)
		status = evl_status(evl_get_schedattr(evl_get_self(), &got), "evl_get_schedattr");
	if (status == PORT_OK && (got.sched_policy != SCHED_FIFO || got.sched_priority != thread->priority))
		return linux_fail(PORT_DENIED, "the thread did not get its priority or policy on the core", 0);
	return status;
}

static void *thread_main(void *argument)
{
	struct port_thread *thread = argument;
	enum port_status status = attach(thread);

	self = thread;
	thread->status = status;
	sem_post(&threads.checked);
	if (status == PORT_OK) {
		/* That was Linux's call, perhaps, and a thread that only yields would never come back to the core. */
		evl_status(evl_switch_oob(), "evl_switch_oob");
		thread->entry(thread->argument);
	}
	evl_detach_self();
	__atomic_store_n(&thread->ended, 1, __ATOMIC_RELEASE);
	sem_post(&threads.changed);
	return NULL;
}

enum port_status port_thread_start(struct port_thread *thread, const char *name, enum port_priority priority, int cpu,
				   port_entry entry, void *argument)
{
	pthread_attr_t attributes;
	int error;

	thread->name = name;
	thread->priority = linux_priority(priority);
	thread->cpu = cpu;
	thread->entry = entry;
	thread->argument = argument;
	thread->ended = 0;
	__atomic_store_n(&threads.failed, 0, __ATOMIC_RELAXED);
	error = pthread_attr_init(&attributes);
	if (!error)
		error = pthread_attr_setstack(&attributes, thread->stack, sizeof(thread->stack));
	if (!error)
		error = pthread_create(&thread->id, &attributes, thread_main, thread);
	if (error)
		return linux_fail(PORT_FAILED, "starting a thread", error);
	pthread_attr_destroy(&attributes);
	wait_without_end(&threads.checked);
	if (thread->status != PORT_OK)
		pthread_join(thread->id, NULL);
	return (enum port_status)thread->status;
}

/* A thread that waits for a failed thread would wait forever, and so would we. */
enum port_status port_thread_join(struct port_thread *thread)
{
	while (!__atomic_load_n(&thread->ended, __ATOMIC_ACQUIRE)) {
		if (!__atomic_load_n(&threads.failed, __ATOMIC_RELAXED)) {
			wait_without_end(&threads.changed);
		} else if (!wait_patiently(&threads.changed)) {
			fprintf(stderr, "rtqual-probe: %s; thread %s waits in vain\n", port_failure(), thread->name);
			exit(3);
		}
	}
	pthread_join(thread->id, NULL);
	return PORT_OK;
}

/* What the core has, which is what a mutex lent. */
enum port_status port_priority_now(enum port_priority *priority)
{
	struct evl_thread_state state = { 0 };
	enum port_status status = evl_status(evl_get_state(evl_get_self(), &state), "evl_get_state");

	if (status != PORT_OK)
		return status;
	for (enum port_priority one = PORT_LOW; one <= PORT_HIGHEST; one++)
		if (linux_priority(one) == state.eattrs.sched_priority) {
			*priority = one;
			return PORT_OK;
		}
	return linux_fail(PORT_FAILED, "a priority that is none of ours", 0);
}

void port_yield(void)
{
	evl_yield(); /* fails only outside of EVL's threads */
}

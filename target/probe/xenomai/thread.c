// SPDX-License-Identifier: MIT
/* Alchemy's tasks, which refuse to run without their priority or CPU. */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "xenomai.h"

enum { STACK_BYTES = 128 * 1024, PATIENCE_S = 2 }; /* with tasks that may still wait because another task failed */

/* Shared by main, which starts and joins, and the tasks; semaphores of the C library: main is no task of Alchemy. */
static struct {
	sem_t checked; /* by the one task that is being started */
	sem_t changed; /* a task ended or failed */
	uint32_t failed;
} tasks;

static _Thread_local const struct port_thread *self;

bool xenomai_linux_end(void)
{
	return self && self->priority < linux_priority(PORT_HIGH);
}

void linux_thread_failed(void)
{
	__atomic_store_n(&tasks.failed, 1, __ATOMIC_RELAXED);
	sem_post(&tasks.changed);
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

/* Checked with the kernel: where a priority is denied, Mercury starts the task all the same. */
static enum port_status check(const struct port_thread *thread)
{
	struct sched_param got = { 0 };
	cpu_set_t cpus;
	char what[96];

	if (syscall(SYS_sched_getscheduler, 0) != SCHED_FIFO || syscall(SYS_sched_getparam, 0, &got) ||
	    got.sched_priority != thread->priority) {
		snprintf(what, sizeof(what),
			 "the task did not get priority %d (be root, or raise RLIMIT_RTPRIO with "
			 "ulimit -r)",
			 thread->priority);
		return linux_fail(PORT_DENIED, what, 0);
	}
	if (thread->cpu != PORT_ANY_CPU && (sched_getaffinity(0, sizeof(cpus), &cpus) || CPU_COUNT(&cpus) != 1 ||
					    !CPU_ISSET((size_t)thread->cpu, &cpus)))
		return linux_fail(PORT_DENIED, "the task did not get its CPU", 0);
	return PORT_OK;
}

/*
 * What was checked took Linux's calls, after which Cobalt leaves a task to Linux until it calls Cobalt and must wait: a
 * task that only yields would never come back. Over Mercury there is nothing to come back to.
 */
static enum port_status back_to_the_core(void)
{
	return xenomai_status(rt_task_set_mode(0, T_CONFORMING, NULL), "rt_task_set_mode");
}

static void task_main(void *argument)
{
	struct port_thread *thread = argument;

	self = thread;
	thread->status = check(thread);
	sem_post(&tasks.checked);
	if (thread->status == PORT_OK && back_to_the_core() != PORT_OK)
		linux_thread_failed();
	if (thread->status == PORT_OK)
		thread->entry(thread->argument);
	__atomic_store_n(&thread->ended, 1, __ATOMIC_RELEASE);
	sem_post(&tasks.changed);
}

static enum port_status settle_cpu(struct port_thread *thread)
{
	cpu_set_t cpus;
	char what[80];

	if (thread->cpu == PORT_ANY_CPU)
		return PORT_OK;
	CPU_ZERO(&cpus);
	CPU_SET((size_t)thread->cpu, &cpus);
	snprintf(what, sizeof(what), "rt_task_set_affinity to CPU %d", thread->cpu);
	return xenomai_status(rt_task_set_affinity(&thread->task, &cpus), what);
}

static enum port_status create(struct port_thread *thread)
{
	char what[80];
	int result;

	if (thread->cpu != PORT_ANY_CPU && !linux_has_cpu(thread->cpu)) {
		snprintf(what, sizeof(what), "CPU %d is none of those that this process may use", thread->cpu);
		return linux_fail(PORT_DENIED, what, 0);
	}
	/* Without a name, since names are unique and those of the battery's threads are not. */
	result = rt_task_create(&thread->task, NULL, STACK_BYTES, thread->priority, T_JOINABLE);
	if (!result)
		return PORT_OK;
	return linux_fail(result == -EPERM ? PORT_DENIED : PORT_FAILED, "rt_task_create", -result);
}

enum port_status xenomai_thread_start(struct port_thread *thread, const char *name, int priority, int cpu,
				      port_entry entry, void *argument)
{
	enum port_status status;

	*thread = (struct port_thread){
		.name = name, .priority = priority, .cpu = cpu, .entry = entry, .argument = argument
	};
	__atomic_store_n(&tasks.failed, 0, __ATOMIC_RELAXED);
	status = create(thread);
	if (status != PORT_OK)
		return status;
	status = settle_cpu(thread);
	if (status == PORT_OK)
		status = xenomai_status(rt_task_start(&thread->task, task_main, thread), "rt_task_start");
	if (status != PORT_OK) {
		rt_task_delete(&thread->task);
		return status;
	}
	wait_without_end(&tasks.checked);
	if (thread->status != PORT_OK)
		rt_task_join(&thread->task);
	return (enum port_status)thread->status;
}

enum port_status port_thread_start(struct port_thread *thread, const char *name, enum port_priority priority, int cpu,
				   port_entry entry, void *argument)
{
	return xenomai_thread_start(thread, name, linux_priority(priority), cpu, entry, argument);
}

/* A task that waits for a failed task would wait forever, and so would we. */
enum port_status port_thread_join(struct port_thread *thread)
{
	while (!__atomic_load_n(&thread->ended, __ATOMIC_ACQUIRE)) {
		if (!__atomic_load_n(&tasks.failed, __ATOMIC_RELAXED)) {
			wait_without_end(&tasks.changed);
		} else if (!wait_patiently(&tasks.changed)) {
			fprintf(stderr, "rtqual-probe: %s; thread %s waits in vain\n", port_failure(), thread->name);
			exit(3);
		}
	}
	return xenomai_status(rt_task_join(&thread->task), "rt_task_join");
}

/* rt_task_inquire() gives the priority that a task was created with, not a priority that it was lent. */
enum port_status port_priority_now(enum port_priority *priority)
{
	(void)priority;
	return linux_fail(PORT_NOT_OFFERED, "Alchemy does not tell the priority that a task was lent", 0);
}

#ifdef __COBALT__

/*
 * Cobalt's yield first moves the caller behind its equals and then switches. An interrupt in between switches on its way
 * out; the yield, back, finds nothing left to switch, takes it that only Linux has work, and sleeps until Linux switches
 * tasks or a tick has passed. Whoever yields to a task that sleeps so is back at once, out of turn, and yields again: until
 * one of those that were in their yields has left it.
 */
void port_yield(void)
{
	static uint32_t entered, left;
	const uint32_t left_before = __atomic_load_n(&left, __ATOMIC_RELAXED);
	const bool others = __atomic_load_n(&entered, __ATOMIC_RELAXED) != left_before;

	__atomic_fetch_add(&entered, 1, __ATOMIC_RELAXED);
	do
		rt_task_yield(); /* fails only outside of tasks */
	while (others && __atomic_load_n(&left, __ATOMIC_RELAXED) == left_before);
	__atomic_fetch_add(&left, 1, __ATOMIC_RELAXED);
}

#else

void port_yield(void)
{
	rt_task_yield(); /* fails only outside of tasks */
}

#endif

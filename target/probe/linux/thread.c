// SPDX-License-Identifier: MIT
/* Threads under SCHED_FIFO that refuse to run otherwise. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <sys/rseq.h>
#endif

#include "linux.h"

enum { PATIENCE_S = 2 }; /* with threads that may still wait because another thread failed */

/* Shared by main, which joins, and the threads that end or fail. */
static struct {
	struct port_semaphore changed;
	uint32_t failed;
} threads;

void linux_thread_failed(void)
{
	__atomic_store_n(&threads.failed, 1, __ATOMIC_RELAXED);
	port_semaphore_post(&threads.changed);
}

static enum port_status settle_cpu(int cpu)
{
	cpu_set_t set;
	char what[64];

	if (cpu == PORT_ANY_CPU)
		return PORT_OK;
	if (!linux_has_cpu(cpu)) {
		snprintf(what, sizeof(what), "CPU %d is none of those that this process may use", cpu);
		return linux_fail(PORT_DENIED, what, 0);
	}
	snprintf(what, sizeof(what), "CPU %d", cpu);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		return linux_fail(PORT_DENIED, what, errno);
	if (sched_getaffinity(0, sizeof(set), &set) || CPU_COUNT(&set) != 1 || !CPU_ISSET(cpu, &set))
		return linux_fail(PORT_DENIED, "the thread did not get its CPU", 0);
	return PORT_OK;
}

/* By system calls: musl's functions for this return ENOSYS, glibc's may answer from memory. */
static enum port_status settle_priority(int priority)
{
	struct sched_param wanted = { .sched_priority = priority }, got = { 0 };
	char what[96];

	snprintf(what, sizeof(what), "SCHED_FIFO priority %d (be root, or raise RLIMIT_RTPRIO with ulimit -r)",
		 priority);
	if (syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &wanted))
		return linux_fail(PORT_DENIED, what, errno);
	if ((syscall(SYS_sched_getscheduler, 0) & ~SCHED_RESET_ON_FORK) != SCHED_FIFO ||
	    syscall(SYS_sched_getparam, 0, &got) || got.sched_priority != priority)
		return linux_fail(PORT_DENIED, "the thread did not get its priority or policy", 0);
	return PORT_OK;
}

/*
 * glibc registers each thread for restartable sequences, which the kernel then sees to whenever the thread comes back
 * from a switch: some 170 instructions of every wake-up that glibc wants and the system does not need. musl does not
 * register.
 */
static void leave_restartable_sequences(void)
{
#ifdef __GLIBC__
	/* If the kernel has no restartable sequences, or glibc does not use them, there is nothing to unregister. */
	syscall(SYS_rseq, (char *)__builtin_thread_pointer() + __rseq_offset, sizeof(struct rseq), RSEQ_FLAG_UNREGISTER,
		RSEQ_SIG);
#endif
}

static void *thread_main(void *argument)
{
	struct port_thread *thread = argument;
	enum port_status status = settle_cpu(thread->cpu);

	if (status == PORT_OK)
		status = settle_priority(thread->priority);
	leave_restartable_sequences();
	prctl(PR_SET_NAME, thread->name); /* for people who look; nothing depends on it */
	thread->status = status;
	port_semaphore_post(&thread->checked);
	if (status == PORT_OK)
		thread->entry(thread->argument);
	__atomic_store_n(&thread->ended, 1, __ATOMIC_RELEASE);
	port_semaphore_post(&threads.changed);
	return NULL;
}

enum port_status linux_thread_start(struct port_thread *thread, const char *name, int priority, int cpu,
				    port_entry entry, void *argument)
{
	pthread_attr_t attributes;
	int error;

	thread->name = name;
	thread->priority = priority;
	thread->cpu = cpu;
	thread->entry = entry;
	thread->argument = argument;
	thread->ended = 0;
	__atomic_store_n(&threads.failed, 0, __ATOMIC_RELAXED);
	port_semaphore_open(&thread->checked, 0);
	error = pthread_attr_init(&attributes);
	if (!error)
		error = pthread_attr_setstack(&attributes, thread->stack, sizeof(thread->stack));
	if (!error)
		error = pthread_create(&thread->id, &attributes, thread_main, thread);
	if (error)
		return linux_fail(PORT_FAILED, "starting a thread", error);
	pthread_attr_destroy(&attributes);
	port_semaphore_wait(&thread->checked);
	if (thread->status != PORT_OK)
		pthread_join(thread->id, NULL);
	return (enum port_status)thread->status;
}

enum port_status port_thread_start(struct port_thread *thread, const char *name, enum port_priority priority, int cpu,
				   port_entry entry, void *argument)
{
	return linux_thread_start(thread, name, linux_priority(priority), cpu, entry, argument);
}

/* A thread that waits for a failed thread would wait forever, and so would we. */
enum port_status port_thread_join(struct port_thread *thread)
{
	while (!__atomic_load_n(&thread->ended, __ATOMIC_ACQUIRE)) {
		if (!__atomic_load_n(&threads.failed, __ATOMIC_RELAXED)) {
			port_semaphore_wait(&threads.changed);
		} else if (!linux_semaphore_wait_s(&threads.changed, PATIENCE_S)) {
			fprintf(stderr, "rtqual-probe: %s; thread %s waits in vain\n", port_failure(), thread->name);
			exit(3);
		}
	}
	pthread_join(thread->id, NULL);
	return PORT_OK;
}

void port_yield(void)
{
	sched_yield(); /* cannot fail on Linux */
}

/* The 18th field of /proc/.../stat, by proc(5) minus one minus the real-time priority. The 2nd may hold blanks. */
static bool parse_priority(const char *line, int *priority)
{
	const char *field = strrchr(line, ')');

	for (int number = 2; field && number < 18; number++)
		field = strchr(field + 1, ' ');
	*priority = field ? -1 - atoi(field + 1) : 0;
	return field;
}

/* From /proc, since the scheduler's calls give a thread's own priority and not the priority it was lent. */
enum port_status port_priority_now(enum port_priority *priority)
{
	char path[48], line[256];
	int fd, effective;
	ssize_t count;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", syscall(SYS_gettid));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return linux_fail(PORT_NOT_OFFERED, path, errno);
	count = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[count > 0 ? count : 0] = '\0';
	if (!parse_priority(line, &effective))
		return linux_fail(PORT_FAILED, path, 0);
	for (enum port_priority one = PORT_LOW; one <= PORT_HIGHEST; one++)
		if (linux_priority(one) == effective) {
			*priority = one;
			return PORT_OK;
		}
	return linux_fail(PORT_FAILED, "a priority that is none of ours", 0);
}

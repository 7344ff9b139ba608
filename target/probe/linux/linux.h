/* SPDX-License-Identifier: MIT */
/* What the files of the Linux port share. */
#ifndef RTQUAL_LINUX_H
#define RTQUAL_LINUX_H

#include "battery.h"
#include "port.h"

/* Families that are no other system's. */
extern const struct family linux_families[];

/* PORT_LOW to PORT_HIGHEST are four priorities in a row; helpers that act as the kernel's timer run above them. */
enum { HELPER_ABOVE_HIGH = 2, PRIORITY_LEAST = 3, PRIORITY_MOST = 97 };

struct settings {
	int priority; /* SCHED_FIFO priority of PORT_HIGH */
	int out; /* file descriptor that the result is written to */
	size_t samples; /* 32-bit words of sample memory */
};

/* Lock and fault in all memory, measure the counter. Once, before anything else of this port. */
enum port_status linux_setup(const struct settings *settings);

/* The CPUs that the process was started with (taskset); the kernel would let it leave them. */
enum { LINUX_CPUS_MOST = 1024 };
bool linux_has_cpu(int cpu);
/* The first of them: where benchmarks run by default, since figures of two threads compare only on one CPU. */
int linux_first_cpu(void);

/* A timerfd as a timer of port_timer_wait(), whether it is deferred or not. */
enum port_status linux_open_timerfd(struct port_timer *timer);

/* Is the kernel built with PREEMPT_RT? */
bool linux_is_realtime(void);

int linux_priority(enum port_priority priority);
/* Ready port_cycles(); its frequency in Hz, or 0 where the CPU does not tell it. */
uint64_t linux_counter_open(void);
/* Measure that frequency by the clock, for 50 ms. */
uint64_t linux_measure_cycles_per_s(void);

/* As port_thread_start(), with a priority of SCHED_FIFO. */
enum port_status linux_thread_start(struct port_thread *thread, const char *name, int priority, int cpu,
				    port_entry entry, void *argument);

/* Note what failed, with the text of errno `error` unless that is 0, and return the status. */
enum port_status linux_fail(enum port_status status, const char *what, int error);

/* Wait for the semaphore at most `timeout_s`; false when it did not come. */
bool linux_semaphore_wait_s(struct port_semaphore *semaphore, int timeout_s);
/* A thread has ended, or failed: posted for port_thread_join(). */
void linux_thread_failed(void);

#endif

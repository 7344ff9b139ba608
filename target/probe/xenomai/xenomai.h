/* SPDX-License-Identifier: MIT */
/* What the files of the Xenomai port share. What is the same as on Linux they take from linux.h. */
#ifndef RTQUAL_XENOMAI_H
#define RTQUAL_XENOMAI_H

#include "linux.h"

/* The most tasks that a benchmark has at a time, with one to spare: four stages, eight streams, a waker. */
enum { TASKS_MOST = 16 };

/* What a call of Alchemy returned, 0 or a negative errno, as a status; a failure is noted. */
enum port_status xenomai_status(int result, const char *what);

/* Whether the calling task is the Linux end of a pipe: a task below PORT_HIGH. */
bool xenomai_linux_end(void);

/* As port_thread_start(), with a priority of SCHED_FIFO. */
enum port_status xenomai_thread_start(struct port_thread *thread, const char *name, int priority, int cpu,
				      port_entry entry, void *argument);

#endif

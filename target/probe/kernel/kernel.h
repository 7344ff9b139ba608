/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the kernel port share. */
#ifndef RTQUAL_KERNEL_H
#define RTQUAL_KERNEL_H

#include "port.h"

/* PORT_LOW to PORT_HIGHEST are four priorities in a row, as in user space; threads that act as timers run above them.
 */
enum { HELPER_ABOVE_HIGH = 2, PRIORITY_LEAST = 3, PRIORITY_MOST = 97 };

/* The memory of a run, and the place of its result. */
int kernel_setup(int priority, size_t samples);
void kernel_release(void);
/* The result so far; the module's file reads it. */
const char *kernel_result(size_t *length);

enum port_status kernel_thread_start(struct port_thread *thread, const char *name, int priority, int cpu,
				     port_entry entry, void *argument);
int kernel_priority(enum port_priority priority);

/* Note what failed, with the errno `error` unless that is 0, and return the status. */
enum port_status kernel_fail(enum port_status status, const char *what, int error);

#endif

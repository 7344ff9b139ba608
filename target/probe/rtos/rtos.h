/* SPDX-License-Identifier: MIT */
/*
 * What the ports to systems without processes share: the run that the words of a command line ask for, and the thread
 * that wakes another. They use the port contract alone.
 */
#ifndef RTQUAL_RTOS_H
#define RTQUAL_RTOS_H

#include "port.h"

enum { RTOS_WORDS_MOST = 12 };

/* Keep what failed for port_failure(); returns `status`. `what` stays the caller's. */
enum port_status port_fail(enum port_status status, const char *what);

/* A line of the output, by port_write(), that says what went wrong. */
void rtos_complain(const char *what, const char *which);

/*
 * Run the family of benchmarks that the first word names, with the options of the others; what goes wrong is said.
 * Returns the Linux port's exit code: 0, 2 for words that are not understood, 3 for a run that failed.
 */
int rtos_run(const char *const *words, int count);

/*
 * The other thread of PORT_PATH_FUTEX: sleeps by `sleep_until`, then wakes the thread that asked. There is one, in memory
 * of its own: a timer lies on a thread's stack, which has no room for another's. Its failures reach port_failure().
 */
enum port_status rtos_waker_start(enum port_status (*sleep_until)(uint64_t due_ns));
enum port_status rtos_waker_wait(uint64_t due_ns);
void rtos_waker_stop(void);

#endif

/* SPDX-License-Identifier: MIT */
/* rest - whether a system has come to rest after its boot (rest.c). */
#ifndef RTQUAL_REST_H
#define RTQUAL_REST_H

#include <stdint.h>
#include <sys/types.h>

/*
 * Wait until the system is at rest for two windows in a row, no longer than the limit, and print lines of name=value:
 *
 *   rest_ns            how long it took
 *   rest_window_ns     a window
 *   rest_awaited       what kept it from rest, if anything did: in the window with the busiest process
 *   rest_busiest       the process that took most of a CPU in the last window, if any did,
 *   rest_busiest_ns    and how much
 *   unrest             `start` or `busy`: it did not come to rest, because its start goes on or a process is busy
 */
int rest(int64_t window_ns, int64_t limit_ns);

/* Tells of each process its CPU time so far, in ns, and its name. Returns 0, or -1 without /proc (errno). */
typedef void (*process_fn)(void *with, pid_t pid, int64_t spent_ns, const char *name);
int each_process(process_fn tell, void *with);

#endif

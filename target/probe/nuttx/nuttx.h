/* SPDX-License-Identifier: MIT */
/* What the files of the NuttX port share. What is the same as on Linux they take from linux.h. */
#ifndef RTQUAL_NUTTX_H
#define RTQUAL_NUTTX_H

#include "linux.h"
#include "rtos.h"

/* Main, which calls the battery, is below all benchmarks; NuttX's work queue, which runs deferred timers, is above. */
enum { NUTTX_PRIORITY_MAIN = 100 };

/* Ready clock, console and sample memory, and give the caller main's priority. */
enum port_status nuttx_setup(void);

struct timespec nuttx_timespec(uint64_t time_ns);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef RTQUAL_WAKEUP_H
#define RTQUAL_WAKEUP_H

#include "battery.h"

/* One series, "latency": ns from the time asked for to the thread's first reading of the clock. */
enum port_status wakeup_measure(struct run *run);

extern const struct benchmark wakeup_benchmarks[];

#endif

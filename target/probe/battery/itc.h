/* SPDX-License-Identifier: MIT */
#ifndef RTQUAL_ITC_H
#define RTQUAL_ITC_H

#include "battery.h"

/* Series "time", in cycles, of each mechanism between two tasks, once an interval. */
extern const struct benchmark itc_benchmarks[];

#endif

/* SPDX-License-Identifier: MIT */
#ifndef RTQUAL_PERIODIC_H
#define RTQUAL_PERIODIC_H

#include "battery.h"

/* Series "period" and "jitter", its distance from the interval asked for, in ns. */
extern const struct benchmark periodic_benchmarks[];

#endif

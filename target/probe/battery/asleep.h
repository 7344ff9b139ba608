/* SPDX-License-Identifier: MIT */
#ifndef RTQUAL_ASLEEP_H
#define RTQUAL_ASLEEP_H

#include "battery.h"

/*
 * Two benchmarks without samples: what a thread takes of the CPU while it waits for a time, by the system's sleep, and by
 * each path that the system has. Facts: docs/probe.md. A system whose sleep polls the clock is never late, and lets no
 * other thread run.
 */
enum port_status asleep_measure(struct run *run);
enum port_status asleep_measure_paths(struct run *run);

#endif

/* SPDX-License-Identifier: MIT */
#ifndef RTQUAL_ASLEEP_H
#define RTQUAL_ASLEEP_H

#include "battery.h"

/*
 * A benchmark without samples: what a thread takes of the CPU while it waits for a time by the system's sleep. Facts:
 * docs/probe.md. A system whose sleep polls the clock is never late, and lets no other thread run.
 */
enum port_status asleep_measure(struct run *run);

#endif

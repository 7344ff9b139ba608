/* SPDX-License-Identifier: MIT */
/* What the files of the ChibiOS port share. */
#ifndef RTQUAL_CHIBIOS_H
#define RTQUAL_CHIBIOS_H

#include "rtos.h"

/* Main, which calls the battery, is below all benchmarks. */
enum { CHIBIOS_PRIORITY_MAIN = NORMALPRIO };

#endif

/* SPDX-License-Identifier: MIT */
/* What the files of the ChibiOS port share. */
#ifndef RTQUAL_CHIBIOS_H
#define RTQUAL_CHIBIOS_H

#include "port.h"

/* Main, which calls the battery, is below all benchmarks. */
enum { CHIBIOS_PRIORITY_MAIN = NORMALPRIO };

/* Keep what failed for port_failure(); returns `status`. */
enum port_status chibios_fail(enum port_status status, const char *what);

#endif

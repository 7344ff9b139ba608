// SPDX-License-Identifier: MIT
/* The families by the name a command line calls them, with the iterations and the interval they have by default. */
#include "battery.h"
#include "battery/itc.h"
#include "battery/loaded.h"
#include "battery/loop.h"
#include "battery/periodic.h"
#include "battery/primitives.h"
#include "battery/wakeup.h"

enum { MS = 1000000 }; /* ns */

const struct family battery[] = {
	{ "wakeup", wakeup_benchmarks, 3000, 1 * MS, 0 },
	/* As in the Xenomai study, which used an interval of 10 ms too. */
	{ "periodic", periodic_benchmarks, 5000, 1 * MS, 0 },
	{ "itc", itc_benchmarks, 5000, 1 * MS, 0 },
	/* "At least 500 iterations", says the FreeRTOS study. The interval is that of its workload rows. */
	{ "primitives", primitive_benchmarks, 500, 1 * MS, 0 },
	/* 250 Hz, as in the study of flight control. */
	{ "loop", loop_benchmarks, 1000, 4 * MS, 0 },
	{ "loaded", loaded_benchmarks, 1000, 1 * MS, 0 },
	{ "memory", memory_benchmarks, 1000, 4 * MS, STAGES * MEMORY_STAGE_WORDS + MEMORY_STREAM_WORDS },
	{ 0 },
};

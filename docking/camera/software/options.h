/* SPDX-License-Identifier: MIT */
/* The command line, and the scene file: the same keys, without their dashes, one a line. */
#ifndef EMULATOR_OPTIONS_H
#define EMULATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "common/command_line.h"
#include "device.h"
#include "faults.h"
#include "lens.h"
#include "scene.h"
#include "sensor.h"

struct options {
	/* the frames */
	uint32_t frames;
	double step_s; /* scene time between two frames */
	bool z16;
	bool truth_range;
	struct scene scene;
	int waypoints; /* that were given */
	struct sensor sensor;
	double k1, k2;
	const char *replay, *write, *truth, *steered;
	/* the device */
	struct settings settings;
	struct faults faults;
	/* where it is plugged in: exactly one of these */
	bool attach;
	const char *listen;
	/* running it */
	bool daemon;
	int priority, interrupts; /* for SCHED_FIFO, its own and vhci_hcd's threads; 0: unchanged */
	const char *control, *report, *log;
};

/* Reads the command line; dies with one line on what is wrong and what is needed. */
void options_read(struct options *options, int argc, char **argv);

#endif

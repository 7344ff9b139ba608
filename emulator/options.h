/* SPDX-License-Identifier: MIT */
/* The command line, and the scene file: the same keys, without their dashes, one a line. */
#ifndef EMULATOR_OPTIONS_H
#define EMULATOR_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "device.h"
#include "faults.h"
#include "lens.h"
#include "scene.h"
#include "sensor.h"

enum { BAD_INPUT = 2, RUN_FAILED = 3 };

struct options {
	/* the frames */
	uint32_t frames;
	double step_s; /* scene time between two frames */
	bool z16;
	bool truth_range;
	struct scene scene;
	struct sensor sensor;
	double k1, k2;
	const char *replay, *write, *truth;
	/* the device */
	struct settings settings;
	struct faults faults;
	/* where it is plugged in: one of these */
	bool attach;
	const char *listen;
	/* running it */
	bool daemon;
	int priority; /* SCHED_FIFO's, 0: as started */
	const char *control, *report, *log;
};

void __attribute__((noreturn, format(printf, 2, 3))) die(int code, const char *format, ...);
/* Reads the command line; dies with one line on what is wrong and what is needed. */
void options_read(struct options *options, int argc, char **argv);

#endif

/* SPDX-License-Identifier: MIT */
/* The emulator's half of the grid: apart, since its `struct pose` is not the estimator's. */
#ifndef BENCH_GRID_SCENE_H
#define BENCH_GRID_SCENE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ds325/format.h"

struct truth {
	double position[3], orientation[4]; /* w, x, y, z */
};

struct flight;

struct flight *flight_new(void);
/* The next flight of a file (docking/bench/grid/flights.py writes them); false at its end. */
bool flight_read(struct flight *flight, FILE *file, int *frames, double *step_s);
/* Frame `number` as I and Q; false where it is lost on its way. */
bool flight_frame(struct flight *flight, int number, uint8_t raw[DS325_FRAME_BYTES], struct truth *truth);

#endif

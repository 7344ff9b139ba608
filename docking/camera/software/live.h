/* SPDX-License-Identifier: MIT */
/*
 * Frames that are made when they are due, of a target that another program steers.
 *
 * To make one takes some hundred million instructions, which a guest that counts them has no time for. There the virtual
 * board makes it (docking/camera/observer/scene.c), in no time of the guest's; elsewhere it is made here.
 */
#ifndef EMULATOR_LIVE_H
#define EMULATOR_LIVE_H

#include <stdatomic.h>
#include <stdint.h>

#include "sensor.h"

/* The file of whoever steers. */
struct steered {
	_Atomic uint32_t turn; /* odd while the rest is being written, another one afterwards */
	uint32_t unused;
	uint64_t at_ns; /* CLOCK_MONOTONIC; the target moves on from there at `velocity`, and does not turn */
	struct vector position, velocity; /* of the target in the camera's frame, m and m/s */
	struct quaternion attitude;
};

/* One frame to be made; scene.c has the same layout, for it is compiled for the same processor. */
struct live_request {
	uint32_t asked; /* a store here asks for it */
	uint32_t made; /* the board says so */
	uint64_t number;
	double time_s, k1, k2;
	struct sensor sensor;
	struct scene scene; /* of one waypoint */
	uint8_t frame[DS325_FRAME_BYTES]; /* its I and Q */
};

/* The number that is stored, and what the store's address is given from: no other code has this instruction. */
#define LIVE_ASKED 0x4e454353
#define LIVE_FROM 0x55515452

struct live {
	const struct steered *steered;
	const struct lens *lens;
	struct hit *hits;
	double step_s;
	struct live_request *request;
};

struct options;
/* Dies with a line that says why where the file is none of a program that steers. */
void live_begin(struct live *live, const struct options *options, const struct lens *lens);
void live_end(struct live *live);
/* The bytes of frame `number`, exposed now; they stay until the next call. */
const uint8_t *live_frame(struct live *live, uint64_t number, uint64_t now_ns);

#endif

/* SPDX-License-Identifier: MIT */
/* What goes into --poses: a record for each frame, whole or not at all. A controller that is a program of its own reads it. */
#ifndef FLIGHT_POSES_H
#define FLIGHT_POSES_H

#include <stdint.h>

struct pose_told {
	uint64_t frame_ns; /* CLOCK_MONOTONIC: the frame's end */
	uint32_t status; /* enum pose_status, docking/flight/pose/pose.h, which has the frames of reference too */
	uint32_t unobserved;
	double position[3],
		velocity[3]; /* of the target in the camera's frame, m and m/s; nothing where it is not found */
	double orientation[4]; /* w, x, y, z */
};

#endif

/* SPDX-License-Identifier: MIT */
/* Vectors in metres, unit quaternions, and the target's pose: its frame in the camera's frame (docs/docking/emulator.md). */
#ifndef EMULATOR_POSE_H
#define EMULATOR_POSE_H

struct vector {
	double x, y, z;
};

struct quaternion {
	double w, x, y, z;
};

struct pose {
	struct vector position;
	struct quaternion attitude; /* turns target vectors into camera vectors */
};

/* Rows are the target's axes in camera coordinates, so multiplying by it turns camera vectors into target vectors. */
struct rotation {
	struct vector rows[3];
};

double vector_dot(struct vector a, struct vector b);
struct vector rotation_apply(const struct rotation *rotation, struct vector v);
struct rotation quaternion_to_target(struct quaternion q);
/* Roll about z first, then pitch about x, then yaw about y; the axes are fixed; degrees. */
struct quaternion quaternion_from_angles(double roll, double pitch, double yaw);
/* From `a` (share 0) to `b` (share 1) at constant rate, along the shorter arc. */
struct quaternion quaternion_between(struct quaternion a, struct quaternion b, double share);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * A chaser on its last decimetre to the docking port, steered by poses.
 *
 * The chaser flies behind the target along the orbit and looks forward; its attitude is held. Camera axes in the
 * target's local frame: x along the orbit's normal, y outwards, z along the flight. The target's attitude swings about
 * its centre of mass, so that its port sways, and the chaser has to follow. Between impulses of the thrusters all is
 * solved in closed form, so it does not matter when, or how often, somebody looks.
 */
#ifndef DOCKING_APPROACH_H
#define DOCKING_APPROACH_H

#include <stdbool.h>
#include <stdint.h>

#include "cw.h"

enum { POSES_MOST = 256, LAST = 100 };

/* All of it assumed (docs/docking/closed-loop.md): no figures of a mission are known. */
struct approach_settings {
	double orbit_rate; /* rad/s */
	double arm_m; /* from the target's centre of mass to its docking face */
	double swing_rad, swing_hz; /* of the target about the camera's y axis */
	double thrust; /* of an axis, m/s^2 */
	double offset_m; /* the first lateral offset is drawn within so much, each axis */
	double start_m, latch_m; /* from the camera to the face: at the beginning, and where the two touch */
	double bandwidth, damping; /* of the lateral controller, rad/s and as a ratio */
	double closing_most, closing_least, closing_rate; /* m/s; and 1/s, by which it falls with the distance left */
	uint64_t period_ns, quantum_ns; /* of control, and of how long a thruster fires */
	uint64_t delay_ns; /* by which poses are held back */
	uint64_t seed;
};

/* The target as the camera has it, m, m/s and rad about the camera's y axis. */
struct sight {
	double position[3], velocity[3];
	double angle;
};

/* What the controller goes by: a pose, when its frame ended, and when it may be used. */
struct estimate {
	double position[3], velocity[3];
	uint64_t frame_ns, usable_ns;
};

struct approach {
	struct approach_settings settings;
	struct relative chaser; /* at at_ns */
	double swing_phase;
	uint64_t began_ns, at_ns;
	struct estimate waiting[POSES_MOST]; /* a ring, in the order they came */
	uint32_t first, count;
	struct estimate now; /* in use */
	bool known, docked;
	uint64_t pose_age_ns; /* of that in use at the last impulse */
	double thrust_s; /* fired so long, all axes together */
	/* at the contact: */
	double contact_s, lateral_m, closing, angle_rad,
		drift; /* since the beginning; m/s: towards the target, and sideways */
	double last_m[LAST]; /* a ring: how far off the axis it was, in each of the last periods */
	uint32_t periods;
};

void approach_default(struct approach_settings *settings);
/* At rest in the target's local frame, the approach not yet begun. */
void approach_place(struct approach *approach, const struct approach_settings *settings);
void approach_begin(struct approach *approach, uint64_t now_ns);
/* Where the target is now; before the beginning nothing moves. */
void approach_see(const struct approach *approach, uint64_t now_ns, struct sight *sight);
/* Takes a pose that came at `now_ns`. */
void approach_pose(struct approach *approach, const struct estimate *pose, uint64_t now_ns);
/* How far off the axis it was in the last periods (a second): root of the mean square, m. */
double approach_last_rms(const struct approach *approach);
/* A control period: goes on to now, looks whether the two touched, fires. False where nothing is known yet. */
bool approach_control(struct approach *approach, uint64_t now_ns);

#endif

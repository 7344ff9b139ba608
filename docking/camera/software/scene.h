/* SPDX-License-Identifier: MIT */
/* What is in front of the camera and how it moves: the docking target, and a wall and other things if
 * asked for. */
#ifndef EMULATOR_SCENE_H
#define EMULATOR_SCENE_H

#include <stdbool.h>

#include "pose.h"

enum { WAYPOINTS = 64, CLUTTER = 16 };

/* A box along the axes. */
struct box {
	struct vector least, most;
};

/* Where the target is at a time. Between two of these it moves in a straight line and turns, both at constant rates. */
struct waypoint {
	double time_s;
	struct pose pose;
};

struct scene {
	struct waypoint waypoints[WAYPOINTS];
	int waypoint_count;
	double albedo;
	double wall_z_m, wall_albedo; /* 0: there is no wall */
	struct box clutter[CLUTTER]; /* camera frame; of the wall's albedo */
	int clutter_count;
};

/* The first surface that a ray meets. */
struct hit {
	int surface;   /* number of the surface; 0: none */
	double range_m;
	double cosine; /* between the ray and the surface's normal */
	double albedo;
};

/* The target at one moment, ready for rays. */
struct view {
	const struct scene *scene;
	struct pose pose;
	struct rotation to_target;
	struct vector eye; /* the camera in target coordinates */
};

/* The approach of the docking demo: 20 s, from 1.2 m to 0.16 m; offset and attitude shrink to 0. */
void scene_default(struct scene *scene);
struct pose scene_pose(const struct scene *scene, double time_s);
struct view scene_view(const struct scene *scene, double time_s);
/* `direction` is a unit vector in camera coordinates. */
struct hit scene_cast(const struct view *view, struct vector direction);

#endif

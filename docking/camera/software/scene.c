// SPDX-License-Identifier: MIT
#include <math.h>

#include "scene.h"

/* Metres, target frame; docs/docking/emulator.md has the table. */
static const struct box boxes[] = {
	{ { -0.150, -0.170, 0.000 }, { 0.150, 0.170, 0.100 } },   /* body */
	{ { 0.060, -0.047, -0.015 }, { 0.084, -0.023, 0.000 } },  /* key A */
	{ { -0.095, 0.022, -0.015 }, { -0.055, 0.038, 0.000 } },  /* key B */
};

static const double port_outer_m = 0.045, port_inner_m = 0.035, port_rim_z_m = -0.020;

/* A box that holds all of the target. */
static const struct vector middle = { 0, 0, 0.040 };
static const double radius_m = 0.240;

void scene_default(struct scene *scene)
{
	*scene = (struct scene){ .albedo = 0.5, .wall_albedo = 0.5, .waypoint_count = 3 };
	scene->waypoints[0] = (struct waypoint){ 0, { { 0.08, -0.05, 1.2 }, quaternion_from_angles(12, 6, -8) } };
	scene->waypoints[1] = (struct waypoint){ 15, { { 0.01, -0.01, 0.35 }, quaternion_from_angles(3, 1.5, -2) } };
	scene->waypoints[2] = (struct waypoint){ 20, { { 0, 0, 0.16 }, quaternion_from_angles(0, 0, 0) } };
}

struct pose scene_pose(const struct scene *scene, double time_s)
{
	const struct waypoint *from = scene->waypoints, *to = from + 1, *last = from + scene->waypoint_count - 1;
	double share;
	struct vector a, b;

	if (time_s <= from->time_s)
		return from->pose;
	if (time_s >= last->time_s)
		return last->pose;
	while (to->time_s < time_s)
		to++;
	from = to - 1;
	share = (time_s - from->time_s) / (to->time_s - from->time_s);
	a = from->pose.position;
	b = to->pose.position;
	return (struct pose){ { a.x + share * (b.x - a.x), a.y + share * (b.y - a.y), a.z + share * (b.z - a.z) },
			      quaternion_between(from->pose.attitude, to->pose.attitude, share) };
}

struct view scene_view(const struct scene *scene, double time_s)
{
	struct view view = { .scene = scene, .pose = scene_pose(scene, time_s) };
	struct vector p = view.pose.position;

	view.to_target = quaternion_to_target(view.pose.attitude);
	view.eye = rotation_apply(&view.to_target, (struct vector){ -p.x, -p.y, -p.z });
	return view;
}

static void meet(struct hit *hit, int surface, double range, double cosine, double albedo)
{
	if (range > 0 && (!hit->surface || range < hit->range_m))
		*hit = (struct hit){ surface, range, fabs(cosine), albedo };
}

/* Narrows [*in, *out] to where the ray is between two parallel planes, and notes the axis along which it enters. */
static void slab(double eye, double way, double least, double most, int axis, double *in, double *out, int *through)
{
	double near = (least - eye) / way, far = (most - eye) / way; /* infinite where the ray is parallel */

	if (near > far) {
		double swapped = near;

		near = far;
		far = swapped;
	}
	if (near > *in) {
		*in = near;
		*through = axis;
	}
	if (far < *out)
		*out = far;
}

static void meet_box(struct hit *hit, const struct box *box, int surface, struct vector eye, struct vector way,
		     double albedo)
{
	double in = -HUGE_VAL, out = HUGE_VAL;
	int through = 0;

	slab(eye.x, way.x, box->least.x, box->most.x, 0, &in, &out, &through);
	slab(eye.y, way.y, box->least.y, box->most.y, 1, &in, &out, &through);
	slab(eye.z, way.z, box->least.z, box->most.z, 2, &in, &out, &through);
	if (in < out)
		meet(hit, surface + through, in, through == 0 ? way.x : through == 1 ? way.y : way.z, albedo);
}

/* The tube's inner or outer wall, between its rim and the face, seen from either side. */
static void meet_wall(struct hit *hit, double radius, int surface, struct vector eye, struct vector way, double albedo)
{
	double a = way.x * way.x + way.y * way.y;
	double b = eye.x * way.x + eye.y * way.y;
	double c = eye.x * eye.x + eye.y * eye.y - radius * radius;
	double root = b * b - a * c;

	if (root < 0 || a < 1e-12)
		return;
	root = sqrt(root);
	for (int side = -1; side <= 1; side += 2) {
		double range = (-b + side * root) / a;
		double x = eye.x + range * way.x, y = eye.y + range * way.y, z = eye.z + range * way.z;

		if (z >= port_rim_z_m && z <= 0)
			meet(hit, surface, range, (x * way.x + y * way.y) / radius, albedo);
	}
}

static void meet_rim(struct hit *hit, int surface, struct vector eye, struct vector way, double albedo)
{
	double range = (port_rim_z_m - eye.z) / way.z;
	double x = eye.x + range * way.x, y = eye.y + range * way.y, r2 = x * x + y * y;

	if (r2 <= port_outer_m * port_outer_m && r2 >= port_inner_m * port_inner_m)
		meet(hit, surface, range, way.z, albedo);
}

static bool misses_target(struct vector eye, struct vector way)
{
	struct vector to = { middle.x - eye.x, middle.y - eye.y, middle.z - eye.z };
	double along = vector_dot(to, way);

	return vector_dot(to, to) - along * along > radius_m * radius_m;
}

struct hit scene_cast(const struct view *view, struct vector direction)
{
	enum { WALL = 1, RIM, TUBE_OUTSIDE, TUBE_INSIDE, BOXES, OTHERS = 100 };
	const struct scene *scene = view->scene;
	struct vector way = rotation_apply(&view->to_target, direction);
	struct hit hit = { 0 };

	if (scene->wall_z_m > 0)
		meet(&hit, WALL, scene->wall_z_m / direction.z, direction.z, scene->wall_albedo);
	for (int i = 0; i < scene->clutter_count; i++)
		meet_box(&hit, scene->clutter + i, OTHERS + 3 * i, (struct vector){ 0 }, direction, scene->wall_albedo);
	if (misses_target(view->eye, way))
		return hit;
	for (int i = 0; i < (int)(sizeof(boxes) / sizeof(boxes[0])); i++)
		meet_box(&hit, boxes + i, BOXES + 3 * i, view->eye, way, scene->albedo);
	meet_rim(&hit, RIM, view->eye, way, scene->albedo);
	meet_wall(&hit, port_outer_m, TUBE_OUTSIDE, view->eye, way, scene->albedo);
	meet_wall(&hit, port_inner_m, TUBE_INSIDE, view->eye, way, scene->albedo);
	return hit;
}

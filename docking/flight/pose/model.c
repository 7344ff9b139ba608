// SPDX-License-Identifier: MIT
/* The target as a few convex solids, and the first surface of them that a ray meets. */
#include "state.h"

#include <limits.h>

bool model_usable(const struct pose_model *model)
{
	if (model->parts < 1 || model->parts > POSE_PARTS || model->part[0].kind != POSE_BOX)
		return false;
	for (int i = 0; i < model->parts; i++) {
		const struct pose_part *part = model->part + i;

		if (part->kind != POSE_BOX && part->kind != POSE_CYLINDER)
			return false;
		for (int k = 0; k < 3; k++) {
			bool hole = part->kind == POSE_CYLINDER && k == 1;

			if (!isfinite(part->centre[k]) || !(part->half[k] <= 10))
				return false;
			if (hole ? !(part->half[1] >= 0 && part->half[1] < part->half[0]) : !(part->half[k] >= 1e-4))
				return false;
		}
	}
	return true;
}

/* A ray in target coordinates; every box needs 1 / direction. */
struct ray {
	const double *o, *d;
	double inverse[3];
};

/* Slabs: the ray is inside between the last entry and the first exit. */
static inline bool box_hit(const struct pose_part *box, const struct ray *ray, struct hit *hit)
{
	double in = 0, out = hit->range;
	int axis = -1;

	for (int k = 0; k < 3; k++) {
		double from = box->centre[k] - ray->o[k], inverse = ray->inverse[k];
		double reach = inverse > 0 ? box->half[k] : -box->half[k];
		double enter = (from - reach) * inverse, leave = (from + reach) * inverse;

		if (enter > in) {
			in = enter;
			axis = k;
		}
		out = leave < out ? leave : out;
		if (in >= out)
			return false;
	}
	if (axis < 0)
		return false;
	hit->range = in;
	hit->axis = axis;
	hit->part = box;
	return true;
}

/* The round wall of a radius: where the ray enters the cylinder (side -1), or leaves the hole (+1). */
static bool wall_hit(const struct pose_part *c, const struct ray *ray, double radius, int side, struct hit *hit)
{
	const double *o = ray->o, *d = ray->d;
	double x = o[0] - c->centre[0], y = o[1] - c->centre[1];
	double a = d[0] * d[0] + d[1] * d[1], b = x * d[0] + y * d[1],
	       root = b * b - a * (x * x + y * y - radius * radius);

	if (a < 1e-12 || root < 0)
		return false;
	double in = (-b + side * sqrt(root)) / a;

	if (!(in > 0) || in >= hit->range || fabs(o[2] + in * d[2] - c->centre[2]) > c->half[2])
		return false;
	hit->range = in;
	hit->axis = -1;
	hit->part = c;
	hit->normal[0] = -side * (x + in * d[0]) / radius;
	hit->normal[1] = -side * (y + in * d[1]) / radius;
	hit->normal[2] = 0;
	return true;
}

/* The top (towards -z) except its hole, else a wall. From below, the body hides the cylinder. */
static inline bool cylinder_hit(const struct pose_part *c, const struct ray *ray, struct hit *hit)
{
	const double *o = ray->o, *d = ray->d;
	double t = (c->centre[2] - c->half[2] - o[2]) * ray->inverse[2];

	if (d[2] > 0 && t > 0) {
		double x = o[0] + t * d[0] - c->centre[0], y = o[1] + t * d[1] - c->centre[1], at = x * x + y * y;
		double slip = 2 * c->half[2] * ray->inverse[2], far = c->half[0] + slip;

		/* Between the planes of top and foot the ray moves sideways by less than `slip`. */
		if (at > far * far)
			return false;
		if (at < c->half[1] * c->half[1])
			return wall_hit(c, ray, c->half[1], 1, hit);
		if (at <= c->half[0] * c->half[0]) {
			if (t >= hit->range)
				return false;
			hit->range = t;
			hit->axis = 2;
			hit->part = c;
			return true;
		}
	}
	return wall_hit(c, ray, c->half[0], -1, hit);
}

/* What of the parts a ray meets before `hit`. */
static inline void nearer_hit(const struct pose_model *model, unsigned int parts, const double origin[3],
			      const double direction[3], struct hit *hit)
{
	struct ray ray = { .o = origin, .d = direction };

	for (int k = 0; k < 3; k++)
		ray.inverse[k] = 1 / (fabs(direction[k]) < 1e-9 ? 1e-9 : direction[k]);
	for (int i = 0; parts; i++, parts >>= 1) {
		if (!(parts & 1))
			continue;
		if (model->part[i].kind == POSE_BOX)
			box_hit(model->part + i, &ray, hit);
		else
			cylinder_hit(model->part + i, &ray, hit);
	}
}

bool model_hit(const struct pose_model *model, unsigned int parts, const double origin[3], const double direction[3],
	       struct hit *hit)
{
	hit->range = INFINITY;
	hit->part = NULL;
	nearer_hit(model, parts, origin, direction, hit);
	return hit->part;
}

bool model_window(const struct pose *pose, const struct placed *at, int part, int wider, int window[4])
{
	const struct pose_part *of = pose->model.part + part;
	double low[2] = { INFINITY, INFINITY }, high[2] = { -INFINITY, -INFINITY };

	for (int corner = 0; corner < 8; corner++) {
		double x[3], point[3], pixel[2];

		for (int k = 0; k < 3; k++) {
			double half = of->half[of->kind == POSE_CYLINDER && k == 1 ? 0 : k];

			x[k] = of->centre[k] + (corner >> k & 1 ? half : -half);
		}
		rotate(at->r, x, point);
		for (int k = 0; k < 3; k++)
			point[k] += at->p[k];
		if (!camera_project(&pose->camera, point, pixel, NULL)) {
			/* A corner beside or behind the camera: any part of the picture may show the body. */
			low[0] = low[1] = -1e6;
			high[0] = high[1] = 1e6;
			break;
		}
		for (int k = 0; k < 2; k++) {
			low[k] = smaller(low[k], pixel[k]);
			high[k] = larger(high[k], pixel[k]);
		}
	}
	for (int k = 0; k < 2; k++) {
		int most = (k ? pose->camera.height : pose->camera.width) - 1;

		window[k] = (int)larger(0, smaller(low[k] - wider, most + 1));
		window[2 + k] = (int)smaller(most, larger(high[k] + wider, -1));
		if (window[k] > window[2 + k])
			return false;
	}
	return true;
}

void view_of(const struct pose *pose, const struct placed *at, struct view *view)
{
	rotate_back(at->r, at->p, view->origin);
	for (int k = 0; k < 3; k++)
		view->origin[k] = -view->origin[k];
	for (int k = 0; k < 3; k++) {
		double from = pose->model.part->centre[k] - view->origin[k], half = pose->model.part->half[k];

		view->level[k] = from > half ? from - half : from < -half ? from + half : 0;
	}
	int *any = view->window[0];

	any[0] = any[1] = INT_MAX;
	any[2] = any[3] = -1;
	for (int i = 1; i < pose->model.parts; i++) {
		int *window = view->window[i];

		if (!model_window(pose, at, i, 1, window)) {
			window[0] = pose->camera.width;
			continue;
		}
		for (int k = 0; k < 2; k++) {
			any[k] = window[k] < any[k] ? window[k] : any[k];
			any[2 + k] = window[2 + k] > any[2 + k] ? window[2 + k] : any[2 + k];
		}
	}
}

bool view_hit(const struct pose *pose, const struct view *view, unsigned int parts, const double direction[3],
	      struct hit *hit)
{
	static const int next[3] = { 1, 2, 0 };
	const struct pose_part *body = pose->model.part;

	hit->range = INFINITY;
	hit->part = NULL;
	for (int k = 2; k >= 0; k--) {
		double range = view->level[k] / direction[k];
		int a = next[k], b = next[a];

		if (!(range > 0) || fabs(view->origin[a] + range * direction[a] - body->centre[a]) > body->half[a] ||
		    fabs(view->origin[b] + range * direction[b] - body->centre[b]) > body->half[b])
			continue;
		hit->range = range;
		hit->axis = k;
		hit->part = body;
		break;
	}
	if (parts != 1)
		nearer_hit(&pose->model, parts & ~1u, view->origin, direction, hit);
	return hit->part;
}

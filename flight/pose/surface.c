// SPDX-License-Identifier: MIT
/* Pixels on the target's faces: compares the range measured along the ray with the range at which the ray meets the
 * model. This is point-to-plane matching with the noise where it arises, along the ray, so the normal equations give
 * the covariance.
 */
#include "state.h"

#define RIM 0.8 /* pixels: nearer than this to a rim a pixel may be mixed */

/* A pixel is mixed if a neighbour is at another distance, or has none. */
static bool lone(const struct pose *pose, const struct pose_frame *frame, int x, int y, double range, double gate)
{
	static const int beside[4][2] = { { -1, 0 }, { 1, 0 }, { 0, -1 }, { 0, 1 } };

	for (int i = 0; i < 4; i++) {
		int u = x + beside[i][0], v = y + beside[i][1];

		if (u < 0 || v < 0 || u >= pose->camera.width || v >= pose->camera.height)
			continue;
		if (fabs(frame_range(pose, frame, u, v) - range) > gate && !frame_saturated(pose, frame, u, v))
			return true;
	}
	return false;
}

/* The row of a range by (position, rotation) for a ray that meets, in camera coordinates, a face of this normal. */
static void range_row(const double normal[3], const double ray[3], double range, const double position[3],
		      double row[6])
{
	double arm[3], f = 1 / dot3(normal, ray);

	for (int k = 0; k < 3; k++) {
		arm[k] = range * ray[k] - position[k];
		row[k] = f * normal[k];
	}
	cross3(arm, normal, row + 3);
	for (int k = 3; k < 6; k++)
		row[k] *= f;
}

bool surface_predict(const struct pose *pose, const struct placed *at, const struct view *view, int x, int y,
		     struct hit *hit, double direction[3], double row[6])
{
	double ray[3], normal[3];

	camera_ray(pose, x, y, ray);
	rotate_back(at->r, ray, direction);
	if (!model_hit(&pose->model, view_parts(pose, view, x, y), view->origin, direction, hit))
		return false;
	rotate(at->r, hit->normal, normal);
	range_row(normal, ray, hit->range, at->p, row);
	/* Grazing rays say little, and with much noise. */
	return fabs(dot3(normal, ray)) > 0.15;
}

/* How far a point of the docking face's plane is outside of a part's footprint; where a tube ends inside, too. */
static double outside(const struct pose_part *part, double x, double y)
{
	x -= part->centre[0];
	y -= part->centre[1];
	if (part->kind == POSE_BOX)
		return fmax(fabs(x) - part->half[0], fabs(y) - part->half[1]);
	double r = sqrt(x * x + y * y);

	return fmax(r - part->half[0], part->half[1] - r);
}

/* Does a pixel show some of a rim of what stands on the docking face, or of the wall below it? */
static bool near_rim(const struct pose *pose, const struct view *view, unsigned int parts, const double direction[3],
		     const struct hit *hit)
{
	if (hit->part == pose->model.part && hit->axis != 2)
		return false;
	double pixel = RIM * hit->range / (pose->camera.fx * fabs(direction[2]));

	for (int i = 1; i < pose->model.parts; i++) {
		const struct pose_part *part = pose->model.part + i;

		if (!(parts >> i & 1))
			continue;
		double foot = -view->origin[2] / direction[2];
		double top = (part->centre[2] - part->half[2] - view->origin[2]) / direction[2];
		double low = outside(part, view->origin[0] + foot * direction[0],
				     view->origin[1] + foot * direction[1]);
		double high = outside(part, view->origin[0] + top * direction[0], view->origin[1] + top * direction[1]);

		if ((low > 0) != (high > 0) || fmin(fabs(low), fabs(high)) < pixel)
			return true;
	}
	return false;
}

void surface_measure(const struct pose *pose, const struct pose_frame *frame, const struct placed *at, int wanted,
		     double slack, struct normal *normal)
{
	int window[4];
	struct view view;

	if (!model_window(pose, at, 0, 0, window))
		return;
	int wide = window[2] - window[0] + 1, high = window[3] - window[1] + 1;
	int step = (int)fmax(1, ceil(sqrt((double)wide * high / wanted)));

	view_of(pose, at, &view);
	/* Other pixels each frame, so that the error of a pixel does not stay. */
	for (int y = window[1] + (int)(pose->frames / step % step); y <= window[3]; y += step) {
		for (int x = window[0] + (int)(pose->frames % step); x <= window[2]; x += step) {
			double row[6], direction[3], range = frame_range(pose, frame, x, y);
			struct hit hit;

			if (!surface_predict(pose, at, &view, x, y, &hit, direction, row) ||
			    near_rim(pose, &view, view_parts(pose, &view, x, y), direction, &hit) ||
			    hit.margin < 1.5 * hit.range / pose->camera.fx || frame_saturated(pose, frame, x, y))
				continue;
			double sigma = range_noise(pose, frame, x, y, hit.range),
			       error = range - pose->offset - hit.range;
			double z = fabs(error) / (sigma + slack);

			normal->shown++;
			if (range == 0)
				continue;
			if (z < 5 || fabs(error) < 0.01)
				normal->agreeing++;
			else
				normal->contrary++;
			if (z > 5 || lone(pose, frame, x, y, range, 6 * sigma + 0.008))
				continue;
			/* Full weight up to three deviations, none from five on. */
			double weight = (z < 3 ? 1 : (5 - z) / 2) / (sigma * sigma);

			count_error(normal->pixel_errors, fabs(error) / sigma);
			normal->samples++;
			if (frame->amplitude)
				normal->light += frame->amplitude[(long)y * pose->camera.width + x] * range * range *
						 norm3(row); /* which is 1 / cosine */
			normal_add(normal, row, error, weight);
			offset_add(&normal->offset, row, 1, error, weight);
		}
	}
}

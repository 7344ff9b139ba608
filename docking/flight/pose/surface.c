// SPDX-License-Identifier: MIT
/* Pixels on the target's faces: compares the range measured along the ray with the range at which the ray meets the
 * model. This is point-to-plane matching with the noise where it arises, along the ray, so the normal equations give
 * the covariance.
 */
#include "state.h"

#include <stdlib.h>

#define RIM 0.8 /* pixels: nearer than this to a rim a pixel may be mixed */
#define MARGIN 1.5 /* pixels: the same of the body's edges */

/* A pixel is mixed if a neighbour is at another distance, or has none. Pixels at the picture's border have none beyond. */
static bool lone(const struct pose *pose, const struct pose_frame *frame, int x, int y, double gate)
{
	int wide = pose->camera.width, most = (int)(1000 * gate);
	const uint16_t *mm = frame->range_mm + pixel_of(pose, x, y);
	const int beside[4] = { x > 0 ? -1 : 0, x < wide - 1 ? 1 : 0, y > 0 ? -wide : 0,
				y < pose->camera.height - 1 ? wide : 0 };

	for (int i = 0; i < 4; i++) {
		int there = mm[beside[i]];

		if ((unsigned int)(there - *mm + most) > 2u * (unsigned int)most && there <= POSE_RANGE_LAST)
			return true;
	}
	return false;
}

/* Of a range measured along a ray of this direction (target coordinates) that meets a face across axis k at x, the
 * derivative by the pose has three parts only: of the face moved along its normal, and of its two tilts. Divided by the
 * ray's component across the face they are 1, x_a, x_b, where a, b follow k. The pixels of all faces across one axis,
 * the body's and its parts', share this, so the sums are kept for three unknowns, and become those of the pose at the end.
 */
struct faces {
	double h[6], g[3], shared[3]; /* lower triangle */
};

static void faces_add(struct faces *faces, double f, double xa, double xb, double error, double weight)
{
	const double row[3] = { f, f * xa, f * xb };
	double *h = faces->h;

	for (int i = 0; i < 3; i++) {
		double weighted = weight * row[i];

		for (int j = 0; j <= i; j++)
			*h++ += weighted * row[j];
		faces->g[i] += weighted * error;
		faces->shared[i] += weighted;
	}
}

static void faces_spread(const struct faces faces[3], const struct placed *at, struct normal *normal)
{
	for (int k = 0; k < 3; k++) {
		const double *h = faces[k].h;
		const double whole[9] = { h[0], h[1], h[3], h[1], h[2], h[4], h[3], h[4], h[5] };
		double by[18] = { 0 };
		int a = (k + 1) % 3, b = (k + 2) % 3;

		/* Turning by e moves the point x by e x x: along the normal e_k that is e . (x x e_k). */
		for (int i = 0; i < 3; i++) {
			by[3 * i] = at->r[3 * i + k];
			by[3 * (3 + i) + 1] = -at->r[3 * i + b];
			by[3 * (3 + i) + 2] = at->r[3 * i + a];
		}
		for (int i = 0; i < 6; i++) {
			double row[3];

			rotate_back(whole, by + 3 * i, row);
			for (int j = 0; j <= i; j++)
				normal->h[6 * i + j] += dot3(row, by + 3 * j);
			normal->g[i] += dot3(faces[k].g, by + 3 * i);
			normal->offset.row[i] += dot3(faces[k].shared, by + 3 * i);
		}
	}
}

/* How far a point of the docking face's plane is outside of a part's footprint; where a tube ends inside, too. */
static double outside(const struct pose_part *part, double x, double y)
{
	x -= part->centre[0];
	y -= part->centre[1];
	if (part->kind == POSE_BOX)
		return larger(fabs(x) - part->half[0], fabs(y) - part->half[1]);
	double r = sqrt(x * x + y * y);

	return larger(r - part->half[0], part->half[1] - r);
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

		if ((low > 0) != (high > 0) || smaller(fabs(low), fabs(high)) < pixel)
			return true;
	}
	return false;
}

/* Is the hit nearer to an edge of its face than this, or than a target moved by its deviations would have it? */
static bool near_edge(const struct hit *hit, int a, int b, double xa, double xb, const double direction[3],
		      const double deviation[3], double margin)
{
	const struct pose_part *part = hit->part;
	double margin_a = margin, margin_b = margin;

	if (deviation) {
		double along = deviation[hit->axis] / fabs(direction[hit->axis]);

		margin_a = larger(margin, deviation[a] + along * fabs(direction[a]));
		margin_b = larger(margin, deviation[b] + along * fabs(direction[b]));
	}
	if (part->kind == POSE_CYLINDER)
		return -outside(part, xa, xb) < larger(margin_a, margin_b);
	return part->half[a] - fabs(xa - part->centre[a]) < margin_a ||
	       part->half[b] - fabs(xb - part->centre[b]) < margin_b;
}

void surface_measure(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
		     const struct view *view, const double deviation[3], int wanted, double slack,
		     struct normal *normal)
{
	static const int next[3] = { 1, 2, 0 };
	int window[4];
	const struct pose_part *body = pose->model.part;

	if (!model_window(pose, at, 0, 0, window))
		return;
	int wide = window[2] - window[0] + 1, high = window[3] - window[1] + 1;
	int step = (int)larger(1, ceil(sqrt((double)wide * high / wanted)));

	/* Known so well, it moves no ray that counts by more than the margin. */
	if (deviation[0] + deviation[1] + deviation[2] < GRAZING * MARGIN * norm3(at->p) / pose->camera.fx)
		deviation = NULL;

	struct faces faces[3] = { 0 };

	/* Other pixels each frame, so that the error of a pixel does not stay. */
	for (int y = window[1] + (int)(pose->frames / step % step); y <= window[3]; y += step) {
		for (int x = window[0] + (int)(pose->frames % step); x <= window[2]; x += step) {
			long at_pixel = pixel_of(pose, x, y);
			double ray[3], direction[3];
			unsigned int parts = view_parts(pose, view, x, y);
			struct hit hit;

			camera_ray(pose, at_pixel, ray);
			rotate_back(at->r, ray, direction);
			if (!view_hit(pose, view, parts, direction, &hit) || hit.axis < 0)
				continue;
			double across = direction[hit.axis], pixel = hit.range / pose->camera.fx;
			int a = next[hit.axis], b = next[a];
			double xa = view->origin[a] + hit.range * direction[a];
			double xb = view->origin[b] + hit.range * direction[b];

			/* Grazing rays say little, and with much noise. */
			if (fabs(across) < GRAZING || frame_saturated(frame, at_pixel) ||
			    ((deviation || hit.part == body) && near_edge(&hit, a, b, xa, xb, direction, deviation,
									  hit.part == body ? MARGIN * pixel : 0)) ||
			    (parts != 1 && near_rim(pose, view, parts, direction, &hit)))
				continue;
			double sigma = range_noise(pose, frame, at_pixel, hit.range);
			double range = frame_range(frame, at_pixel), error = range - pose->offset - hit.range;
			double z = fabs(error) / (sigma + slack);

			normal->shown++;
			if (range == 0)
				continue;
			if (z < 5 || fabs(error) < 0.01)
				normal->agreeing++;
			else
				normal->contrary++;
			if (z > 5 || lone(pose, frame, x, y, 6 * sigma + 0.008))
				continue;
			/* Full weight up to three deviations, none from five on. */
			double weight = (z < 3 ? 1 : (5 - z) / 2) / (sigma * sigma);

			count_error(normal->pixel_errors, fabs(error) / sigma);
			normal->samples++;
			if (frame->amplitude)
				normal->light += frame->amplitude[at_pixel] * range * range / fabs(across);
			faces_add(faces + hit.axis, 1 / across, xa, xb, error, weight);
			normal->offset.weight += weight;
			normal->offset.error += weight * error;
		}
	}
	faces_spread(faces, at, normal);
}

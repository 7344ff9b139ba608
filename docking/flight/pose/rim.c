// SPDX-License-Identifier: MIT
/* The rims of what stands on the docking face: ring and keys. Close by, the outline leaves the picture, and the rims
 * give the sideways position and the roll.
 *
 * Across a rim the range jumps by some millimetres, which is no more than a pixel's noise. So no crossing is looked
 * for. Instead, the sum of (range measured - range predicted) along the line equals the jump times the rim's error in
 * pixels. It is linear in the pose, and its noise is that of the pixels.
 */
#include "state.h"

#define AROUND 20    /* points of a circle */
#define ALONG 5      /* points of a straight rim */
#define SHARED 0.06 /* pixels: an error that all points of a rim may share, since mixed pixels are not modelled */
#define LEAST_JUMP 0.004 /* m; a smaller jump helps less than a mixed pixel harms */

/* What a pixel should read, its derivative by the pose added to `sum`, target coordinates; false if that is of no use. */
static bool predict(const struct pose *pose, const struct placed *at, const struct view *view, int x, int y,
		    struct hit *hit, double sum[6])
{
	static const int next[3] = { 1, 2, 0 };
	double ray[3], direction[3], arm[3], row[6];

	camera_ray(pose, pixel_of(pose, x, y), ray);
	rotate_back(at->r, ray, direction);
	if (!view_hit(pose, view, view_parts(pose, view, x, y), direction, hit))
		return false;
	for (int k = 0; k < 3; k++)
		arm[k] = view->origin[k] + hit->range * direction[k];
	if (hit->axis >= 0) {
		int k = hit->axis, a = next[k], b = next[a];
		double f = 1 / direction[k];

		sum[k] += f;
		sum[3 + a] += arm[b] * f;
		sum[3 + b] -= arm[a] * f;
		return fabs(direction[k]) > GRAZING;
	}
	double across = dot3(hit->normal, direction);

	for (int k = 0; k < 3; k++)
		row[k] = hit->normal[k] / across;
	cross3(arm, row, row + 3);
	for (int k = 0; k < 6; k++)
		sum[k] += row[k];
	return fabs(across) > GRAZING;
}

static void measure_point(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
			  const struct view *view, const double point[3], const double along[3], const double out[3],
			  int reach, struct normal *normal, struct bias *bias)
{
	double arm[3], along_there[3], out_there[3], row[6], sum[6] = { 0 }, error = 0, variance = 0, seen = 0;
	struct line line;

	/* If the wall below the rim is seen, the range does not jump. */
	for (int k = 0; k < 3; k++)
		seen += (view->origin[k] - point[k]) * out[k];
	if (seen > 0)
		return;
	/* The jump: from the rim on along its ray to the docking face. */
	double steep = point[2] - view->origin[2], distance = 0;

	for (int k = 0; k < 3; k++)
		distance += (point[k] - view->origin[k]) * (point[k] - view->origin[k]);
	distance = sqrt(distance);
	double jump = -point[2] / steep * distance;

	if (!(jump > LEAST_JUMP && jump < 0.5 * distance))
		return;
	rotate(at->r, point, arm);
	rotate(at->r, along, along_there);
	rotate(at->r, out, out_there);
	if (!line_across(pose, at, arm, along_there, out_there, reach, &line))
		return;
	/* Beside the outline a place this uncertain adds nothing; most frames of an approach skip this work. */
	if (range_noise(pose, frame, line.pixel, distance) * sqrt(2 * reach + 1) > jump)
		return;
	for (int j = -reach; j <= reach; j++) {
		int x = line.x + j * line.dx, y = line.y + j * line.dy;
		long pixel = line.pixel + j * line.step;
		double range = frame_range(frame, pixel);
		struct hit hit;

		if (range == 0 || !predict(pose, at, view, x, y, &hit, sum))
			return;
		double sigma = range_noise(pose, frame, pixel, hit.range);

		if (fabs(range - hit.range) > jump + 5 * sigma) {
			normal->looked++;
			normal->elsewhere++;
			return;
		}
		error += range - pose->offset - hit.range;
		variance += sigma * sigma;
	}
	/* All pixels show one side: the rim is not here, and two that would be opposite each other must not hold a key
	 * where there is none.
	 */
	normal->looked++;
	if (fabs(error) > reach * jump) {
		normal->elsewhere++;
		return;
	}
	rotate(at->r, sum, row);
	rotate(at->r, sum + 3, row + 3);
	/* Pixels nearer the camera where the rim moves outwards. */
	for (int k = 0; k < 6; k++)
		row[k] -= jump / line.slant * line.row[k];
	/* The model is evaluated at the middle of each pixel, the camera averages its whole area: 1 / sqrt(12) pixels.
	 */
	double mixed = 0.29 * jump / line.slant;
	double weight = 1 / (variance + mixed * mixed);

	normal->crossings++;
	normal_add(normal, row, error, weight);
	bias_measure(bias, row, error, weight);
	offset_add(&normal->offset, row, 2 * reach + 1, error, weight);
}

static void measure_circle(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
			   const struct view *view, const struct pose_part *part, double radius, double sign, int reach,
			   struct normal *normal)
{
	/* The next point by turning the last one, which needs no sine. */
	const double c = cos(2 * M_PI / AROUND), s = sin(2 * M_PI / AROUND);
	double x = 1, y = 0;
	struct bias *bias = normal_bias(normal, SHARED * part->half[2] * 2);

	for (int i = 0; i < AROUND; i++) {
		const double point[3] = { part->centre[0] + radius * x, part->centre[1] + radius * y,
					  part->centre[2] - part->half[2] };
		const double along[3] = { -y, x, 0 }, out[3] = { sign * x, sign * y, 0 };
		double turned = c * x - s * y;

		measure_point(pose, frame, at, view, point, along, out, reach, normal, bias);
		y = s * x + c * y;
		x = turned;
	}
}

static void measure_rectangle(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
			      const struct view *view, const struct pose_part *part, int reach, struct normal *normal)
{
	struct bias *bias = normal_bias(normal, SHARED * part->half[2] * 2);

	for (int side = 0; side < 4; side++) {
		int across = side & 1;
		double sign = side & 2 ? 1 : -1, along[3] = { 0 }, out[3] = { 0 };

		along[!across] = 1;
		out[across] = sign;
		for (int i = 0; i < ALONG; i++) {
			double point[3] = { part->centre[0], part->centre[1], part->centre[2] - part->half[2] };

			point[across] += sign * part->half[across];
			point[!across] += part->half[!across] * (2 * (i + 0.5) / ALONG - 1);
			measure_point(pose, frame, at, view, point, along, out, reach, normal, bias);
		}
	}
}

void rim_measure(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
		 const struct view *view, int reach, struct normal *normal)
{
	for (int i = 1; i < pose->model.parts; i++) {
		const struct pose_part *part = pose->model.part + i;
		double top = part->centre[2] - part->half[2];

		/* Seen from the front, and not along the face. */
		if (top > -LEAST_JUMP || view->origin[2] > top - 0.02)
			continue;
		if (part->kind == POSE_BOX) {
			measure_rectangle(pose, frame, at, view, part, reach, normal);
			continue;
		}
		measure_circle(pose, frame, at, view, part, part->half[0], 1, reach, normal);
		if (part->half[1] > 0)
			measure_circle(pose, frame, at, view, part, part->half[1], -1, reach, normal);
	}
}

// SPDX-License-Identifier: MIT
/* Is the face that is seen larger than the docking face? An edge that is far from where it is expected tells the fit
 * nothing, nor does one between two faces of which one is seen almost edge-on. So the body a quarter of a turn off may fit
 * the rest; but then the face goes on beyond an edge.
 */
#include "state.h"

#define POINTS 12 /* of an edge */
#define FROM 2 /* pixels beyond it */
#define TO 6
#define SAME 0.5 /* deviations of a range: what is behind the face, though close, is farther on average */

/* Does the plane of the docking face go on beyond one edge, from `from` to `to` (target coordinates)? */
static SELDOM bool goes_on(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
			   const double middle[3], int across, double sign)
{
	const struct pose_part *body = pose->model.part;
	double normal[3], centre[3], along[3], out[3], off = 0;
	int on = 0, count = 0;

	rotate(at->r, middle, centre);
	for (int k = 0; k < 3; k++) {
		normal[k] = at->r[3 * k + 2];
		along[k] = at->r[3 * k + !across];
		out[k] = sign * at->r[3 * k + across];
	}
	double level = dot3(normal, at->p) + dot3(normal, centre);

	for (int i = 0; i < POINTS; i++) {
		double arm[3], where = body->half[!across] * (2 * (i + 0.5) / POINTS - 1);
		struct line line;

		for (int k = 0; k < 3; k++)
			arm[k] = centre[k] + body->half[across] * out[k] + where * along[k];
		if (!line_across(pose, at, arm, along, out, TO, &line))
			continue;
		for (int j = FROM; j <= TO; j++) {
			long pixel = line.pixel + j * line.step;
			double ray[3], range = frame_range(frame, pixel);

			camera_ray(pose, pixel, ray);
			double expected = level / dot3(ray, normal) + pose->offset,
			       noise = range_noise(pose, frame, pixel, expected);

			count++;
			if (range == 0 || fabs(range - expected) > 5 * noise)
				continue;
			on++;
			off += (range - expected) / noise;
		}
	}
	return 2 * on > count && off < SAME * on;
}

SELDOM bool overhanging(const struct pose *pose, const struct pose_frame *frame, const struct placed *at)
{
	const struct pose_part *body = pose->model.part;
	double eye[3], middle[3];

	rotate_back(at->r, at->p, eye);
	for (int k = 0; k < 3; k++)
		middle[k] = body->centre[k];
	middle[2] -= body->half[2];
	if (-eye[2] > middle[2])
		return false;
	for (int side = 0; side < 4; side++)
		if (goes_on(pose, frame, at, middle, side & 1, side & 2 ? 1 : -1))
			return true;
	return false;
}

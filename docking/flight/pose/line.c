// SPDX-License-Identifier: MIT
#include "state.h"

bool line_across(const struct pose *pose, const struct placed *at, const double arm[3], const double along[3],
		 const double out[3], int reach, struct line *line)
{
	double point[3], pixel[2], d[6], image[3];

	for (int k = 0; k < 3; k++)
		point[k] = arm[k] + at->p[k];
	if (!camera_project(&pose->camera, point, pixel, d))
		return false;
	double tx = dot3(d, along), ty = dot3(d + 3, along), length = sqrt(tx * tx + ty * ty);

	if (!(length > 1e-6))
		return false;
	double nx = ty / length, ny = -tx / length;

	if (nx * dot3(d, out) + ny * dot3(d + 3, out) < 0) {
		nx = -nx;
		ny = -ny;
	}
	if (!(fabs(pixel[0]) < 1e4 && fabs(pixel[1]) < 1e4))
		return false;
	/* Along a row or a column, whichever is more across the edge; the place where the edge crosses that same row.
	 */
	if (fabs(nx) >= fabs(ny)) {
		line->dx = nx > 0 ? 1 : -1;
		line->dy = 0;
		line->y = (int)lround(pixel[1]);
		double crossing = pixel[0] + (line->y - pixel[1]) * tx / ty;

		line->x = (int)lround(crossing);
		line->predicted = line->dx * (crossing - line->x);
		line->slant = fabs(nx);
	} else {
		line->dx = 0;
		line->dy = ny > 0 ? 1 : -1;
		line->x = (int)lround(pixel[0]);
		double crossing = pixel[1] + (line->x - pixel[0]) * ty / tx;

		line->y = (int)lround(crossing);
		line->predicted = line->dy * (crossing - line->y);
		line->slant = fabs(ny);
	}
	int rx = line->dx ? reach : 0, ry = line->dy ? reach : 0;

	if (line->x < rx || line->y < ry || line->x + rx >= pose->camera.width || line->y + ry >= pose->camera.height)
		return false;
	line->pixel = pixel_of(pose, line->x, line->y);
	line->step = line->dx + line->dy * pose->camera.width;
	for (int k = 0; k < 3; k++)
		line->row[k] = image[k] = nx * d[k] + ny * d[3 + k];
	cross3(arm, image, line->row + 3);
	return true;
}

/* The integral of a number held between 0 and 1. */
static double held(double x)
{
	return x < 0 ? 0 : x < 1 ? x * x / 2 : x - 0.5;
}

double line_covered(double end, double slope)
{
	if (slope < 0.01)
		return larger(0, smaller(1, end + 0.5));
	return (held(end + 0.5 + slope / 2) - held(end + 0.5 - slope / 2)) / slope;
}

// SPDX-License-Identifier: MIT
#include "state.h"

bool camera_usable(const struct pose_camera *camera)
{
	const double all[] = { camera->fx, camera->fy, camera->cx, camera->cy, camera->k1,
			       camera->k2, camera->p1, camera->p2, camera->k3 };

	for (unsigned int i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!isfinite(all[i]))
			return false;
	return camera->width >= 16 && camera->width <= 4096 && camera->height >= 16 && camera->height <= 4096 &&
	       camera->fx >= 1 && camera->fy >= 1;
}

/* Distorted coordinates of (x/z, y/z), and their derivative, row by row. */
static void distort(const struct pose_camera *c, double x, double y, double out[2], double d[4])
{
	double xx = x * x, xy = x * y, yy = y * y, r2 = xx + yy, p1 = 2 * c->p1, p2 = 2 * c->p2;
	double radial = 1 + r2 * (c->k1 + r2 * (c->k2 + r2 * c->k3));
	double slope = 2 * (c->k1 + r2 * (2 * c->k2 + 3 * r2 * c->k3)); /* d radial / d x = slope x */
	double even = radial + p1 * y + p2 * x;

	out[0] = x * even + c->p2 * r2;
	out[1] = y * even + c->p1 * r2;
	d[0] = even + slope * xx + 2 * p2 * x;
	d[1] = d[2] = slope * xy + p1 * x + p2 * y;
	d[3] = even + slope * yy + 2 * p1 * y;
}

void camera_rays(const struct pose_camera *camera, float *rays)
{
	for (int v = 0; v < camera->height; v++) {
		for (int u = 0; u < camera->width; u++, rays += 3) {
			double at[2] = { (u - camera->cx) / camera->fx, (v - camera->cy) / camera->fy };
			double x = at[0], y = at[1], got[2], d[4];

			/* Newton's method; an ideal lens is done after one step. */
			for (int i = 0; i < 10; i++) {
				distort(camera, x, y, got, d);
				double ex = at[0] - got[0], ey = at[1] - got[1], det = d[0] * d[3] - d[1] * d[2];

				if (!(fabs(det) > 1e-6) || fabs(ex) + fabs(ey) < 1e-12)
					break;
				x += (d[3] * ex - d[1] * ey) / det;
				y += (d[0] * ey - d[2] * ex) / det;
			}
			x = isfinite(x) ? x : at[0];
			y = isfinite(y) ? y : at[1];
			double length = sqrt(1 + x * x + y * y);

			rays[0] = (float)(x / length);
			rays[1] = (float)(y / length);
			rays[2] = (float)(1 / length);
		}
	}
}

bool camera_project(const struct pose_camera *camera, const double point[3], double pixel[2], double derivative[6])
{
	if (!(point[2] > 0.01))
		return false;
	double iz = 1 / point[2], x = point[0] * iz, y = point[1] * iz, got[2], d[4];

	/* Far outside the picture the lens polynomial means nothing. */
	if (!(x * x + y * y < 16))
		return false;
	distort(camera, x, y, got, d);
	pixel[0] = camera->fx * got[0] + camera->cx;
	pixel[1] = camera->fy * got[1] + camera->cy;
	if (!derivative)
		return true;
	for (int i = 0; i < 2; i++) {
		double f = iz * (i ? camera->fy : camera->fx);

		derivative[3 * i] = f * d[2 * i];
		derivative[3 * i + 1] = f * d[2 * i + 1];
		derivative[3 * i + 2] = -f * (d[2 * i] * x + d[2 * i + 1] * y);
	}
	return true;
}

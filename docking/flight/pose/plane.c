// SPDX-License-Identifier: MIT
#include "find.h"

#include <string.h>

#define TRIALS 40
#define LEAST_POINTS 10

/* Numerical Recipes' quick generator: the choice of points need not be unpredictable, only the same in each run. */
int pose_draw(struct pose *pose, int below)
{
	pose->random = pose->random * 1664525u + 1013904223u;
	return (int)(((uint64_t)pose->random * (unsigned int)below) >> 32);
}

/* The least-squares plane of the points within `most` of the last plane; returns their number. */
static int refine(struct face_points *points, double most, bool drop)
{
	double mean[3] = { 0 }, scatter[9] = { 0 }, values[3], vectors[9], level = dot3(points->normal, points->centre);
	int count = 0, least = 0;

	for (int i = 0; i < points->points; i++) {
		const double *x = points->point[i];

		if (fabs(dot3(points->normal, x) - level) > most)
			continue;
		for (int k = 0; k < 3; k++)
			mean[k] += x[k];
		if (drop) {
			memmove(points->point[count], x, sizeof(points->point[0]));
			points->at_border[count] = points->at_border[i];
		}
		count++;
	}
	if (count < LEAST_POINTS)
		return 0;
	if (drop)
		points->points = count;
	for (int k = 0; k < 3; k++)
		mean[k] /= count;
	for (int i = 0; i < points->points; i++) {
		const double *x = points->point[i];

		if (!drop && fabs(dot3(points->normal, x) - level) > most)
			continue;
		for (int k = 0; k < 9; k++)
			scatter[k] += (x[k / 3] - mean[k / 3]) * (x[k % 3] - mean[k % 3]);
	}
	eigen(3, scatter, values, vectors);
	for (int k = 1; k < 3; k++)
		if (values[k] < values[least])
			least = k;
	for (int k = 0; k < 3; k++) {
		points->normal[k] = vectors[3 * k + least];
		points->centre[k] = mean[k];
	}
	/* Towards the camera. */
	if (dot3(points->normal, mean) > 0)
		for (int k = 0; k < 3; k++)
			points->normal[k] = -points->normal[k];
	return count;
}

bool plane_fit(struct pose *pose, struct face_points *points)
{
	int most = 0;
	double normal[3], centre[3], best[6] = { 0 };

	if (points->points < LEAST_POINTS)
		return false;
	/* A block is the mean of four pixels. */
	double near = 0.003 + 1.3 * usual_noise(pose, norm3(points->point[points->points / 2]));

	for (int trial = 0; trial < TRIALS; trial++) {
		const double *a = points->point[pose_draw(pose, points->points)];
		const double *b = points->point[pose_draw(pose, points->points)];
		const double *c = points->point[pose_draw(pose, points->points)];
		double ab[3], ac[3];

		for (int k = 0; k < 3; k++) {
			ab[k] = b[k] - a[k];
			ac[k] = c[k] - a[k];
			centre[k] = a[k];
		}
		cross3(ab, ac, normal);
		double length = norm3(normal);

		if (length < 1e-5) /* m^2: too slim a triangle */
			continue;
		int count = 0;
		double level = dot3(normal, centre);

		for (int i = 0; i < points->points; i += 1 + points->points / 200)
			count += fabs(dot3(normal, points->point[i]) - level) < near * length;
		if (count <= most)
			continue;
		most = count;
		for (int k = 0; k < 3; k++) {
			best[k] = normal[k] / length;
			best[3 + k] = centre[k];
		}
	}
	if (most == 0)
		return false;
	memcpy(points->normal, best, sizeof(points->normal));
	memcpy(points->centre, best + 3, sizeof(points->centre));
	if (!refine(points, 2 * near, false) || !refine(points, 2 * near, true))
		return false;
	points->range = norm3(points->centre);
	/* A plane seen edge-on cannot be used. */
	return fabs(dot3(points->normal, points->centre)) > 0.1 * points->range;
}

/* The extent of the points (`at`, in the plane) along axes that are turned by the angle of this cosine and sine. */
static void reach(const struct face_points *points, double at[][2], double c, double s, struct rectangle *out)
{
	for (int a = 0; a < 2; a++) {
		out->low[a] = INFINITY;
		out->high[a] = -INFINITY;
		out->low_cut[a] = out->high_cut[a] = false;
	}
	for (int i = 0; i < points->points; i++) {
		const double turned[2] = { c * at[i][0] + s * at[i][1], c * at[i][1] - s * at[i][0] };

		for (int a = 0; a < 2; a++) {
			if (turned[a] < out->low[a]) {
				out->low[a] = turned[a];
				out->low_cut[a] = points->at_border[i];
			}
			if (turned[a] > out->high[a]) {
				out->high[a] = turned[a];
				out->high_cut[a] = points->at_border[i];
			}
		}
	}
}

/* The rectangle of least area, searched in steps of 3 degrees. */
void plane_rectangle(const struct pose *pose, const struct face_points *points, struct rectangle *out)
{
	const double step_c = cos(3 * M_PI / 180), step_s = sin(3 * M_PI / 180);
	double first[3] = { 1, 0, 0 }, second[3], at[MOST_POINTS][2], least = INFINITY, c = 1, s = 0;
	struct rectangle tried;

	/* Begin along the picture's rows, so that a face that is cut by the picture keeps its axes there. */
	for (int k = 0; k < 3; k++)
		first[k] -= points->normal[0] * points->normal[k];
	double length = norm3(first);

	for (int k = 0; k < 3; k++)
		first[k] /= length;
	cross3(points->normal, first, second);
	for (int i = 0; i < points->points; i++) {
		at[i][0] = dot3(first, points->point[i]);
		at[i][1] = dot3(second, points->point[i]);
	}
	for (int trial = 0; trial < 30; trial++) {
		reach(points, at, c, s, &tried);
		double area = (tried.high[0] - tried.low[0]) * (tried.high[1] - tried.low[1]);

		if (area < least) {
			least = area;
			*out = tried;
			for (int k = 0; k < 3; k++) {
				out->axis[0][k] = c * first[k] + s * second[k];
				out->axis[1][k] = c * second[k] - s * first[k];
			}
		}
		double turned = step_c * c - step_s * s;

		s = step_s * c + step_c * s;
		c = turned;
	}
	/* Blocks on the edge were left out: add half a block and the hidden part of a block on each side. */
	double pad = 0.75 * BLOCK * points->range / pose->camera.fx;

	for (int a = 0; a < 2; a++) {
		out->low[a] -= pad;
		out->high[a] += pad;
	}
}

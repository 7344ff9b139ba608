// SPDX-License-Identifier: MIT
/* Close by, the picture cuts the body's sides off. Then the docking ring tells where the face's middle is, and the keys
 * how it is turned: both stand out of the face by more than the noise.
 */
#include "find.h"

#define STEP_AT_1M 1.3 /* pixels between those that are looked at */
#define MOST_RAISED 200
#define LEAST_ON_RING 15
#define TRIALS 20
#define TURNS 36
#define LOW 0.008 /* m above the face: keys and ring are 15 and 20 mm high */
#define HIGH 0.03

struct raised {
	double at[MOST_RAISED][2]; /* m, in the face's plane */
	int count;
};

static void plane_axes(const struct face_points *points, double x[3], double y[3], double z[3])
{
	for (int k = 0; k < 3; k++) {
		z[k] = -points->normal[k];
		x[k] = (k == 0) + points->normal[0] * z[k];
	}
	double length = norm3(x);

	for (int k = 0; k < 3; k++)
		x[k] /= length;
	cross3(z, x, y);
}

static void collect(const struct pose *pose, const struct pose_frame *frame, const struct face_points *points,
		    const double x[3], const double y[3], struct raised *out)
{
	double level = dot3(points->normal, points->centre);
	int step = (int)fmax(2, fmin(6, lround(STEP_AT_1M / points->range)));

	out->count = 0;
	for (int v = 1; v < pose->camera.height; v += step) {
		for (int u = 1 + v / step % 2; u < pose->camera.width; u += step) {
			double range = frame_range(frame, pixel_of(pose, u, v)), ray[3];

			if (range == 0 || range > 2 * points->range)
				continue;
			camera_ray(pose, pixel_of(pose, u, v), ray);
			double height = range * dot3(points->normal, ray) - level;

			if (height < LOW || height > HIGH || out->count == MOST_RAISED)
				continue;
			out->at[out->count][0] = range * dot3(x, ray);
			out->at[out->count++][1] = range * dot3(y, ray);
		}
	}
}

static int on_circle(const struct raised *raised, const double centre[2], double radius, double width)
{
	int count = 0;

	for (int i = 0; i < raised->count; i++) {
		double a = raised->at[i][0] - centre[0], b = raised->at[i][1] - centre[1];

		count += fabs(sqrt(a * a + b * b) - radius) < width;
	}
	return count;
}

/* The circle of this radius that most raised points lie on: through two of them, drawn at random. */
static bool find_circle(struct pose *pose, const struct raised *raised, double radius, double width, double centre[2])
{
	int best = 0;

	for (int trial = 0; trial < TRIALS && raised->count; trial++) {
		const double *a = raised->at[pose_draw(pose, raised->count)],
			     *b = raised->at[pose_draw(pose, raised->count)];
		double dx = b[0] - a[0], dy = b[1] - a[1], d2 = dx * dx + dy * dy;

		if (d2 < radius * radius / 4 || d2 > 3.6 * radius * radius)
			continue;
		double along = sqrt(radius * radius / d2 - 0.25);

		for (int side = -1; side <= 1; side += 2) {
			const double tried[2] = { (a[0] + b[0]) / 2 - side * along * dy,
						  (a[1] + b[1]) / 2 + side * along * dx };
			int count = on_circle(raised, tried, radius, width);

			if (count > best) {
				best = count;
				centre[0] = tried[0];
				centre[1] = tried[1];
			}
		}
	}
	/* Towards where the points on it say that it is. */
	for (int round = 0; round < 3; round++) {
		double h[3] = { 1e-9, 0, 1e-9 }, g[2] = { 0 };

		for (int i = 0; i < raised->count; i++) {
			double a = raised->at[i][0] - centre[0], b = raised->at[i][1] - centre[1];
			double r = sqrt(a * a + b * b) + 1e-9, off = r - radius;

			if (fabs(off) > 1.5 * width)
				continue;
			h[0] += a * a / (r * r), h[1] += a * b / (r * r), h[2] += b * b / (r * r);
			g[0] += off * a / r, g[1] += off * b / r;
		}
		double det = h[0] * h[2] - h[1] * h[1];

		if (!(det > 1e-9))
			break;
		centre[0] += (h[2] * g[0] - h[1] * g[1]) / det;
		centre[1] += (h[0] * g[1] - h[1] * g[0]) / det;
	}
	return best >= LEAST_ON_RING;
}

/* How many raised points beside the ring lie on keys, if the face is turned by this cosine and sine. */
static int on_keys(const struct pose *pose, const struct raised *raised, const double centre[2], double beside,
		   double c, double s)
{
	int count = 0;

	for (int n = 0; n < raised->count; n++) {
		double a = raised->at[n][0] - centre[0], b = raised->at[n][1] - centre[1];
		double x = c * a + s * b, y = c * b - s * a;

		if (x * x + y * y < beside * beside)
			continue;
		for (int i = 1; i < pose->model.parts; i++) {
			const struct pose_part *part = pose->model.part + i;

			count += part->kind == POSE_BOX && fabs(x - part->centre[0]) < part->half[0] + 0.002 &&
				 fabs(y - part->centre[1]) < part->half[1] + 0.002;
		}
	}
	return count;
}

bool ring_place(struct pose *pose, const struct pose_frame *frame, const struct face_points *points, struct placed *out)
{
	const struct pose_part *ring = NULL;
	struct raised raised;
	double x[3], y[3], z[3], centre[2] = { 0 };
	int best = -1;

	for (int i = 1; i < pose->model.parts; i++)
		if (pose->model.part[i].kind == POSE_CYLINDER && pose->model.part[i].half[1] > 0)
			ring = pose->model.part + i;
	if (!ring)
		return false;
	plane_axes(points, x, y, z);
	collect(pose, frame, points, x, y, &raised);
	if (!find_circle(pose, &raised, (ring->half[0] + ring->half[1]) / 2,
			 (ring->half[0] - ring->half[1]) / 2 + 0.003, centre))
		return false;
	/* The ring's middle is the target's origin, unless the model has it elsewhere. */
	double level = dot3(points->normal, points->centre);

	for (int turn = 0; turn < TURNS; turn++) {
		double c = cos(2 * M_PI / TURNS * turn), s = sin(2 * M_PI / TURNS * turn);
		const double middle[2] = { centre[0] - c * ring->centre[0] + s * ring->centre[1],
					   centre[1] - s * ring->centre[0] - c * ring->centre[1] };
		int count = on_keys(pose, &raised, middle, 1.2 * ring->half[0], c, s);

		if (count <= best)
			continue;
		best = count;
		for (int k = 0; k < 3; k++) {
			out->r[3 * k] = c * x[k] + s * y[k];
			out->r[3 * k + 1] = c * y[k] - s * x[k];
			out->r[3 * k + 2] = z[k];
			out->p[k] = middle[0] * x[k] + middle[1] * y[k] - level * z[k];
		}
	}
	return true;
}

// SPDX-License-Identifier: MIT
/* Which way round the target is. The body looks the same after half a turn; only the keys on the docking face tell. The
 * evidence for each way is a logarithm of likelihoods, added up over frames, whose noise is independent: half the
 * difference in squared deviations from what the one and the other should show.
 */
#include "state.h"

#include <string.h>

#define GRID 4 /* points along each side of a key's top */
#define POINTS (GRID * GRID)
#define ENOUGH 15 /* e^15 to one; half a turn that is wrong is worse than waiting */
#define UNSEEN 20 /* frames in which nothing spoke for either way round: the keys are not where they are looked for */
#define MOST_NOW 8 /* of one frame, whose errors its points may share */
#define ROLLS 4 /* to either side of half a turn */
#define ROLL 0.05 /* rad, from one to the next: 4 mm at the keys */
#define MOST 60 /* so that what speaks against it later is heard */

void placed_turned(const struct pose *pose, const struct placed *at, int axis, struct placed *out)
{
	const double *centre = pose->model.part->centre;
	double x[3], moved[3];

	*out = *at;
	for (int k = 0; k < 3; k++) {
		double sign = k == axis ? 1 : -1;

		for (int row = 0; row < 3; row++)
			out->r[3 * row + k] *= sign;
		x[k] = centre[k] - sign * centre[k];
	}
	rotate(at->r, x, moved);
	for (int k = 0; k < 3; k++)
		out->p[k] += moved[k];
}

/* The range that a pixel should show of these parts; 0 where it shows none. */
static double should(const struct pose *pose, const struct placed *at, unsigned int parts, const double origin[3],
		     const double ray[3])
{
	double direction[3];
	struct hit hit;

	rotate_back(at->r, ray, direction);
	return model_hit(&pose->model, parts, origin, direction, &hit) ? hit.range : 0;
}

static void eye_of(const struct placed *at, double origin[3])
{
	rotate_back(at->r, at->p, origin);
	for (int k = 0; k < 3; k++)
		origin[k] = -origin[k];
}

/* One of POINTS points of a part's top, target coordinates; `turn`: the direction of the n-th of as many around. */
static void top_point(const struct pose_part *part, int n, const double turn[2], double x[3])
{
	double along[2] = { 2 * (n % GRID + 0.5) / GRID - 1, 2 * (n / GRID + 0.5) / GRID - 1 };
	double size[2] = { part->half[0], part->half[1] };

	if (part->kind == POSE_CYLINDER) { /* in the middle of the ring, or of the disc from its middle to its rim */
		size[0] = size[1] = 0.5 * (part->half[0] + part->half[1]);
		along[0] = turn[0];
		along[1] = turn[1];
	}
	for (int k = 0; k < 2; k++)
		x[k] = part->centre[k] + size[k] * along[k];
	x[2] = part->centre[2] - part->half[2];
}

static double top_area(const struct pose_part *part)
{
	const double *half = part->half;

	return part->kind == POSE_BOX ? 4 * half[0] * half[1] : M_PI * (half[0] * half[0] - half[1] * half[1]);
}

/* Over a part's top as `at` has it: what speaks for all parts there, against those of `parts` where `other` has them. Several
 * points may lie in one pixel, which then counts once.
 */
static SELDOM double over_top(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
			      const struct placed *other, unsigned int parts, const struct pose_part *part)
{
	const unsigned int every = (1u << pose->model.parts) - 1;
	double top = part->centre[2] - part->half[2], evidence = 0, eye[3], from[3];

	eye_of(at, eye);
	eye_of(other, from);
	if (top >= 0 || eye[2] > top)
		return 0;
	double pixels = top_area(part) * pose->camera.fx * pose->camera.fy * -eye[2] / (dot3(eye, eye) * norm3(eye));

	/* The next direction by turning the last one, which needs no sine. */
	const double c = cos(2 * M_PI / POINTS), s = sin(2 * M_PI / POINTS);
	double turn[2] = { 1, 0 };

	for (int n = 0; n < POINTS; n++) {
		double x[3], point[3], pixel[2], ray[3], turned = c * turn[0] - s * turn[1];

		top_point(part, n, turn, x);
		turn[1] = s * turn[0] + c * turn[1];
		turn[0] = turned;
		rotate(at->r, x, point);
		for (int k = 0; k < 3; k++)
			point[k] += at->p[k];
		if (!camera_project(&pose->camera, point, pixel, NULL) || !(pixel[0] > 0 && pixel[1] > 0) ||
		    !(pixel[0] < pose->camera.width - 1 && pixel[1] < pose->camera.height - 1))
			continue;
		long nearest = pixel_of(pose, (int)(pixel[0] + 0.5), (int)(pixel[1] + 0.5));
		double range = frame_range(frame, nearest);

		if (range == 0)
			continue;
		range -= pose->offset;
		camera_ray(pose, nearest, ray);
		double here = should(pose, at, every, eye, ray), there = should(pose, other, parts, from, ray);

		if (here == 0 || there == 0)
			continue;
		double sigma = range_noise(pose, frame, nearest, here) + 0.001;
		double for_here = (range - here) / sigma, for_there = (range - there) / sigma;

		/* Neither: something is in front. */
		if (smaller(fabs(for_here), fabs(for_there)) < 5)
			evidence += larger(-2, smaller(2, 0.5 * (for_there * for_there - for_here * for_here)));
	}
	return evidence * smaller(1, pixels / POINTS);
}

SELDOM void keys_evidence(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
			  const struct placed *other, double evidence[2])
{
	const unsigned int every = (1u << pose->model.parts) - 1;

	evidence[0] = evidence[1] = 0;
	for (int i = 1; i < pose->model.parts; i++) {
		if (pose->model.part[i].kind != POSE_BOX)
			continue;
		evidence[0] += over_top(pose, frame, at, other, every, pose->model.part + i);
		evidence[1] -= over_top(pose, frame, other, at, every, pose->model.part + i);
	}
}

/* The widest that the place may be off and a part's top is still looked for on itself. */
static double top_reach(const struct pose_part *part)
{
	return part->kind == POSE_BOX ? smaller(part->half[0], part->half[1]) : 0.5 * (part->half[0] - part->half[1]);
}

/* What a frame says for the parts where `at` has them, against the bare body. */
static SELDOM double parts_evidence(const struct pose *pose, const struct pose_frame *frame, const struct placed *at)
{
	double evidence = 0, cov[36], deviation[3], turn[3];

	filter_cov(pose, cov);
	placed_deviations(at, cov, deviation);
	placed_deviations(at, cov + 21, turn);
	for (int i = 1; i < pose->model.parts; i++) {
		const struct pose_part *part = pose->model.part + i;
		double aside = turn[2] * sqrt(part->centre[0] * part->centre[0] + part->centre[1] * part->centre[1]);

		if (larger(deviation[0], deviation[1]) + aside < top_reach(part))
			evidence += over_top(pose, frame, at, at, 1, part);
	}
	return evidence;
}

void keys_forget(struct pose *pose)
{
	memset(pose->evidence, 0, sizeof(pose->evidence));
	pose->decided = false;
	pose->parts_seen = 0;
	pose->weighed = 0;
}

/* Adds what a frame says. */
static void add(double *sum, double evidence)
{
	*sum = smaller(MOST, *sum + larger(-MOST_NOW, smaller(MOST_NOW, evidence)));
}

/* Keys that are seen where the pose has them, and where the other way round would have them too, tell nothing. Nor does what
 * only one of both says about z: where the pose is a little off, so is half a turn of it. About x and y half a turn has its
 * keys out of sight.
 */
static double against(const struct pose *pose, int axis)
{
	const double *evidence = pose->evidence[axis];

	if (evidence[0] * evidence[1] < 0)
		return 0;
	if (axis != 2)
		return evidence[0] + evidence[1];
	return 2 * (evidence[0] < 0 ? larger(evidence[0], evidence[1]) : smaller(evidence[0], evidence[1]));
}

/* Where no outline holds the roll, a pose that is half a turn off is also some degrees off, as it best covers the keys with the
 * wrong ones. So is half a turn of the right one: the one near it that this frame speaks least against, and by how much.
 */
static SELDOM double rival(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
			   struct placed *out)
{
	struct placed turned, rolled;
	double least = 2 * MOST, now[2];

	placed_turned(pose, at, 2, &turned);
	for (int n = -ROLLS; n <= ROLLS; n++) {
		double c = cos(n * ROLL), s = sin(n * ROLL);

		rolled = turned;
		for (int k = 0; k < 3; k++) {
			rolled.r[3 * k] = c * turned.r[3 * k] + s * turned.r[3 * k + 1];
			rolled.r[3 * k + 1] = c * turned.r[3 * k + 1] - s * turned.r[3 * k];
		}
		keys_evidence(pose, frame, at, &rolled, now);
		if (now[0] + now[1] < least) {
			least = now[0] + now[1];
			*out = rolled;
		}
	}
	return least;
}

SELDOM enum keys keys_weigh(struct pose *pose, const struct pose_frame *frame, bool outlined, struct placed *at)
{
	double least = 2 * MOST;
	struct placed turned[3];
	int which = 0;

	/* Where edges and rims contradict the pose, so may the places where parts are looked for. */
	if (pose->discord > DISCORD_DECIDED)
		return pose->decided ? KEYS_RIGHT : KEYS_UNDECIDED;
	/* What is decided is looked at again in some frames, by one axis in turn. */
	if (pose->decided && pose->frames % LOOK)
		return KEYS_RIGHT;
	if (!pose->decided || pose->frames / LOOK % 3 == 0)
		add(&pose->parts_seen, parts_evidence(pose, frame, at));
	for (int axis = 0; axis < 3; axis++) {
		if (!pose->decided || (int)(pose->frames / LOOK % 3) == axis) {
			double now[2];

			placed_turned(pose, at, axis, turned + axis);
			keys_evidence(pose, frame, at, turned + axis, now);
			add(pose->evidence[axis], now[0]);
			add(pose->evidence[axis] + 1, now[1]);
		}
		if (against(pose, axis) < least) {
			least = against(pose, axis);
			which = axis;
		}
	}
	if (pose->decided ? pose->parts_seen >= 0 && least > 0 : pose->parts_seen > ENOUGH && least > ENOUGH) {
		struct placed other;
		double sure = outlined || pose->decided ? MOST_NOW : rival(pose, frame, at, &other);

		if (sure < -MOST_NOW) {
			*at = other;
			keys_forget(pose);
			return KEYS_WRONG;
		}
		pose->decided = sure >= MOST_NOW;
		return pose->decided ? KEYS_RIGHT : KEYS_UNDECIDED;
	}
	if (!pose->decided && least < -ENOUGH) {
		*at = turned[which];
		keys_forget(pose);
		return KEYS_WRONG;
	}
	if (pose->decided)
		keys_forget(pose);
	if (pose->parts_seen < -ENOUGH || (++pose->weighed >= UNSEEN && fabs(against(pose, 2)) < 1))
		return KEYS_UNSEEN;
	return KEYS_UNDECIDED;
}

unsigned int keys_undecided(const struct pose *pose)
{
	unsigned int undecided = 4;

	if (pose->decided)
		return 0;
	/* What shows keys and contradicts itself about z is something else that stands out. */
	if (pose->parts_seen <= ENOUGH || against(pose, 2) == 0)
		return 7;
	for (int axis = 0; axis < 2; axis++)
		undecided |= (unsigned int)(against(pose, axis) <= ENOUGH) << axis;
	return undecided;
}

// SPDX-License-Identifier: MIT
/* Finds the target in a frame when nothing is known before. Steps: connected pieces of about one range, nearest first;
 * the plane that most of a piece lies in, and the rectangle around it; every face of the body that fits the rectangle,
 * in each of its turns. The few guesses that explain the frame best are fitted. The best fit is the target, if it is
 * good enough.
 *
 * All that in one frame would take several times as long as tracking, so it is spread over frames: one for the guesses,
 * one for each fit, one to go on with the best fit. Tracking begins with the frame after. Meanwhile the target moves by
 * some millimetres, which is less than the error of a guess.
 */
#include "find.h"

#include <string.h>

#define PIECES 2
#define WAYS 24
#define SAMPLES 110
#define MOST_COST 0.35
#define MOST_EVIDENCE 30

/* Mean cost of the difference between what the frame shows and what it should show, 0 (no difference) to 1. */
static double find_cost(const struct pose *pose, const struct pose_frame *frame, const struct placed *at, int wanted)
{
	int window[4], count = 0;
	double cost = 0;
	struct view view;

	if (!model_window(pose, at, 0, 12, window))
		return 1;
	int wide = window[2] - window[0] + 1, high = window[3] - window[1] + 1;
	int step = (int)fmax(1, ceil(sqrt((double)wide * high / wanted)));

	view_of(pose, at, &view);
	for (int y = window[1] + step / 2; y <= window[3]; y += step) {
		for (int x = window[0] + step / 2; x <= window[2]; x += step) {
			long pixel = pixel_of(pose, x, y);
			double ray[3], direction[3], range = frame_range(frame, pixel);
			struct hit hit;

			if (frame_saturated(frame, pixel))
				continue;
			camera_ray(pose, pixel, ray);
			rotate_back(at->r, ray, direction);
			bool shown = view_hit(pose, &view, view_parts(pose, &view, x, y), direction, &hit);

			if (!shown && range == 0)
				continue;
			count++;
			if (shown && range != 0) {
				double z = (range - hit.range) / (range_noise(pose, frame, pixel, hit.range) + 0.002);

				cost += fmin(1, z * z / 16);
			} else if (shown || range < norm3(at->p) + 0.2) {
				cost += 1;
			}
		}
	}
	return count < 20 ? 1 : cost / count;
}

static double from_hint(const struct pose *pose, const struct placed *at)
{
	double hint[9], turned[9], vector[3];

	rotation_from_quaternion(pose->set.hint, hint);
	for (int i = 0; i < 9; i++)
		turned[i] = dot3(at->r + i / 3 * 3, hint + i % 3 * 3);
	vector_from_rotation(turned, vector);
	return norm3(vector);
}

/* The keys decide between views that look alike; if they are not seen, the expected orientation does. */
static double total_cost(const struct pose *pose, const struct pose_frame *frame, const struct placed *at, int wanted)
{
	struct placed turned;
	double now[2];

	placed_turned(pose, at, 2, &turned);
	keys_evidence(pose, frame, at, &turned, now);
	double evidence = fmax(-1, fmin(1, (now[0] + now[1]) / MOST_EVIDENCE));

	return find_cost(pose, frame, at, wanted) + 0.015 * from_hint(pose, at) - 0.2 * evidence;
}

/* The middle of a face along one axis of the rectangle; false where the size seen is not the face's. */
static bool middle(const struct rectangle *rectangle, int axis, double half, double tolerance, double *out)
{
	double low = rectangle->low[axis], high = rectangle->high[axis], size = 2 * half, seen = high - low;
	bool cut = rectangle->low_cut[axis] || rectangle->high_cut[axis];

	if (seen > size * 1.2 + tolerance || (!cut && seen < size * 0.8 - tolerance))
		return false;
	*out = (low + high) / 2;
	if (rectangle->low_cut[axis] && !rectangle->high_cut[axis])
		*out = high - half;
	if (rectangle->high_cut[axis] && !rectangle->low_cut[axis])
		*out = low + half;
	return true;
}

/* Places the body so that its face (axis, sign), turned by quarters, is the rectangle. */
static bool place(const struct pose *pose, const struct face_points *points, const struct rectangle *rectangle,
		  int axis, int sign, int quarters, struct placed *out)
{
	const struct pose_part *body = pose->model.part;
	int a = (axis + 1) % 3, b = (axis + 2) % 3, first = quarters & 1;
	double d1[3], d2[3], at[2], tolerance = 3.0 * BLOCK * points->range / pose->camera.fx, x[3], turned[3];

	if (sign < 0) { /* (a, b, outwards) is right-handed */
		int swap = a;

		a = b;
		b = swap;
	}
	if (!middle(rectangle, first, body->half[a], tolerance, at + first) ||
	    !middle(rectangle, !first, body->half[b], tolerance, at + !first))
		return false;
	for (int k = 0; k < 3; k++)
		d1[k] = quarters & 2 ? -rectangle->axis[first][k] : rectangle->axis[first][k];
	cross3(points->normal, d1, d2);
	for (int k = 0; k < 3; k++) {
		out->r[3 * k + a] = d1[k];
		out->r[3 * k + b] = d2[k];
		out->r[3 * k + axis] = sign * points->normal[k];
		x[k] = body->centre[k];
	}
	x[axis] += sign * body->half[axis];
	rotate(out->r, x, turned);
	double level = dot3(points->normal, points->centre);

	for (int k = 0; k < 3; k++)
		out->p[k] = at[0] * rectangle->axis[0][k] + at[1] * rectangle->axis[1][k] + level * points->normal[k] -
			    turned[k];
	return true;
}

static void keep(struct guess *guesses, int *count, int most, const struct guess *one)
{
	int at = *count < most ? (*count)++ : most;

	if (at == most) {
		if (guesses[most - 1].cost <= one->cost)
			return;
		at = most - 1;
	}
	for (; at > 0 && guesses[at - 1].cost > one->cost; at--)
		guesses[at] = guesses[at - 1];
	guesses[at] = *one;
}

/* Tries every way in which the body may lie at the next piece; keeps the best few. */
static void look(struct pose *pose, const struct pose_frame *frame)
{
	struct search *search = &pose->search;
	int16_t labels[PIECES];
	int pieces = blocks_label(pose, frame, labels, PIECES);
	struct face_points points;
	struct rectangle rectangle;

	if (search->piece >= pieces)
		search->piece = 0;
	if (pieces == 0)
		return;
	blocks_points(pose, labels[search->piece++], &points);
	if (!plane_fit(pose, &points))
		return;
	plane_rectangle(pose, &points, &rectangle);
	for (int which = 0; which < WAYS; which++) {
		struct guess guess;

		if (!place(pose, &points, &rectangle, which / 8, which & 4 ? 1 : -1, which & 3, &guess.at))
			continue;
		/* The keys decide later, in settle_turn(). */
		guess.cost = find_cost(pose, frame, &guess.at, SAMPLES) + 0.015 * from_hint(pose, &guess.at);
		keep(search->guesses, &search->count, GUESSES, &guess);
	}
	bool cut = rectangle.low_cut[0] || rectangle.high_cut[0] || rectangle.low_cut[1] || rectangle.high_cut[1];
	struct guess guess;

	if (cut && ring_place(pose, frame, &points, &guess.at)) {
		guess.cost = total_cost(pose, frame, &guess.at, SAMPLES);
		keep(search->guesses, &search->count, GUESSES, &guess);
	}
}

static void try_guess(const struct pose *pose, const struct pose_frame *frame, struct guess *guess, struct guess *best)
{
	static const double prior[36] = { [0] = 0.0025, [7] = 0.0025, [14] = 0.0025,
					  [21] = 0.04,  [28] = 0.04,  [35] = 0.04 };
	struct fit fitted;

	if (!fit(pose, frame, &guess->at, prior, 0.01, 2, false, &fitted))
		return;
	guess->at = fitted.at;
	guess->cost = total_cost(pose, frame, &guess->at, SAMPLES);
	if (guess->cost < best->cost)
		*best = *guess;
}

/* The body looks much the same after half a turn. Each guess was judged on a frame of its own, so noise may have
 * decided between the two. Here all are judged on the same frame, so that the blocks or the expected orientation
 * decide.
 */
static SELDOM void settle_turn(const struct pose *pose, const struct pose_frame *frame, struct guess *best)
{
	const struct placed fitted = best->at;

	best->cost = total_cost(pose, frame, &fitted, 2 * SAMPLES);
	for (int axis = 0; axis < 3; axis++) {
		struct guess turned;

		placed_turned(pose, &fitted, axis, &turned.at);
		turned.cost = total_cost(pose, frame, &turned.at, 2 * SAMPLES);
		if (turned.cost < best->cost)
			*best = turned;
	}
}

void find_forget(struct pose *pose)
{
	pose->search = (struct search){ .piece = pose->search.piece, .best.cost = MOST_COST };
}

bool find(struct pose *pose, const struct pose_frame *frame, struct placed *out)
{
	struct search *search = &pose->search;

	if (search->count == 0) {
		look(pose, frame);
		return false;
	}
	if (search->tried < search->count) {
		try_guess(pose, frame, search->guesses + search->tried++, &search->best);
		if (search->tried == search->count && search->best.cost >= MOST_COST)
			find_forget(pose);
		return false;
	}
	if (!search->refined) {
		struct guess guess = search->best;

		search->refined = true;
		search->best.cost = MOST_COST;
		try_guess(pose, frame, &guess, &search->best);
		if (search->best.cost >= MOST_COST)
			find_forget(pose);
		else
			settle_turn(pose, frame, &search->best);
		return false;
	}
	*out = search->best.at;
	find_forget(pose);
	search->piece = 0;
	return true;
}

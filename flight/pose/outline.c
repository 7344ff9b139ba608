// SPDX-License-Identifier: MIT
/* The body's outline: where, along a line of pixels across it, the target ends. A frontal view gets its sideways offset
 * and its roll from the outline.
 */
#include "state.h"

#include <string.h>

#define MOST_REACH 12
#define SAMPLES 14
#define FEW 8 /* in rounds that only have to get near */
#define PRIOR 6
#define SHADE 0.004 /* pixels: how much more the means of true edges scatter than their crossings do */
#define BEYOND 5 /* pixels, counted from the last inside: what the light there is taken from */
#define LEAST_CONTRAST 0.12 /* of what is beyond the edge, as a part of the target's light; */
#define CLEAR 8 /* and in deviations of a pixel's light */
#define HIDDEN_SHARED 0.3 /* of what too little light hides, what all crossings of an edge may share */
#define NEAR 0.15 /* pixels: an edge is thought to be this near where it is */
#define UNSEEN 0.1 /* of the most light that does not count: what there may be without a sign of it */
#define LIT 0.02 /* the same where light comes from beyond the edge, since how much does is not known exactly */
#define DAZZLED 30 /* counts of the sun's light: pixels of little light beyond the edge are noise */
#define MOST_GRAIN 0.15 /* pixels: an edge that the sun makes noisier is not one */
#define MOST_STRIP 0.1 /* pixels: an edge that a dark strip beside it may move farther is not one */
#define PIXEL 0.29 /* 1 / sqrt(12): deviation of a place that is known to the pixel */
#define UNLIT 0.2 /* pixels: how far edges differ where nothing tells of their light */
#define WIDER 0.33
#define WIDER_BY 0.15
#define GOLDEN 0.6180339887498949

/* The face inside: a ray meets it at level / (normal . ray). */
struct face {
	double normal[3], level;
	const struct placed *at;
	int axis;
	double strip; /* pixels: how wide the face beside it, seen almost edge-on, may be */
};

/* Does pixel `j` of a line show this face, not another one beside it? */
static bool on_face(const struct pose *pose, const struct line *line, const struct face *face, int j, double expected)
{
	const struct pose_part *body = pose->model.part;
	double ray[3], x[3];

	camera_ray(pose, line->pixel + j * line->step, ray);
	for (int k = 0; k < 3; k++)
		x[k] = expected * ray[k] - face->at->p[k];
	for (int k = 0; k < 3; k++) {
		double along = face->at->r[k] * x[0] + face->at->r[3 + k] * x[1] + face->at->r[6 + k] * x[2];

		if (k != face->axis && fabs(along - body->centre[k]) > body->half[k])
			return false;
	}
	return true;
}

/* A pixel's light as the sensor sums it: a vector whose angle is the range. So a pixel that shows two things has the sum
 * of their vectors, and its share of one of them follows whatever the other is.
 */
struct light {
	double i, q;
};

/* A line's pixels, from -reach to reach. */
struct profile {
	double expected[2 * MOST_REACH + 1], range[2 * MOST_REACH + 1], across[2 * MOST_REACH + 1];
	bool inside[2 * MOST_REACH + 1];
	double gate; /* m between ranges of different things */
};

/* Turned so that a range of `from` has the angle 0. */
static struct light vector_of(const struct pose *pose, double amplitude, double range, double from)
{
	double phase = 2 * M_PI / pose->set.ambiguity * (range - from);

	return (struct light){ amplitude * cos(phase), amplitude * sin(phase) };
}

/* A face's light goes with its cosine by its range squared. */
static double bright(double across)
{
	return fabs(across * across * across);
}

/* False where a pixel is saturated. */
static bool read_profile(const struct pose *pose, const struct pose_frame *frame, const struct line *line,
			 const struct face *face, int reach, double slack, struct profile *out)
{
	for (int j = -reach; j <= reach; j++) {
		long pixel = line->pixel + j * line->step;
		double ray[3];

		if (frame_saturated(frame, pixel))
			return false;
		camera_ray(pose, pixel, ray);
		out->across[j + reach] = dot3(ray, face->normal);
		out->expected[j + reach] = face->level / out->across[j + reach];
		out->range[j + reach] = frame_range(frame, pixel);
	}
	out->gate = 5 * range_noise(pose, frame, line->pixel - line->step, out->expected[reach]) + 0.01 + slack;
	for (int j = 0; j <= 2 * reach; j++)
		out->inside[j] = out->range[j] > 0 && fabs(out->range[j] - out->expected[j]) < out->gate;
	return true;
}

/* The pixel that best separates those of the target from the others; false where no single end is seen. */
static bool last_inside(const struct profile *profile, int reach, int *last)
{
	int sum = 0, best = -100, within = 0, beyond = 0;

	*last = -reach - 1;
	for (int j = -reach; j <= reach; j++) {
		sum += profile->inside[j + reach] ? 1 : -1;
		if (sum > best) {
			best = sum;
			*last = j;
		}
	}
	/* Needs three pixels of evidence on either side, else the end may lie beyond. */
	if (*last < -reach + 2 || *last > reach - 3)
		return false;
	for (int j = *last - 2; j <= *last + 3; j++) {
		within += j <= *last && profile->inside[j + reach];
		beyond += j > *last && profile->inside[j + reach];
	}
	return within >= 2 && beyond <= 1;
}

struct end {
	double at;
	double lost; /* deviation of what too little light hides */
	double grain; /* variance that the sun's light makes */
	double strip; /* how far a dark strip a pixel wide beside it would move it */
	/* How far light that does not count would move it, if there was as much as that beyond the edge; and the sum
	 * that tells of it: light across the target's, which such light makes in mixed pixels.
	 */
	double dim, across;
	int lit; /* 1: something is seen beyond it, 2: just so */
};

/* Where the target ends, in pixels outwards from the middle one's centre; false where that is not seen. */
static bool crossing(const struct pose *pose, const struct pose_frame *frame, const struct line *line,
		     const struct face *face, int reach, double slack, struct end *out)
{
	double *end = &out->at, *lost = &out->lost;
	struct profile profile;
	double light[2 * MOST_REACH + 1], full = 0, dark_range = 0;
	struct light dark = { 0, 0 };
	int last, inner = 0, outer = 0;
	/* Variance of either part of a pixel's light, by all its light. */
	double wave = 2 * M_PI / pose->set.ambiguity, angle = pose->set.noise_at_1m * wave;
	double shot = angle * angle * pose->set.amplitude_at_1m;

	*out = (struct end){ 0 };
	if (!read_profile(pose, frame, line, face, reach, slack, &profile) || !last_inside(&profile, reach, &last))
		return false;
	*end = last + 0.5;
	if (!frame->amplitude) {
		/* A pixel that shows two things has a range between theirs, and without light nothing tells how much of
		 * each: only an end in the dark is one.
		 */
		for (int j = last + 1; j <= last + BEYOND && j <= reach; j++)
			if (profile.range[j + reach] > 0)
				return false;
		return true;
	}
	/* Pixels from last - 1 to last + 2 may show both sides. */
	if (last - 3 < -reach || last + BEYOND > reach)
		return false;
	int first = last - 4 < -reach ? -reach : last - 4;

	for (int j = first; j <= last + BEYOND; j++)
		light[j + reach] = frame->amplitude[line->pixel + j * line->step];
	for (int j = first; j <= last - 2; j++) {
		if (profile.inside[j + reach]) {
			full += light[j + reach] / bright(profile.across[j + reach]);
			inner++;
		}
	}
	for (int j = last + 3; j <= last + BEYOND; j++) {
		double range = profile.range[j + reach];

		if (range == 0)
			continue;
		/* Something in front hides where the target ends. */
		if (range < profile.expected[j + reach] - profile.gate)
			return false;
		struct light one = vector_of(pose, light[j + reach], range, profile.expected[last + reach]);

		dark.i += one.i;
		dark.q += one.q;
		dark_range += range;
		outer++;
	}
	if (inner < 2 || full <= 0 || !on_face(pose, line, face, first, profile.expected[first + reach]))
		return false;
	full /= inner;
	if (outer) {
		dark_range /= outer;
		dark.i /= outer;
		dark.q /= outer;
		/* Of little light, some pixels do not count, and those that do have more than there is on average. */
		bool dim = sqrt(dark.i * dark.i + dark.q * dark.q) < 1.5 * pose->set.least_amplitude;

		out->lit = dim ? 2 : 1;
		for (int j = last + 3; j <= last + BEYOND; j++)
			if (profile.range[j + reach] == 0 ? !dim :
							    fabs(profile.range[j + reach] - dark_range) > profile.gate)
				return false;
		if (dark_range < profile.expected[last + reach] + profile.gate || (dim && pose->sun > DAZZLED))
			return false;
	}
	double slope = sqrt(larger(0, 1 - line->slant * line->slant)) / line->slant;
	bool hidden = false;

	*end = last - 1.5;
	for (int j = last - 1; j <= last + 2; j++) {
		double expected = full * bright(profile.across[j + reach]);
		/* What is beyond, turned as this pixel's light is. */
		double turn = wave * (profile.expected[j + reach] - profile.expected[last + reach]);
		struct light beside = { dark.i + turn * dark.q, dark.q - turn * dark.i };
		double i = expected - beside.i, q = -beside.q, contrast = i * i + q * q;

		if (contrast < larger(LEAST_CONTRAST * LEAST_CONTRAST * expected * expected,
				      CLEAR * CLEAR * shot * (expected + pose->sun)))
			return false;
		if (profile.range[j + reach] > 0) {
			struct light seen = vector_of(pose, light[j + reach], profile.range[j + reach],
						      profile.expected[j + reach]);
			double beyond = 1 - line_covered(line->predicted - j, slope), least = pose->set.least_amplitude;

			*end += ((seen.i - beside.i) * i + (seen.q - beside.q) * q) / contrast;
			out->grain += shot * pose->sun / contrast;
			if (fabs(beside.i * i + beside.q * q) > out->strip * contrast)
				out->strip = fabs(beside.i * i + beside.q * q) / contrast;
			if (!outer) {
				out->dim += beyond * least / expected;
				out->across += seen.q * expected / contrast;
			}
			continue;
		}
		/* A pixel of too little light reads nothing. It may show as much as does not count, and where the edge
		 * is thought to be tells how much it does.
		 */
		double most = smaller(1, pose->set.least_amplitude / expected);

		if (outer)
			return false;
		double there = line_covered(line->predicted - j, slope);

		if (!hidden && line_covered(line->predicted - j + NEAR, slope) > 0)
			*lost = PIXEL * most;
		*end += slack > 0 ? (hidden ? 0 : most / 2) : smaller(most, there);
		hidden = true;
	}
	return true;
}

/* The noise of an edge's crossings, from the crossings themselves: whatever the pose's error, they lie on a line, and
 * their distance from it is noise. It differs by edge: an edge along a row cuts all its pixels alike, an edge across
 * rows is averaged within each. `pooled`, the mean of all edges, counts as PRIOR further crossings.
 */
static double scatter(const double error[SAMPLES], const double place[SAMPLES], int count, double pooled)
{
	double mean = 0, middle = 0, slope = 0, spread = 0, sum = 0, most = 9 * pooled * pooled;

	for (int i = 0; i < count; i++) {
		mean += error[i] / count;
		middle += place[i] / count;
	}
	for (int i = 0; i < count; i++) {
		slope += (place[i] - middle) * (error[i] - mean);
		spread += (place[i] - middle) * (place[i] - middle);
	}
	slope = spread > 0 ? slope / spread : 0;
	for (int i = 0; i < count; i++) {
		double off = error[i] - mean - slope * (place[i] - middle);

		sum += off * off < most ? off * off : most;
	}
	return sqrt((sum + PRIOR * pooled * pooled) / (count > 2 ? count - 2 + PRIOR : PRIOR));
}

/* Light beyond the edges that is too little to count, as a part of the most that it may be: its effect on the pose, and
 * the sums that estimate what of it lies across the target's light.
 */
struct unseen {
	struct bias *bias;
	double weight, across;
};

/* One edge, from corner to corner (target coordinates). */
static void measure_edge(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
			 const double corners[2][3], const struct face *face, int reach, double slack,
			 struct normal *normal, struct offset *wider, struct unseen *unseen)
{
	double from[3], along[3], out[3], noise = edge_noise(pose, frame), grain = 0, strip = 0;
	double error[SAMPLES], place[SAMPLES], row[SAMPLES][6], low = INFINITY, high = -INFINITY;
	double hidden[SAMPLES], dim[SAMPLES], aside[SAMPLES], seen_error[SAMPLES], seen_place[SAMPLES], shared = 0;
	/* Where along the edge: at uneven distances, since even ones might fall in step with the pixels. */
	double dither = GOLDEN * (pose->frames % 1024);
	struct bias *bias = normal_bias(normal, 0);
	int count = 0, seen = 0, lit = 0;

	rotate(at->r, corners[0], from);
	rotate(at->r, corners[1], along);
	rotate(at->r, pose->model.part[0].centre, out);
	for (int k = 0; k < 3; k++) {
		along[k] -= from[k];
		out[k] = from[k] + 0.5 * along[k] - out[k];
	}
	int samples = slack > 0 ? FEW : SAMPLES;

	for (int i = 0; i < samples; i++) {
		double arm[3];
		struct end end;
		struct line line;

		dither += GOLDEN;
		dither -= (int)dither;
		place[count] = (i + dither) / samples;
		for (int k = 0; k < 3; k++)
			arm[k] = from[k] + place[count] * along[k];
		if (!line_across(pose, at, arm, along, out, reach, &line) ||
		    !crossing(pose, frame, &line, face, reach, slack, &end))
			continue;
		if (end.strip * face->strip > MOST_STRIP)
			continue;
		strip += end.strip * face->strip;
		double across = (line.dx ? line.x : line.y) + (line.dx + line.dy) * line.predicted;

		lit += end.lit;
		grain += end.grain * line.slant * line.slant;
		hidden[count] = end.lost;
		dim[count] = end.dim;
		aside[count] = end.across;
		low = across < low ? across : low;
		high = across > high ? across : high;
		error[count] = (end.at - line.predicted) * line.slant - (frame->amplitude ? 0 : WIDER);
		memcpy(row[count++], line.row, sizeof(line.row));
	}
	if (count == 0 || grain > MOST_GRAIN * MOST_GRAIN * count)
		return;
	for (int i = 0; i < count; i++) {
		shared += hidden[i] / count;
		if (hidden[i] > 0)
			continue;
		seen_error[seen] = error[i];
		seen_place[seen++] = place[i];
	}
	noise = sqrt(noise * noise + grain / count);
	double own = scatter(seen_error, seen_place, seen, noise), gate = slack > 0 ? 3 : 3 * noise;

	if (seen > 2) {
		normal->scatter += own * own / (noise * noise) * seen;
		normal->outline += seen;
	}
	for (int i = 0; i < count; i++) {
		double z = fabs(error[i]) / gate;

		/* As with pixels: full weight up to `gate`, none from 5/3 of it on. */
		if (z > 5.0 / 3)
			continue;
		double weight = (z < 1 ? 1 : (5 - 3 * z) / 2) / (own * own + hidden[i] * hidden[i]);

		normal->crossings++;
		normal_add(normal, row[i], error[i], weight);
		bias_measure(bias, row[i], error[i], weight);
		offset_add(wider, row[i], 1, error[i], weight);
		bias_add(unseen->bias, row[i], weight * dim[i]);
		unseen->weight += dim[i] * dim[i];
		unseen->across += dim[i] * aside[i];
	}
	/* An edge along the rows cuts all its pixels alike, so all have the same error; when it crosses half a pixel or
	 * more, the error averages away. What does not average away is that the face's light changes towards its edge.
	 */
	double parts = frame->amplitude ? 4 : 1, span = parts * (high - low);

	bias->sigma = PIXEL / (1 + span * span) + UNLIT;
	if (frame->amplitude)
		bias->sigma = SHADE + LIT * lit / count + strip / count + pose->set.edge_bias / (1 + span * span) +
			      shared * (HIDDEN_SHARED + 1 / (1 + (high - low) * (high - low)));
}

void outline_measure(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
		     const double weight[36], int reach, double slack, struct normal *normal)
{
	const struct pose_part *body = pose->model.part;
	/* Without amplitudes every pixel counts that shows some of the target, so the target seems wider, by the same on
	 * all sides: WIDER pixels give or take WIDER_BY, one more unknown of the frame.
	 */
	struct offset wider = { 0 };
	struct unseen unseen = { .bias = normal_bias(normal, 0) };
	struct sight sights[3][2];

	sight_of(pose, at, weight, normal, sights);
	/* An edge is on the outline where one of its two faces is seen and the other is not. */
	for (int axis = 0; axis < 3; axis++) {
		int a = (axis + 1) % 3, b = (axis + 2) % 3;

		for (int side = 0; side < 4; side++) {
			double sa = side & 1 ? 1 : -1, sb = side & 2 ? 1 : -1;
			const struct sight *of_a = &sights[a][side & 1], *of_b = &sights[b][side >> 1];

			if (of_a->seen == of_b->seen || of_a->seen == UNSURE || of_b->seen == UNSURE)
				continue;
			int inner = of_a->seen == SEEN ? a : b;
			double corners[2][3], outwards[3] = { 0 }, corner[3];
			struct face face = { .at = at,
					     .axis = inner,
					     .strip = slack > 0 ? 0 : (inner == a ? of_b : of_a)->strip };

			for (int end = 0; end < 2; end++) {
				corners[end][axis] = body->centre[axis] + (end ? body->half[axis] : -body->half[axis]);
				corners[end][a] = body->centre[a] + sa * body->half[a];
				corners[end][b] = body->centre[b] + sb * body->half[b];
			}
			outwards[inner] = inner == a ? sa : sb;
			rotate(at->r, outwards, face.normal);
			rotate(at->r, corners[0], corner);
			for (int k = 0; k < 3; k++)
				corner[k] += at->p[k];
			face.level = dot3(face.normal, corner);
			measure_edge(pose, frame, at, (const double (*)[3])corners, &face, reach, slack, normal, &wider,
				     &unseen);
		}
	}
	if (unseen.weight > 0)
		unseen.bias->sigma = UNSEEN + 1.5 * fabs(unseen.across) / unseen.weight;
	if (!frame->amplitude)
		offset_solve(&wider, WIDER_BY, normal);
}

// SPDX-License-Identifier: MIT
/* Where the target ends along a line of pixels, to a part of a pixel, by their light and what it is a sum of. */
#include "state.h"

#define MOST_REACH 12
#define BEYOND 5 /* pixels, counted from the last inside: what the light there is taken from */
#define LEAST_CONTRAST 0.12 /* of what is beyond the edge, as a part of the target's light; */
#define CLEAR 8 /* and in deviations of a pixel's light */
#define NOTHING 4 /* times the power of noise: no light is taken for some by less */
#define SEEN_LIGHT 2 /* times what gives a range: a target of so much light is seen */
#define SAME 0.5 /* deviations of a range: what is close behind an edge is farther on average */
#define DAZZLED 30 /* counts of the sun's light: pixels of little light beyond the edge are noise */

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
	double noise, gate; /* m: of a range, and between those of different things */
};

/* Turned so that a range of `from` has the angle 0; `wave` in 1/m. */
static struct light vector_of(double amplitude, double wave, double range, double from)
{
	double phase = wave * (range - from), square = phase * phase;

	/* By their series, to 1e-8, where both are of one thing, as mostly. */
	if (square < 0.06)
		return (struct light){ amplitude * (1 - square / 2 * (1 - square / 12 * (1 - square / 30))),
				       amplitude * phase * (1 - square / 6 * (1 - square / 20)) };
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
	out->noise = range_noise(pose, frame, line->pixel - line->step, out->expected[reach]);
	out->gate = 5 * out->noise + 0.01 + slack;
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

/* Where no end is seen: the target goes on beyond it, or what is seen inside is farther, or is nothing although `light` (at 1 m)
 * is enough.
 */
static SELDOM bool elsewhere(const struct profile *profile, int reach, double light)
{
	int on = 0, off = 0;
	double behind = 0;

	for (int j = 0; j <= 2 * reach; j++) {
		double expected = profile->expected[j], range = profile->range[j];

		on += profile->inside[j];
		if (j > reach)
			behind += range - expected;
		else if (j < reach)
			off += range == 0 ? light * fabs(profile->across[j]) > SEEN_LIGHT * expected * expected :
					    range > expected + profile->gate;
	}
	return off == reach || (on == 2 * reach + 1 && behind < SAME * reach * profile->noise);
}

enum ends crossing(const struct pose *pose, const struct pose_frame *frame, const struct line *line,
		   const struct face *face, double light_at_1m, int reach, double slack, struct end *out)
{
	double *end = &out->at, power = 0, all = 0, least = pose->set.least_amplitude;
	struct profile profile;
	double light[2 * MOST_REACH + 1], full = 0, dark_range = 0;
	struct light dark = { 0, 0 };
	int last, inner = 0, outer = 0;
	/* Variance of either part of a pixel's light, by all its light. */
	double wave = 2 * M_PI / pose->set.ambiguity, angle = pose->set.noise_at_1m * wave;
	double shot = angle * angle * pose->set.amplitude_at_1m, noise = dark_power(pose);

	*out = (struct end){ 0 };
	if (!read_profile(pose, frame, line, face, reach, slack, &profile))
		return NO_END;
	if (!last_inside(&profile, reach, &last))
		return elsewhere(&profile, reach, light_at_1m / least) ? ELSEWHERE : NO_END;
	*end = last + 0.5;
	if (!frame->amplitude) {
		/* A pixel that shows two things has a range between theirs, and without light nothing tells how much of
		 * each: only an end in the dark is one.
		 */
		for (int j = last + 1; j <= last + BEYOND && j <= reach; j++)
			if (profile.range[j + reach] > 0)
				return NO_END;
		return END;
	}
	/* Pixels from last - 1 to last + 2 may show both sides. */
	if (last - 3 < -reach || last + BEYOND > reach)
		return NO_END;
	int first = last - 4 < -reach ? -reach : last - 4;

	for (int j = first; j <= last + BEYOND; j++)
		light[j + reach] = frame->amplitude[line->pixel + j * line->step] + 0.5; /* cut to whole counts */
	for (int j = first; j <= last - 2; j++) {
		if (profile.inside[j + reach]) {
			full += light[j + reach] / bright(profile.across[j + reach]);
			inner++;
		}
	}
	for (int j = last + 3; j <= last + BEYOND; j++) {
		double range = profile.range[j + reach];

		all += light[j + reach];
		power += light[j + reach] * light[j + reach];
		if (range == 0)
			continue;
		/* Something in front hides where the target ends. */
		if (range < profile.expected[j + reach] - profile.gate)
			return NO_END;
		struct light one = vector_of(light[j + reach], wave, range, profile.expected[last + reach]);

		dark.i += one.i;
		dark.q += one.q;
		dark_range += range;
		outer++;
	}
	if (inner < 2 || full <= 0 || !on_face(pose, line, face, first, profile.expected[first + reach]))
		return NO_END;
	full /= inner;
	if (outer) {
		double size = sqrt(dark.i * dark.i + dark.q * dark.q);

		/* Of little light, some pixels have no range, and those that do have more than there is on average. */
		bool dim = size < 1.5 * least * outer;

		all /= (BEYOND - 2) * larger(size, 1e-9);
		dark.i *= all;
		dark.q *= all;
		dark_range /= outer;

		out->lit = dim ? 2 : 1;
		for (int j = last + 3; j <= last + BEYOND; j++)
			if (profile.range[j + reach] == 0 ? !dim :
							    fabs(profile.range[j + reach] - dark_range) > profile.gate)
				return NO_END;
		if (dark_range < profile.expected[last + reach] + profile.gate || (dim && pose->sun > DAZZLED))
			return NO_END;
	}
	double slope = sqrt(larger(0, 1 - line->slant * line->slant)) / line->slant;

	out->power = power / (BEYOND - 2) - noise;

	double beyond = !outer && out->power > 2 * noise ? sqrt(out->power) : 0;

	*end = last - 1.5;
	for (int j = last - 1; j <= last + 2; j++) {
		double expected = full * bright(profile.across[j + reach]);
		/* What is beyond, turned as this pixel's light is. */
		double turn = wave * (profile.expected[j + reach] - profile.expected[last + reach]);
		struct light beside = { dark.i + turn * dark.q, dark.q - turn * dark.i };
		double i = expected - beside.i, q = -beside.q, contrast = i * i + q * q;

		if (contrast < larger(LEAST_CONTRAST * LEAST_CONTRAST * expected * expected,
				      CLEAR * CLEAR * shot * (expected + pose->sun)))
			return NO_END;
		out->grain += shot * (light[j + reach] + least + pose->sun) / contrast;
		if (profile.range[j + reach] > 0) {
			struct light seen = vector_of(light[j + reach], wave, profile.range[j + reach],
						      profile.expected[j + reach]);

			*end += ((seen.i - beside.i) * i + (seen.q - beside.q) * q) / contrast;
			if (fabs(beside.i * i + beside.q * q) > out->strip * contrast)
				out->strip = fabs(beside.i * i + beside.q * q) / contrast;
			if (!outer)
				out->across += seen.q * expected / contrast;
		} else {
			/* A pixel of too little light has no range, but an amplitude: the target's light and what is
			 * beyond the edge, which is taken for close behind.
			 */
			double power_here = light[j + reach] * light[j + reach], between = expected - beyond;

			if (outer || between * between < CLEAR * CLEAR * shot * (expected + pose->sun))
				return NO_END;
			if (power_here > (beyond > 0 ? 1 : NOTHING) * noise)
				*end += sqrt(power_here - noise) / between;
			*end -= beyond / between;
		}
		if (outer)
			continue;
		/* Of the pixel, what lies beyond the edge. */
		double in = line->predicted - j, bare = in >= 1 ? 0 : in <= -1 ? 1 : 1 - line_covered(in, slope);

		if (profile.range[j + reach] > 0)
			out->dim += bare * least / expected;
		else if (bare < 1)
			out->hidden += bare * least / (expected - beyond);
	}
	return END;
}

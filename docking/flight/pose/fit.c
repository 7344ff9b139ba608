// SPDX-License-Identifier: MIT
/* Gauss-Newton on everything a frame says, with the filter's prediction as one more measurement: the iterated update of
 * an error-state Kalman filter, so that directions that the frame does not show keep their prediction.
 */
#include "state.h"

#include <string.h>

#define COARSE 150 /* pixels of the first round, which only has to get near */
#define FINE 400
#define NEAR 0.3 /* pixels: deviation of a prediction that needs no coarse round */
#define LINEAR 0.2 /* pixels: the largest step after which the equations are not set up again */
#define SURPRISE 20 /* squared deviations of all six unknowns: three in a thousand are more */
#define LITTLE 1e-4 /* of the prior's information */
#define MOST_ELSEWHERE 5 /* of so many lines one may contradict edges and rims */
#define MOST_ALONE 9 /* squared deviations of one edge: three deviations */
/* Covariance that tames unobserved directions when a shared unknown's effect is worked out: 0.1 m, 0.3 rad */
#define WIDE_P (1 / (0.1 * 0.1))
#define WIDE_R (1 / (0.3 * 0.3))

void placed_move(struct placed *at, const double step[6])
{
	double turn[9];

	for (int k = 0; k < 3; k++)
		at->p[k] += step[k];
	rotation_from_vector(step + 3, turn);
	multiply3(turn, at->r, at->r);
	orthonormalise(at->r);
}

void placed_offset(const struct placed *from, const struct placed *to, double out[6])
{
	double turned[9];

	for (int i = 0; i < 3; i++) {
		out[i] = to->p[i] - from->p[i];
		for (int j = 0; j < 3; j++)
			turned[3 * i + j] = dot3(to->r + 3 * i, from->r + 3 * j);
	}
	vector_from_rotation(turned, out + 3);
}

void placed_deviations(const struct placed *at, const double *cov, double out[3])
{
	for (int k = 0; k < 3; k++) {
		const double axis[3] = { at->r[k], at->r[3 + k], at->r[6 + k] };
		double variance = 0;

		for (int i = 0; i < 3; i++)
			variance += axis[i] * dot3(cov + 6 * i, axis);
		out[k] = sqrt(variance);
	}
}

static void measure(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
		    const double deviation[3], const double weight[36], bool fine, double slack, struct normal *normal)
{
	struct view view;

	memset(normal, 0, sizeof(*normal));
	view_of(pose, at, &view);
	surface_measure(pose, frame, at, &view, deviation, fine ? FINE : COARSE, slack, normal);
	outline_measure(pose, frame, at, weight, slack > 0 ? 10 : 6, slack, normal);
	rim_measure(pose, frame, at, &view, slack > 0 ? 4 : 3, normal);
	if (pose->offset_variance > 0) {
		if (!fine || !offset_estimate(normal, &normal->more, &normal->information, &normal->shared))
			normal->information = 0;
		/* What is left of it does not average away from one frame to the next. */
		struct bias *left = normal_bias(normal, sqrt(pose->offset_variance));

		bias_add(left, normal->offset.row, 1 / (1 + normal->offset.weight * pose->offset_variance));
		offset_solve(&normal->offset, sqrt(pose->offset_variance), normal);
	}
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < i; j++)
			normal->h[6 * j + i] = normal->h[6 * i + j];
}

/* What shared unknowns do to the pose, however many pixels are averaged. */
static void systematic(const struct normal *normal, double out[36])
{
	double h[36], cov[36], shift[6];

	memset(out, 0, 36 * sizeof(*out));
	memcpy(h, normal->h, sizeof(h));
	for (int k = 0; k < 6; k++)
		h[7 * k] += k < 3 ? WIDE_P : WIDE_R;
	if (!invert6(h, cov))
		return;
	for (int b = 0; b < normal->biases; b++) {
		const struct bias *bias = normal->bias + b;

		if (!bias_moves(bias))
			continue;
		multiply6_vector(cov, bias->row, shift);
		for (int i = 0; i < 6; i++)
			shift[i] *= bias->sigma;
		for (int i = 0; i < 6; i++)
			for (int j = 0; j < 6; j++)
				out[6 * i + j] += shift[i] * shift[j];
	}
}

/* Edges and rims tell the same pose, or the model of one of them is wrong. `step` is what was left to go. */
static double discord(const struct normal *normal, const double step[6])
{
	double sum = 0, most = 0;
	int count = 0;

	for (int b = 0; b < normal->biases; b++) {
		const struct bias *bias = normal->bias + b;
		double left = bias->error;

		if (!(bias->weight > 0))
			continue;
		for (int k = 0; k < 6; k++)
			left -= bias->row[k] * step[k];
		left /= bias->weight;
		double squared = left * left / (1 / bias->weight + bias->sigma * bias->sigma);

		sum += squared;
		most = fmax(most, squared);
		count++;
	}
	return count ? fmax(sum / count, most / MOST_ALONE) : 1;
}

/* By how much the prior was wrong, in squared deviations; 1 if it may have been right. That is how far this frame alone would
 * have the target from there, by the variances of both: with x the fit's offset, W the prior's inverse, H the frame's
 * information, x^T W x + (W x)^T H^-1 (W x). Bar-Shalom, Li, Kirubarajan 2001, section 5.4.2.
 */
static double surprise(const struct fit *fit)
{
	double pulled[6], back[6], inverse[36], sum = 0;

	multiply6_vector(fit->weight, fit->offset, pulled);
	/* What the frame does not show pulls at nothing, so that a little more of it changes nothing. */
	for (int i = 0; i < 36; i++)
		inverse[i] = fit->last.h[i] + LITTLE * fit->weight[i];
	if (!invert6(inverse, inverse))
		return 1;
	multiply6_vector(inverse, pulled, back);
	for (int k = 0; k < 6; k++)
		sum += pulled[k] * (fit->offset[k] + back[k]);
	return sum > SURPRISE ? sum / 6 : 1;
}

/* How far the picture of the target moves by a step, pixels. */
static double pixels_of(const struct pose *pose, const struct placed *at, const double step[6])
{
	return (norm3(step) + pose->set.lever * norm3(step + 3)) * pose->camera.fx / norm3(at->p);
}

/* Is the guess as good as a coarse round would make it? Not where the last frames agreed badly with it: the target turns
 * as the filter did not foresee, and its covariance knows nothing of that.
 */
static bool prior_near(const struct pose *pose, const struct placed *guess, const double prior[36])
{
	double deviation[6];

	if (pose->discord > DISCORD_NEAR)
		return false;
	for (int k = 0; k < 6; k++)
		deviation[k] = sqrt(prior[7 * k]);
	return pixels_of(pose, guess, deviation) < NEAR;
}

/* Is the target seen beside where it was fitted? */
static bool elsewhere(const struct normal *normal)
{
	return MOST_ELSEWHERE * normal->elsewhere > normal->looked;
}

bool fit(const struct pose *pose, const struct pose_frame *frame, const struct placed *guess, const double prior[36],
	 double slack, int rounds, bool fine, struct fit *out)
{
	double *weight = out->weight, step[6] = { 0 }, deviation[3] = { 0 };
	bool near = prior_near(pose, guess, prior);

	out->elsewhere = false;
	if (!invert6(prior, weight))
		return false;
	if (fine && pose->foreseen)
		placed_deviations(guess, prior, deviation);
	out->at = *guess;
	for (int round = near ? rounds - 1 : 0, again = near; round < rounds; round++) {
		bool last = round == rounds - 1;
		double h[36], g[6], pull[6];

		measure(pose, frame, &out->at, deviation, weight, fine && last, last ? 0 : slack / (1 << round),
			&out->last);
		placed_offset(guess, &out->at, out->offset);
		multiply6_vector(weight, out->offset, pull);
		for (int i = 0; i < 36; i++)
			h[i] = out->last.h[i] + weight[i];
		for (int i = 0; i < 6; i++)
			g[i] = out->last.g[i] - pull[i];
		if (!invert6(h, out->cov))
			return false;
		multiply6_vector(out->cov, g, step);
		/* No measurement moves the target by more than this; a larger step comes from a wrong guess. */
		if (!(norm3(step) < 0.5 && norm3(step + 3) < 1))
			return false;
		placed_move(&out->at, step);
		/* Where the prediction was good the equations at it are those at the answer. */
		if (last && again-- > 0 && pixels_of(pose, &out->at, step) > LINEAR)
			round--;
	}
	placed_offset(guess, &out->at, out->offset);
	memcpy(out->information, out->last.h, sizeof(out->information));
	systematic(&out->last, out->systematic);
	out->discord = discord(&out->last, step);
	out->surprise = surprise(out);
	out->elsewhere = elsewhere(&out->last);
	return isfinite(out->at.p[0] + out->at.p[1] + out->at.p[2]) && out->at.p[2] > 0;
}

// SPDX-License-Identifier: MIT
#include "state.h"

#include <string.h>

#define LEAST_SAMPLES 25
#define LEAST_AGREEMENT 0.6
#define MOST_CONTRARY 0.004 /* share of pixels: at most 0.002 if right, 0.016 close by if turned over */
#define DISCORD_KEPT 0.8 /* from one frame to the next */
#define MOST_MISSES 10 /* frames for which the prediction is still tried */
#define UNFORESEEN 10 /* times the deviations of a target that is not where it was expected */
#define MOST_GAP 1.0 /* s without a frame after which nothing is predicted */

void pose_default_model(struct pose_model *model)
{
	*model = (struct pose_model){
		.parts = 4,
		.part = {
			{POSE_BOX, {0, 0, 0.05}, {0.15, 0.17, 0.05}},
			{POSE_CYLINDER, {0, 0, -0.01}, {0.045, 0.035, 0.01}},
			{POSE_BOX, {0.072, -0.035, -0.0075}, {0.012, 0.012, 0.0075}},
			{POSE_BOX, {-0.075, 0.03, -0.0075}, {0.02, 0.008, 0.0075}},
		},
	};
}

void pose_default_camera(struct pose_camera *camera)
{
	const double degree = M_PI / 180;

	*camera = (struct pose_camera){
		.width = 320,
		.height = 240,
		.fx = 160 / tan(37 * degree),
		.fy = 120 / tan(29 * degree),
		.cx = 159.5,
		.cy = 119.5,
	};
}

void pose_default_settings(struct pose_settings *settings)
{
	*settings = (struct pose_settings){
		.noise_at_1m =
			0.014, /* the emulator's, not verified (docs/docking/emulator.md); shot noise: root of the light */
		.noise_floor = 0.0002, /* ranges come in whole millimetres: 0.3, hidden by noise but close by */
		.range_bias = 0.003, /* a few kelvins' drift; the outline tells how much it is */
		.edge_noise = 0.06,
		.edge_bias = 0.07,
		.acceleration = 0.005,
		.angular_acceleration = 0.01,
		.first_speed = 0.1,
		.first_rate = 0.1,
		.least_amplitude = 10,
		.most_range = 2.5,
		.unobservable = 0.01,
		.lever = 0.15,
		.ambiguity = 2.99792458,
		.amplitude_at_1m = 32,
		.hint = { 1, 0, 0, 0 },
	};
}

static size_t blocks_of(const struct pose_camera *camera)
{
	return (size_t)(camera->width / BLOCK) * (size_t)(camera->height / BLOCK);
}

static size_t aligned(size_t bytes)
{
	return (bytes + 15) / 16 * 16;
}

size_t pose_workspace_bytes(const struct pose_camera *camera)
{
	if (!camera_usable(camera))
		return 0;
	return aligned(sizeof(struct pose)) +
	       aligned((size_t)camera->width * (size_t)camera->height * 3 * sizeof(float)) +
	       aligned(blocks_of(camera) * sizeof(struct block)) + blocks_of(camera) * sizeof(int32_t);
}

static bool settings_usable(const struct pose_settings *set)
{
	const double positive[] = { set->noise_at_1m,          set->noise_floor,  set->edge_noise, set->acceleration,
				    set->angular_acceleration, set->first_speed,  set->first_rate, set->least_amplitude,
				    set->most_range,           set->unobservable, set->lever,      set->ambiguity,
				    set->amplitude_at_1m };
	double hint = 0;

	for (unsigned int i = 0; i < sizeof(positive) / sizeof(*positive); i++)
		if (!(positive[i] > 0 && positive[i] < 1e3))
			return false;
	for (int k = 0; k < 4; k++)
		hint += set->hint[k] * set->hint[k];
	return set->range_bias >= 0 && set->range_bias < 1 && set->edge_bias >= 0 && set->edge_bias < 10 &&
	       fabs(hint - 1) < 1e-3;
}

struct pose *pose_init(const struct pose_model *model, const struct pose_camera *camera,
		       const struct pose_settings *settings, void *workspace, size_t bytes)
{
	size_t need = pose_workspace_bytes(camera);
	struct pose *pose = workspace;
	char *at = workspace;

	if (need == 0 || bytes < need || !model_usable(model) || !settings_usable(settings))
		return NULL;
	memset(pose, 0, sizeof(*pose));
	pose->model = *model;
	pose->camera = *camera;
	pose->set = *settings;
	at += aligned(sizeof(*pose));
	pose->rays = (float *)(void *)at;
	at += aligned((size_t)camera->width * (size_t)camera->height * 3 * sizeof(float));
	pose->blocks = (struct block *)(void *)at;
	at += aligned(blocks_of(camera) * sizeof(struct block));
	pose->stack = (int32_t *)(void *)at;
	camera_rays(camera, pose->rays);
	pose_reset(pose);
	return pose;
}

/* What was learnt of a target goes with it. */
static void forget(struct pose *pose)
{
	pose->tracking = false;
	pose->misses = 0;
	keys_forget(pose);
	pose->discord = 1;
	learn_forget(pose);
}

void pose_reset(struct pose *pose)
{
	forget(pose);
	find_forget(pose);
}

/* Which of the target's axes this frame does not show: those in directions with too little information. */
static unsigned int unobserved(const struct pose *pose, const struct fit *fit)
{
	double h[36], half[36], values[6], vectors[36], lever = pose->set.lever;
	double least = 1 / (pose->set.unobservable * pose->set.unobservable);
	unsigned int bits = 0;

	/* Mostly all is seen: less `least` along the diagonal, the matrix is still positive definite. */
	for (int i = 0; i < 36; i++)
		h[i] = fit->information[i] / ((i / 6 < 3 ? 1 : lever) * (i % 6 < 3 ? 1 : lever)) - (i % 7 ? 0 : least);
	if (invert6(h, half))
		return 0;
	/* To the target's axes: T^T H T, T = diag(R, R), rotations in metres at the lever. */
	for (int i = 0; i < 6; i++) {
		for (int j = 0; j < 6; j++) {
			half[6 * i + j] = 0;
			for (int k = 0; k < 3; k++)
				half[6 * i + j] += fit->information[6 * i + j / 3 * 3 + k] * fit->at.r[3 * k + j % 3];
		}
	}
	for (int i = 0; i < 6; i++) {
		for (int j = 0; j < 6; j++) {
			h[6 * i + j] = 0;
			for (int k = 0; k < 3; k++)
				h[6 * i + j] += fit->at.r[3 * k + i % 3] * half[6 * (i / 3 * 3 + k) + j];
			h[6 * i + j] /= (i < 3 ? 1 : lever) * (j < 3 ? 1 : lever);
		}
	}
	eigen(6, h, values, vectors);
	for (int axis = 0; axis < 6; axis++) {
		double hidden = 0;

		for (int k = 0; k < 6; k++)
			if (values[k] < least)
				hidden += vectors[6 * axis + k] * vectors[6 * axis + k];
		if (hidden > 0.25)
			bits |= 1u << axis;
	}
	return bits;
}

static bool plausible(const struct pose *pose, const struct fit *fit, double *agreement)
{
	*agreement = fit->last.shown ? (double)fit->last.agreeing / fit->last.shown : 0;
	return fit->last.samples >= LEAST_SAMPLES && *agreement >= LEAST_AGREEMENT && !fit->elsewhere &&
	       fit->discord <= DISCORD_OF_FRAME && norm3(fit->at.p) < pose->set.most_range + 1;
}

/* Looks for the target around where it is expected, as far as its covariance tells. */
static bool follow(const struct pose *pose, const struct pose_frame *frame, double prior[36], struct fit *fitted,
		   double *agreement)
{
	filter_cov(pose, prior);
	return fit(pose, frame, &pose->at, prior, 0.004, 2, true, fitted) && plausible(pose, fitted, agreement);
}

/* The whole picture has to agree with a guess. And a view that does not show all of the pose does not show whether this
 * is the target either.
 */
static bool borne_out(const struct pose *pose, const struct pose_frame *frame, const struct fit *fit)
{
	double light;

	return unobserved(pose, fit) == 0 && fit->discord < DISCORD_OF_GUESS && !overhanging(pose, frame, &fit->at) &&
	       (fit->last.contrary <= MOST_CONTRARY * fit->last.shown ||
		noise_now(pose, frame, &fit->at, &light) > 1.5);
}

/* Half a turn about an axis of the target's is as likely: what it moves, as a deviation to either side. Half a turn that
 * takes the body's other side for the docking face is another view of it, whose place is off in all directions. The axes
 * that it hides.
 */
static unsigned int half_turn(const struct pose *pose, int axis, double covariance[36])
{
	struct placed turned;
	double moved = 0;

	placed_turned(pose, &pose->at, axis, &turned);
	for (int k = 0; k < 3; k++)
		moved += 0.25 * (turned.p[k] - pose->at.p[k]) * (turned.p[k] - pose->at.p[k]);
	for (int i = 0; i < 3; i++) {
		covariance[7 * i] += moved;
		for (int j = 0; j < 3; j++)
			covariance[6 * (3 + i) + 3 + j] += M_PI * M_PI / 4 * pose->at.r[3 * i + axis] *
							   pose->at.r[3 * j + axis];
	}
	return POSE_RX << axis | (sqrt(moved) > pose->set.unobservable ? POSE_X | POSE_Y | POSE_Z : 0);
}

/* A frame that was damaged on its way looks as if the target had moved: until the next one tells, it is here or where it
 * was predicted. The axes along which these lie apart.
 */
static SELDOM unsigned int sudden(const struct pose *pose, const struct fit *fit, double covariance[36])
{
	unsigned int bits = 0;

	for (int axis = 0; axis < 6; axis++) {
		const double *moved = fit->offset + axis / 3 * 3, *r = fit->at.r + axis % 3;
		double along = moved[0] * r[0] + moved[1] * r[3] + moved[2] * r[6];

		if (fabs(along) * (axis < 3 ? 1 : pose->set.lever) > pose->set.unobservable)
			bits |= 1u << axis;
	}
	for (int i = 0; i < 36; i++)
		covariance[i] += fit->offset[i / 6] * fit->offset[i % 6];
	return bits;
}

static void fill(const struct pose *pose, const struct fit *fit, bool moved, unsigned int undecided,
		 struct pose_result *result)
{
	double along[3], range = norm3(pose->at.p), variance = 0, times = fmax(pose->discord, fit->surprise);

	for (int i = 0; i < 36; i++)
		result->covariance[i] = times * (pose->cov[12 * (i / 6) + i % 6] + pose->systematic[i]);
	result->unobserved = unobserved(pose, fit);
	if (moved)
		result->unobserved |= sudden(pose, fit, result->covariance);
	for (int axis = 0; axis < 3; axis++)
		if (undecided >> axis & 1)
			result->unobserved |= half_turn(pose, axis, result->covariance);
	for (int k = 0; k < 3; k++) {
		result->position[k] = pose->at.p[k];
		along[k] = pose->at.p[k] / range;
	}
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 3; j++)
			variance += along[i] * along[j] * result->covariance[6 * i + j];
	quaternion_from_rotation(pose->at.r, result->orientation);
	memcpy(result->velocity, pose->rate, sizeof(pose->rate));
	result->range_mm = 1000 * range;
	result->range_sigma_mm = 1000 * sqrt(fmax(0, variance));
	result->samples = fit->last.samples;
	result->crossings = fit->last.crossings;
	result->noise_scale = pose->noise_scale;
	result->edge_scale = pose->edge_scale;
	result->status = result->unobserved ? POSE_DEGENERATE : POSE_OK;
	for (int i = 0; i < 36; i++)
		if (!isfinite(result->covariance[i] + result->position[i % 3] + result->orientation[i % 4]))
			result->status = POSE_NOT_FOUND;
}

void pose_update(struct pose *pose, const struct pose_frame *frame, struct pose_result *result)
{
	struct fit fitted;
	double prior[36], seconds = 1e-9 * (double)(int64_t)(frame->time_ns - pose->time_ns);
	bool tried = false, good = false, moved = false;

	memset(result, 0, sizeof(*result));
	result->time_ns = frame->time_ns;
	result->noise_scale = pose->noise_scale;
	if (pose->frames > 0 && seconds < -MOST_GAP) { /* the clock began anew, or a stamp before was wrong */
		pose_reset(pose);
		seconds = MOST_GAP;
	}
	if (pose->frames++ > 0 && !(seconds > 0))
		return;
	pose->time_ns = frame->time_ns;
	if (pose->tracking && seconds > MOST_GAP)
		pose_reset(pose);
	if (pose->tracking) {
		filter_predict(pose, seconds);
		/* A target out of sight is looked for where it was predicted and elsewhere, in turn, since a frame has
		 * time for one of these only. The first miss is not yet a loss: the frame may be bad.
		 */
		tried = pose->misses % 2 == 0;
	}
	if (tried) {
		learn_sun(pose, frame, &pose->at);
		good = follow(pose, frame, prior, &fitted, &result->agreement);
		if (!good && fitted.elsewhere) {
			filter_doubt(pose, UNFORESEEN, UNFORESEEN);
			moved = true;
			good = follow(pose, frame, prior, &fitted, &result->agreement);
		}
	}
	if (!good) {
		struct placed at;

		if (pose->tracking && ++pose->misses > MOST_MISSES)
			pose_reset(pose);
		if (tried || !find(pose, frame, &at))
			return;
		filter_start(pose, &at);
		keys_forget(pose);
		learn_sun(pose, frame, &pose->at);
		good = follow(pose, frame, prior, &fitted, &result->agreement) && borne_out(pose, frame, &fitted);
		if (!good) {
			forget(pose);
			return;
		}
		pose->tracking = true;
	}
	struct placed turned = fitted.at;
	enum keys which;

	pose->misses = 0;
	filter_update(pose, &fitted);
	if (fitted.surprise > 1) {
		filter_doubt(pose, 1, sqrt(fitted.surprise));
		moved = true;
	}
	/* What was wrong in the last frames is still in the filter. */
	pose->discord = fmax(1, fmax(fitted.discord, DISCORD_KEPT * pose->discord));
	learn_from(pose, &fitted, prior);
	which = keys_weigh(pose, frame, fitted.last.outline > 0, &turned);
	if (which == KEYS_WRONG) {
		filter_start(pose, &turned);
		return;
	}
	if (which == KEYS_UNSEEN) {
		pose_reset(pose);
		return;
	}
	fill(pose, &fitted, moved, keys_undecided(pose), result);
	if (result->status == POSE_NOT_FOUND)
		pose_reset(pose);
}

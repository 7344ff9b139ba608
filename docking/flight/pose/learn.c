// SPDX-License-Identifier: MIT
/* What frames tell beside the pose: what all ranges read too much, what edges share, how large the noise is, the sun. */
#include "state.h"

#define LEAST_OFFSET 0.0002 /* m */
#define OFFSETS 200 /* frames by which the mean of offsets is remembered: it drifts */
#define NOISE_SAMPLES 200
#define SUNS 12 /* frames over which the sun's light is averaged */

void learn_forget(struct pose *pose)
{
	pose->told = (struct told){ 0 };
	pose->offset = 0;
	pose->offset_variance = pose->set.range_bias * pose->set.range_bias;
	pose->sun = 0;
	pose->suns = 0;
	pose->noise_scale = pose->edge_scale = 1;
}

/* Of |error| / sigma; 0.6745 where sigma is right. */
static double median(const int histogram[64], int count)
{
	double half = 0.5 * count, below = 0;
	int eighth = 0;

	while (eighth < 63 && below + histogram[eighth] < half)
		below += histogram[eighth++];
	return (eighth + (half - below) / fmax(1, histogram[eighth])) / 8;
}

/* Adapts the noise to this frame's `count` errors, slowly and within bounds. */
static void adapt(double *scale, double larger, int count)
{
	*scale *= pow(fmin(2, fmax(0.5, larger)), count / (count + 1500.0));
	*scale = fmin(10, fmax(0.1, *scale));
}

/* The body's size in the picture tells how far it is, so frames that show its outline tell what ranges read too much. Their
 * noise averages away; what their edges share does not, so the mean is held against what was known before any frame, once.
 */
static void learn_offset(struct pose *pose, const struct normal *normal)
{
	struct told *told = &pose->told;
	double before = pose->set.range_bias * pose->set.range_bias;

	if (!(normal->information > 0))
		return;
	double noise = 1 / normal->information, shared = normal->shared + LEAST_OFFSET * LEAST_OFFSET;
	double weight = 1 / (noise + shared);

	if (normal->more * normal->more > 25 * (pose->offset_variance + noise + shared))
		return;
	told->weight = smaller(told->weight, OFFSETS * weight) + weight;
	double part = weight / told->weight;

	told->mean += part * (pose->offset + normal->more - told->mean);
	told->noise = (1 - part) * (1 - part) * told->noise + part * part * noise;
	told->shared += part * (shared - told->shared);
	double variance = told->noise + told->shared;

	pose->offset = before / (before + variance) * told->mean;
	pose->offset_variance = before * variance / (before + variance);
}

/* The filter's pose rests on the edges of the last frames, along each axis as far as this frame did not tell it anew. What
 * those shared is in it still, and is at most the mean by these parts (Jensen), however alike their errors are.
 */
static void learn_shared(struct pose *pose, const struct fit *fit, const double prior[36])
{
	double kept[6], told[6];

	for (int k = 0; k < 6; k++) {
		double part = smaller(1, pose->cov[13 * k] / prior[7 * k]);

		kept[k] = sqrt(part);
		told[k] = sqrt(1 - part);
	}
	for (int i = 0; i < 36; i++)
		pose->systematic[i] = kept[i / 6] * kept[i % 6] * pose->systematic[i] +
				      told[i / 6] * told[i % 6] * fit->systematic[i];
}

/* By the distance of ranges from the middle of their neighbours in the row, which is noise whatever the pose. So a wrong
 * pose does not pass for noise.
 */
double noise_now(const struct pose *pose, const struct pose_frame *frame, const struct placed *at, double *light)
{
	int window[4], histogram[64] = { 0 }, count = 0;

	*light = 0;
	if (!model_window(pose, at, 0, 0, window))
		return 1;
	int wide = window[2] - window[0] + 1, high = window[3] - window[1] + 1;
	int step = (int)fmax(1, sqrt((double)wide * high / NOISE_SAMPLES));

	for (int y = window[1] + (int)(pose->frames % step); y <= window[3]; y += step) {
		for (int x = window[0] + 1; x < window[2]; x += step) {
			long pixel = pixel_of(pose, x, y);
			double left = frame_range(frame, pixel - 1), middle = frame_range(frame, pixel);
			double right = frame_range(frame, pixel + 1);

			if (left == 0 || middle == 0 || right == 0)
				continue;
			count_error(histogram, fabs(left - 2 * middle + right) /
						       (sqrt(6) * range_noise(pose, frame, pixel, middle)));
			if (frame->amplitude)
				*light += frame->amplitude[pixel];
			count++;
		}
	}
	if (count < 20)
		return 1;
	*light /= count;
	return median(histogram, count) / 0.6745;
}

/* The sun's light makes noise; how much of it there is follows from the noise. Known once, it is looked at again in some
 * frames, not those of the keys.
 */
void learn_sun(struct pose *pose, const struct pose_frame *frame, const struct placed *at)
{
	double light, times;

	if (!frame->amplitude || (pose->suns == SUNS && pose->frames % LOOK != LOOK / 2))
		return;
	times = noise_now(pose, frame, at, &light);
	if (light == 0)
		return;
	times = fmin(times, 5);
	double sun = fmax(0, (light + pose->sun) * times * times - light);

	if (pose->suns < SUNS)
		pose->suns++;
	pose->sun += (sun - pose->sun) / pose->suns;
}

void learn_from(struct pose *pose, const struct fit *fit, const double prior[36])
{
	learn_offset(pose, &fit->last);
	learn_shared(pose, fit, prior);
	if (fit->last.samples >= 40)
		adapt(&pose->noise_scale, median(fit->last.pixel_errors, fit->last.samples) / 0.6745,
		      fit->last.samples);
	if (fit->last.outline >= 40)
		adapt(&pose->edge_scale, sqrt(fit->last.scatter / fit->last.outline), fit->last.outline);
}

// SPDX-License-Identifier: MIT
/*
 * pose-fuzz SEED FRAMES RECORDING: what must hold of every answer, whatever the frames show. The recording's frames,
 * forth and back, keep the estimator tracking; most are damaged a little, some much, and now and then a few are
 * pictures of chance, so that the target is lost and found again.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds325/decode.h"
#include "ds325/format.h"
#include "flight/pose/state.h"

#define PIXELS DS325_PIXELS

struct image {
	uint16_t range[PIXELS], amplitude[PIXELS];
};

static uint64_t state;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((state >> 33) % below);
}

/* Rectangles of planes, with or without noise, holes and saturation. */
static void picture(uint16_t *range, uint16_t *amplitude)
{
	uint32_t kind = draw(6), pieces = draw(5), holes = draw(4) ? 0 : draw(60);

	for (int i = 0; i < PIXELS; i++) {
		range[i] = kind == 0 ? (uint16_t)draw(65536) : kind == 1 ? POSE_RANGE_SATURATED : 0;
		amplitude[i] = (uint16_t)draw(kind == 2 ? 65536 : 200);
	}
	for (uint32_t n = 0; n < pieces; n++) {
		int left = (int)draw(320), top = (int)draw(240), wide = (int)draw(320), high = (int)draw(240);
		int base = (int)draw(draw(2) ? 32768 : 2000), x_slope = (int)draw(9) - 4, y_slope = (int)draw(9) - 4;
		uint32_t noise = 1 + draw(30);

		for (int y = top; y < top + high && y < 240; y++) {
			for (int x = left; x < left + wide && x < 320; x++) {
				int value = base + x_slope * x + y_slope * y + (int)draw(noise);

				range[y * 320 + x] = value < 0 || draw(100) < holes ? 0 : (uint16_t)value;
			}
		}
	}
}

/* Pixels of a rectangle: none, saturated, of chance, noisier, or those of another frame. */
static void damage(struct image *to, const struct image *other, uint32_t largest)
{
	int left = (int)draw(320), top = (int)draw(240), wide = (int)draw(largest), high = (int)draw(largest);
	uint32_t kind = draw(6), noise = 1 + draw(draw(4) ? 20 : 2000), share = 1 + draw(4);

	for (int y = top; y < top + high && y < 240; y++) {
		for (int x = left; x < left + wide && x < 320; x++) {
			int i = y * 320 + x;

			if (draw(share))
				continue;
			if (kind < 2)
				to->range[i] = kind ? POSE_RANGE_SATURATED : 0;
			else if (kind == 2)
				to->range[i] = (uint16_t)draw(65536);
			else if (kind == 3)
				to->range[i] = (uint16_t)(to->range[i] + draw(noise));
			else if (kind == 4)
				to->range[i] = other->range[i];
			if (kind > 3)
				to->amplitude[i] = kind == 4 ? other->amplitude[i] : (uint16_t)draw(65536);
		}
	}
}

/* The next frame of the flight. */
static void next(struct image *image, const struct image *recording, long count, long *number)
{
	static int step = 1;
	static uint32_t chance; /* pictures of chance that are still to come */
	uint32_t how = draw(100);

	if (*number + step < 0 || *number + step >= count)
		step = -step;
	*number += step;
	*image = recording[*number];
	if (!chance && how == 0)
		chance = 1 + draw(25);
	if (chance) {
		chance--;
		if (draw(2))
			picture(image->range, image->amplitude);
		return;
	}
	if (how < 30)
		return;
	for (uint32_t n = 1 + draw(3); n; n--)
		damage(image, recording + draw((uint32_t)count), how < 90 ? 40 : 320);
}

/* The decoded frames of a recording. */
static struct image *decoded(const char *path, long *count)
{
	static struct ds325_decoder decoder;
	static uint8_t raw[DS325_FRAME_BYTES];
	static uint16_t phases[PIXELS];
	const struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	struct image *images = NULL;
	FILE *file = fopen(path, "rb");

	if (!file || ds325_decoder_init(&decoder, &calibration))
		exit(2);
	for (*count = 0; fread(raw, sizeof(raw), 1, file) == 1; ++*count) {
		images = realloc(images, (size_t)(*count + 1) * sizeof(*images));
		if (!images)
			exit(2);
		const struct ds325_planes planes = { images[*count].range, phases, images[*count].amplitude };

		ds325_planes_scalar(&decoder, raw, 0, PIXELS / DS325_BLOCK, &planes);
	}
	fclose(file);
	return images;
}

static int check(const struct pose_result *r)
{
	double length = 0;

	if (r->status == POSE_NOT_FOUND)
		return 0;
	for (int i = 0; i < 36; i++)
		if (!isfinite(r->covariance[i]) || (i % 7 == 0 && !(r->covariance[i] > 0)))
			return 1;
	for (int i = 0; i < 4; i++)
		length += r->orientation[i] * r->orientation[i];
	for (int i = 0; i < 6; i++)
		if (!isfinite(r->velocity[i]) || !isfinite(r->position[i % 3]))
			return 1;
	return !(fabs(length - 1) < 1e-6) || !(r->range_mm > 0) || !isfinite(r->range_mm) ||
	       !isfinite(r->range_sigma_mm) || !(r->position[2] > 0) || (r->status == POSE_OK) != !r->unobserved;
}

int main(int argc, char **argv)
{
	static struct image image;
	struct pose_camera camera;
	struct pose_model model;
	struct pose_settings settings;
	uint64_t time_ns = 0;
	long tracked = 0, found = 0, lost = 0, count = 0, number = 0;
	long answers[3] = { 0 };
	struct image *recording = argc == 4 ? decoded(argv[3], &count) : NULL;

	if (count < 2)
		return 2;
	state = strtoull(argv[1], NULL, 10);
	pose_default_camera(&camera);
	pose_default_model(&model);
	pose_default_settings(&settings);
	if (state % 2)
		settings.most_range = 40; /* so that whatever the picture shows is looked at */
	size_t bytes = pose_workspace_bytes(&camera);
	void *workspace = malloc(bytes);
	struct pose *pose = workspace ? pose_init(&model, &camera, &settings, workspace, bytes) : NULL;

	if (!pose || pose_init(&model, &camera, &settings, workspace, bytes - 1))
		return 2;
	for (long n = atol(argv[2]); n > 0; n--) {
		/* Now and then a bit of the time stamp is flipped: 18 minutes. */
		struct pose_frame frame = { image.range, draw(50) ? image.amplitude : NULL,
					    draw(300) ? time_ns : time_ns + (1ull << 40) };
		struct pose_result result;
		bool tracking = pose->tracking;

		next(&image, recording, count, &number);
		pose_update(pose, &frame, &result);
		answers[result.status]++;
		tracked += tracking && result.status != POSE_NOT_FOUND;
		found += !tracking && pose->tracking;
		lost += tracking && !pose->tracking;
		if (check(&result)) {
			fprintf(stderr, "frame %ld before the end: an answer that cannot be\n", n);
			return 1;
		}
		time_ns += draw(100) ? 16666667 : draw(2) ? 0 : draw(2000000000);
	}
	printf("%ld not found, %ld degenerate, %ld ok; %ld tracked, %ld times found, %ld times lost\n", answers[0],
	       answers[1], answers[2], tracked, found, lost);
	free(workspace);
	free(recording);
	return 0;
}

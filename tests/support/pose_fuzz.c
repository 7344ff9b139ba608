// SPDX-License-Identifier: MIT
/* pose-fuzz SEED FRAMES: frames of chance, structured enough to get far, and what must hold of every answer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "flight/pose/pose.h"

#define PIXELS (320 * 240)

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
	static uint16_t range[PIXELS], amplitude[PIXELS];
	struct pose_camera camera;
	struct pose_model model;
	struct pose_settings settings;
	uint64_t time_ns = 0;
	int answers[3] = { 0 };

	state = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	pose_default_camera(&camera);
	pose_default_model(&model);
	pose_default_settings(&settings);
	settings.most_range = 40; /* so that whatever the picture shows is looked at */
	size_t bytes = pose_workspace_bytes(&camera);
	void *workspace = malloc(bytes);
	struct pose *pose = workspace ? pose_init(&model, &camera, &settings, workspace, bytes) : NULL;

	if (!pose || pose_init(&model, &camera, &settings, workspace, bytes - 1))
		return 2;
	for (long n = argc > 2 ? atol(argv[2]) : 100; n > 0; n--) {
		struct pose_frame frame = { range, draw(3) ? amplitude : NULL, time_ns };
		struct pose_result result;

		/* Most frames stay for a while: a target that is found is tracked. */
		if (draw(3) == 0)
			picture(range, amplitude);
		pose_update(pose, &frame, &result);
		answers[result.status]++;
		if (check(&result)) {
			fprintf(stderr, "frame %ld before the end: an answer that cannot be\n", n);
			return 1;
		}
		time_ns += draw(20) ? 16666667 : draw(2) ? 0 : draw(2000000000);
	}
	printf("%d not found, %d degenerate, %d ok\n", answers[0], answers[1], answers[2]);
	free(workspace);
	return 0;
}

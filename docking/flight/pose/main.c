// SPDX-License-Identifier: MIT
/* ds325-pose: ranges and poses of the docking target from recorded frames (docs/docking/pose.md), one line of JSON a frame. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/command_line.h"
#include "ds325/decode.h"
#include "ds325/format.h"
#include "pose.h"

struct options {
	const char *path;
	bool z16, planes;
	double rate, noise_mm;
	uint32_t skip, frames, every;
	struct pose_settings set;
};

#define WHOLE(field, least) OPTION_WHOLE(struct options, field, least, 1000000000)
#define REAL(field, least, most) OPTION_REAL(struct options, field, least, most)
static const struct option rows[] = {
	{ "z16", NULL, "frames are Z16 (depth in mm), not I and Q", OPTION_FLAG(struct options, z16) },
	{ "planes", NULL, "frames are decoded: an image of ranges in mm, then one of amplitudes, 16-bit words",
	  OPTION_FLAG(struct options, planes) },
	{ "rate", "HZ", "frames a second (60)", REAL(rate, 1, 10000) },
	{ "skip", "N", "leave out the first N", WHOLE(skip, 0) },
	{ "frames", "N", "read N at most", WHOLE(frames, 0) },
	{ "noise", "MM", "standard deviation of a pixel's range at 1 m (14)", REAL(noise_mm, 0.1, 1000) },
	{ "acceleration", "M_S2", "of the target, per sqrt(Hz) (0.005)", REAL(set.acceleration, 1e-6, 100) },
	{ "angular-acceleration", "RAD_S2", "the same (0.01)", REAL(set.angular_acceleration, 1e-6, 100) },
	{ "every", "N", "print each Nth frame only (1)", WHOLE(every, 1) },
	{ 0 }
};

static bool set_path(void *to, const char *word)
{
	struct options *options = to;

	if (options->path || (word[0] == '-' && word[1]))
		return false;
	options->path = word;
	return true;
}

const struct program program = {
	.name = "ds325-pose",
	.synopsis = "usage: ds325-pose [--KEY=VALUE]... FILE\n"
		    "FILE: frames as `ds325-emulator --write` records them, - for standard input\n",
	.tables = { rows },
	.word = set_path,
	.complaint = "wrong or missing; `ds325-pose --help` lists what there is",
};

static void print_list(const char *name, const double *values, int count)
{
	printf(", \"%s\": [", name);
	for (int i = 0; i < count; i++)
		printf("%s%.9g", i ? ", " : "", values[i]);
	printf("]");
}

static void print(long sequence, const struct pose_result *r)
{
	static const char *const status[] = { "not found", "degenerate", "ok" };
	static const char *const axes[] = { "x", "y", "z", "rx", "ry", "rz" };

	printf("{\"frame\": %ld, \"time_s\": %.9f, \"status\": \"%s\"", sequence, 1e-9 * (double)r->time_ns,
	       status[r->status]);
	if (r->status != POSE_NOT_FOUND) {
		printf(", \"unobserved\": [");
		for (int k = 0, shown = 0; k < 6; k++)
			if (r->unobserved >> k & 1)
				printf("%s\"%s\"", shown++ ? ", " : "", axes[k]);
		printf("], \"range_mm\": %.4f, \"range_sigma_mm\": %.4f", r->range_mm, r->range_sigma_mm);
		print_list("position_m", r->position, 3);
		print_list("orientation_wxyz", r->orientation, 4);
		print_list("velocity", r->velocity, 6);
		print_list("covariance", r->covariance, 36);
		printf(", \"samples\": %d, \"crossings\": %d, \"noise_scale\": %.3f, \"edge_scale\": %.3f", r->samples,
		       r->crossings, r->noise_scale, r->edge_scale);
	}
	printf(", \"agreement\": %.3f}\n", r->agreement);
}

/* Z16 holds depth along the optical axis; the estimator wants it along the ray. */
static void radial(const struct pose_camera *camera, uint16_t *image)
{
	for (int v = 0; v < DS325_HEIGHT; v++) {
		for (int u = 0; u < DS325_WIDTH; u++, image++) {
			double x = (u - camera->cx) / camera->fx, y = (v - camera->cy) / camera->fy;

			if (*image && *image <= POSE_RANGE_LAST)
				*image = (uint16_t)(*image * sqrt(1 + x * x + y * y) + 0.5);
		}
	}
}

static uint16_t word(const uint8_t *bytes, int i)
{
	return (uint16_t)(bytes[2 * i] | bytes[2 * i + 1] << 8);
}

static void run(const struct options *o, FILE *file, struct pose *pose, const struct pose_camera *camera)
{
	static uint8_t raw[DS325_FRAME_BYTES];
	static uint16_t ranges[DS325_PIXELS], phases[DS325_PIXELS], amplitudes[DS325_PIXELS];
	static struct ds325_decoder decoder;
	const struct ds325_planes planes = { ranges, phases, amplitudes };
	const struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	const char *wrong = ds325_decoder_init(&decoder, &calibration);
	size_t bytes = o->z16 ? DS325_Z16_BYTES : DS325_FRAME_BYTES, got = 0;

	if (wrong)
		die(BAD_INPUT, "calibration: %s", wrong);
	for (uint32_t n = 0; n < o->skip + o->frames; n++) {
		struct pose_frame frame = { ranges, o->z16 ? NULL : amplitudes, (uint64_t)(1e9 * (double)n / o->rate) };
		struct pose_result result;

		got = fread(raw, 1, bytes, file);
		if (got != bytes)
			break;
		if (n < o->skip)
			continue;
		if (o->planes) {
			for (int i = 0; i < DS325_PIXELS; i++) {
				ranges[i] = word(raw, i);
				amplitudes[i] = word(raw, DS325_PIXELS + i);
			}
		} else if (o->z16) {
			for (int i = 0; i < DS325_PIXELS; i++)
				ranges[i] = word(raw, i);
			radial(camera, ranges);
		} else {
			ds325_method("simd")->planes(&decoder, raw, 0, DS325_PIXELS / DS325_BLOCK, &planes);
		}
		pose_update(pose, &frame, &result);
		if (n % o->every == 0)
			print(n, &result);
	}
	if (ferror(file))
		die(BAD_INPUT, "%s: %s", o->path, strerror(errno));
	if (got && got != bytes)
		die(BAD_INPUT, "%s: ends within a frame: not a recording, or of another format (--z16)", o->path);
	if (fflush(stdout))
		die(BAD_INPUT, "standard output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	struct options o = { .rate = 60, .frames = 1000000000, .every = 1 };
	struct pose_camera camera;
	struct pose_model model;

	pose_default_settings(&o.set);
	pose_default_camera(&camera);
	pose_default_model(&model);
	command_line_read(argc, argv, &o);
	if (o.noise_mm > 0)
		o.set.noise_at_1m = 0.001 * o.noise_mm;
	if (!o.path)
		die(BAD_INPUT, "FILE: %s", program.complaint);
	size_t bytes = pose_workspace_bytes(&camera);
	void *workspace = malloc(bytes); /* the only allocation */
	struct pose *pose = workspace ? pose_init(&model, &camera, &o.set, workspace, bytes) : NULL;
	long long size;
	FILE *file = strcmp(o.path, "-") == 0 ? stdin : fdopen(open_file("", o.path, &size), "rb");

	if (!pose)
		die(BAD_INPUT, "start: %s", workspace ? "settings that make no sense" : "no memory");
	if (!file)
		die(BAD_INPUT, "%s: %s", o.path, strerror(errno));
	run(&o, file, pose, &camera);
	fclose(file);
	free(workspace);
	return 0;
}

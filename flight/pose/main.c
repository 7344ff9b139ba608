// SPDX-License-Identifier: MIT
/* ds325-pose: ranges and poses of the docking target from recorded frames (docs/pose.md), one line of JSON a frame. */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds325/decode.h"
#include "ds325/format.h"
#include "pose.h"

static const char usage[] =
	"usage: ds325-pose [options] FILE\n"
	"  FILE                 frames as `ds325-emulator --write` records them, - for standard input\n"
	"  --z16                frames are Z16 (depth in mm), not I and Q\n"
	"  --planes             frames are decoded: an image of ranges in mm, then one of amplitudes, 16-bit words\n"
	"  --rate HZ            frames a second (60)\n"
	"  --skip N --frames N  leave out the first N; read N at most\n"
	"  --noise MM           standard deviation of a pixel's range at 1 m (14)\n"
	"  --acceleration M_S2 --angular-acceleration RAD_S2\n"
	"                       of the target, per sqrt(Hz) (0.005, 0.01)\n"
	"  --every N            print each Nth frame only (1)\n";

struct options {
	const char *path;
	bool z16, planes;
	double rate;
	long skip, frames, every;
	struct pose_settings set;
};

static int fail(const char *what, const char *why)
{
	fprintf(stderr, "ds325-pose: %s: %s\n", what, why);
	return 2;
}

static bool number(const char *text, double least, double most, double *out)
{
	char *end;

	errno = 0;
	*out = strtod(text, &end);
	return end != text && !*end && !errno && *out >= least && *out <= most;
}

/* The value of option `name` at argv[*i], which moves on; false where the option is another one. */
static bool option(char **argv, int *i, const char *name, double least, double most, double *out, bool *bad)
{
	if (strcmp(argv[*i], name) != 0)
		return false;
	*bad = !argv[*i + 1] || !number(argv[*i + 1], least, most, out);
	++*i;
	return true;
}

static const char *parse(int argc, char **argv, struct options *o)
{
	for (int i = 1; i < argc; i++) {
		const char *name = argv[i];
		double value = 0;
		bool bad = false;

		if (option(argv, &i, "--rate", 1, 10000, &value, &bad))
			o->rate = value;
		else if (option(argv, &i, "--skip", 0, 1e9, &value, &bad))
			o->skip = (long)value;
		else if (option(argv, &i, "--frames", 0, 1e9, &value, &bad))
			o->frames = (long)value;
		else if (option(argv, &i, "--every", 1, 1e9, &value, &bad))
			o->every = (long)value;
		else if (option(argv, &i, "--noise", 0.1, 1000, &value, &bad))
			o->set.noise_at_1m = 0.001 * value;
		else if (option(argv, &i, "--acceleration", 1e-6, 100, &value, &bad))
			o->set.acceleration = value;
		else if (option(argv, &i, "--angular-acceleration", 1e-6, 100, &value, &bad))
			o->set.angular_acceleration = value;
		else if (strcmp(name, "--z16") == 0)
			o->z16 = true;
		else if (strcmp(name, "--planes") == 0)
			o->planes = true;
		else if (o->path || (name[0] == '-' && name[1]))
			return name;
		else
			o->path = name;
		if (bad)
			return name;
	}
	return o->path ? NULL : "FILE";
}

static void print_list(const char *name, const double *values, int count)
{
	printf(", \"%s\": [", name);
	for (int i = 0; i < count; i++)
		printf("%s%.9g", i ? ", " : "", values[i]);
	printf("]");
}

static void print(long sequence, const struct pose_result *r)
{
	static const char *const status[] = {"not found", "degenerate", "ok"};
	static const char *const axes[] = {"x", "y", "z", "rx", "ry", "rz"};

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

static int run(const struct options *o, FILE *file, struct pose *pose, const struct pose_camera *camera)
{
	static uint8_t raw[DS325_FRAME_BYTES];
	static uint16_t ranges[DS325_PIXELS], phases[DS325_PIXELS], amplitudes[DS325_PIXELS];
	static struct ds325_decoder decoder;
	const struct ds325_planes planes = {ranges, phases, amplitudes};
	const struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	const char *wrong = ds325_decoder_init(&decoder, &calibration);
	size_t bytes = o->z16 ? DS325_Z16_BYTES : DS325_FRAME_BYTES, got = 0;

	if (wrong)
		return fail("calibration", wrong);
	for (long n = 0; n < o->skip + o->frames; n++) {
		struct pose_frame frame = {ranges, o->z16 ? NULL : amplitudes, (uint64_t)(1e9 * (double)n / o->rate)};
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
		return fail(o->path, strerror(errno));
	if (got && got != bytes)
		return fail(o->path, "ends within a frame: not a recording, or of another format (--z16)");
	if (fflush(stdout))
		return fail("standard output", strerror(errno));
	return 0;
}

int main(int argc, char **argv)
{
	struct options o = {.rate = 60, .frames = 1000000000, .every = 1};
	struct pose_camera camera;
	struct pose_model model;
	const char *wrong;
	int status;

	pose_default_settings(&o.set);
	pose_default_camera(&camera);
	pose_default_model(&model);
	wrong = parse(argc, argv, &o);
	if (wrong) {
		if (strcmp(wrong, "--help") != 0)
			return fail(wrong, "wrong or missing; `ds325-pose --help` lists what there is");
		fputs(usage, stdout);
		return 0;
	}
	size_t bytes = pose_workspace_bytes(&camera);
	void *workspace = malloc(bytes); /* the only allocation */
	struct pose *pose = workspace ? pose_init(&model, &camera, &o.set, workspace, bytes) : NULL;
	FILE *file = strcmp(o.path, "-") == 0 ? stdin : fopen(o.path, "rb");

	if (!pose)
		status = fail("start", workspace ? "settings that make no sense" : "no memory");
	else if (!file)
		status = fail(o.path, strerror(errno));
	else
		status = run(&o, file, pose, &camera);
	if (file && file != stdin)
		fclose(file);
	free(workspace);
	return status;
}

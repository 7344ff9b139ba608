// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/crc32.h"
#include "recording.h"

static void *room(size_t size)
{
	void *memory = malloc(size);

	if (!memory)
		die(RUN_FAILED, "no memory for %zu bytes of frames: fewer --frames are needed", size);
	return memory;
}

static FILE *create(const char *path, const char *ending)
{
	char name[4096];
	FILE *file;

	if (snprintf(name, sizeof(name), "%s%s", path, ending) >= (int)sizeof(name))
		die(BAD_INPUT, "the file name %s is too long", path);
	file = fopen(name, "w");
	if (!file)
		die(BAD_INPUT, "%s cannot be written: %s", name, strerror(errno));
	return file;
}

static void finish(FILE *file, const char *path)
{
	int bad = ferror(file);

	if (fclose(file) || bad)
		die(RUN_FAILED, "%s cannot be written: is the disk full?", path);
}

static void write_settings(const struct options *o, FILE *out)
{
	const struct sensor *s = &o->sensor;

	fprintf(out, "# ds325-truth 1\n# format %s\n# step %.17g\n# frequency %.17g\n# amplitude %.17g\n",
		o->z16 ? "z16" : "iq", o->step_s, s->modulation_hz, s->amplitude);
	fprintf(out, "# noise-mm %.17g\n# read-noise %.17g\n# sun %.17g\n# full-well %.17g\n", s->noise_mm,
		s->read_noise, s->sun, s->full_well);
	fprintf(out,
		"# offset-mm %.17g\n# drift-mm-per-k %.17g\n# temperature %.17g\n# warm-up-k %.17g\n# warm-up-s "
		"%.17g\n",
		s->offset_mm, s->drift_mm_per_k, s->temperature_c, s->warm_up_k, s->warm_up_s);
	fprintf(out, "# k1 %.17g\n# k2 %.17g\n# albedo %.17g\n# seed %llu\n", o->k1, o->k2, o->scene.albedo,
		(unsigned long long)s->seed);
	if (o->scene.wall_z_m > 0)
		fprintf(out, "# wall %.17g\n# wall-albedo %.17g\n", o->scene.wall_z_m, o->scene.wall_albedo);
	for (int i = 0; i < o->scene.clutter_count; i++) {
		const struct vector *a = &o->scene.clutter[i].least, *b = &o->scene.clutter[i].most;

		fprintf(out, "# clutter %.17g %.17g %.17g %.17g %.17g %.17g\n", (a->x + b->x) / 2, (a->y + b->y) / 2,
			(a->z + b->z) / 2, b->x - a->x, b->y - a->y, b->z - a->z);
	}
	fputs("# sequence time_s px py pz qw qx qy qz temperature_c crc32\n", out);
}

static void write_truth(const struct truth *truth, uint32_t crc, FILE *out)
{
	const struct vector *p = &truth->pose.position;
	const struct quaternion *q = &truth->pose.attitude;

	fprintf(out, "%llu %.9f %.9f %.9f %.9f %.12f %.12f %.12f %.12f %.6f %08x\n",
		(unsigned long long)truth->sequence, truth->time_s, p->x, p->y, p->z, q->w, q->x, q->y, q->z,
		truth->temperature_c, crc);
}

/* Frame `number` into `out`, as I and Q. */
static struct truth make(const struct options *o, const struct lens *lens, uint64_t number, struct hit *hits,
			 uint8_t *out, float *ranges)
{
	double time_s = (double)number * o->step_s;

	sensor_frame(&o->sensor, lens, &o->scene, time_s, number, hits, out, ranges);
	return (struct truth){ number, time_s, scene_pose(&o->scene, time_s), sensor_temperature(&o->sensor, time_s) };
}

void recording_render(const struct options *options, const struct lens *lens, struct frames *frames,
		      struct truth *truths)
{
	struct hit *hits = room(sizeof(*hits) * DS325_PIXELS);
	uint8_t *iq = room((size_t)options->frames * DS325_FRAME_BYTES);
	uint8_t *z16 = options->z16 ? room((size_t)options->frames * DS325_Z16_BYTES) : NULL;

	for (uint32_t n = 0; n < options->frames; n++) {
		uint8_t *frame = iq + (size_t)n * DS325_FRAME_BYTES;

		truths[n] = make(options, lens, n, hits, frame, NULL);
		if (z16)
			frames_to_z16(z16 + (size_t)n * DS325_Z16_BYTES, frame, lens, options->settings.confidence,
				      options->sensor.modulation_hz);
	}
	free(hits);
	frames->count = options->frames;
	frames->iq = iq;
	frames->z16 = z16;
}

void recording_write(const struct options *options, const struct lens *lens)
{
	struct hit *hits = room(sizeof(*hits) * DS325_PIXELS);
	uint8_t *frame = room(DS325_FRAME_BYTES);
	float *ranges = room(sizeof(*ranges) * DS325_PIXELS);
	size_t bytes = options->z16 ? DS325_Z16_BYTES : DS325_FRAME_BYTES;
	FILE *out = create(options->write, "");
	FILE *truth_out = create(options->write, ".truth");
	FILE *range_out = options->truth_range ? create(options->write, ".range") : NULL;

	write_settings(options, truth_out);
	for (uint32_t n = 0; n < options->frames; n++) {
		struct truth truth = make(options, lens, n, hits, frame, ranges);

		if (options->z16)
			frames_to_z16(frame, frame, lens, options->settings.confidence, options->sensor.modulation_hz);
		write_truth(&truth, crc32_add(0, frame, bytes), truth_out);
		fwrite(frame, bytes, 1, out);
		if (range_out)
			fwrite(ranges, sizeof(*ranges), DS325_PIXELS, range_out);
	}
	finish(out, options->write);
	finish(truth_out, options->write);
	if (range_out)
		finish(range_out, options->write);
	free(hits);
	free(frame);
	free(ranges);
}

void recording_replay(const struct options *options, struct frames *frames)
{
	const long long frame = options->z16 ? DS325_Z16_BYTES : DS325_FRAME_BYTES;
	long long size;
	int file = open_file("the recording ", options->replay, &size);
	void *bytes;

	if (size < frame || size % frame || size / frame > 1000000)
		die(BAD_INPUT, "the recording %s has %lld bytes: a multiple of %lld is needed (--format says of which)",
		    options->replay, size, frame);
	bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
	if (bytes == MAP_FAILED)
		die(RUN_FAILED, "no memory for the recording %s: %s", options->replay, strerror(errno));
	close(file);
	frames->count = (uint32_t)(size / frame);
	frames->iq = options->z16 ? NULL : bytes;
	frames->z16 = options->z16 ? bytes : NULL;
}

void recording_truth(const struct options *options, const struct frames *frames, const struct truth *truths,
		     const char *path)
{
	FILE *out = create(path, "");

	write_settings(options, out);
	for (uint32_t n = 0; n < frames->count; n++) {
		unsigned int format = options->z16 ? DS325_FORMAT_Z16 : DS325_FORMAT_IQ;
		const uint8_t *frame = frames_get(frames, n, format, 100, frames->confidence, 0);

		write_truth(truths + n, crc32_add(0, frame, options->z16 ? DS325_Z16_BYTES : DS325_FRAME_BYTES), out);
	}
	finish(out, path);
}

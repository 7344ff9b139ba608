// SPDX-License-Identifier: MIT
/* ds325-stream's command line. */
#include <string.h>

#include "stream.h"

static enum option_status set_switches(const struct option *option, void *to, const char *text)
{
	const int switches = ds325_baseline_switches(text);

	(void)option;
	if (switches < 0)
		die(BAD_INPUT, "--baseline-switches=%s: all, none, or of decode,clear,copy,sleep,command,stamp", text);
	*(unsigned int *)to = (unsigned int)switches;
	return OPTION_SET;
}

/* In the order of enum ds325_io, then a ring. */
static const char *const methods[] = { "read", "mmap", "userptr", "dmabuf", "ring", NULL };
enum { MMAP = 1, RING = 4 };
static const char *const ways[] = { "none", "baseline", "kernel", "simd", "scalar", "sse2", "avx2", "neon", NULL };
enum { SIMD = 3 };
static const char *const orders[] = { "next", "newest", NULL };
static const char *const kinds[] = { "radial", "depth", NULL };

#define TEXT(field) OPTION_TEXT(struct options, field)
#define WHOLE(field, least, most) OPTION_WHOLE(struct options, field, least, most)
#define CHOICE(field, names) OPTION_CHOICE(struct options, field, names)
#define MOST 2000000000
static const struct option streaming[] = {
	{ "device", "PATH", "/dev/video0, or a ring's node", TEXT(device) },
	{ "method", "METHOD", "how frames are taken (mmap)", CHOICE(method_number, methods) },
	{ "decode", "WAY", "how they are decoded (simd); kernel needs --method=dmabuf", CHOICE(way_number, ways) },
	{ "node", "PATH", "of --decode=kernel: ds325-dmabuf's (/dev/ds325-dmabuf-0)", TEXT(node) },
	{ "baseline-switches", "S", "all, none, or of decode,clear,copy,sleep,command,stamp", set_switches,
	  OPTION_AT(struct options, switches) },
	{ "frames", "N", "good frames until the end (600)", WHOLE(frames, 1, 10000000) },
	{ "buffers", "N", "2 to 8 (4)", WHOLE(buffers, 2, DS325_BUFFERS_MOST) },
	{ "rate", "N", "frames/s asked for; 0 leaves it (0)", WHOLE(rate, 0, 10000) },
	{ "order", "ORDER", "of a ring (next)", CHOICE(newest, orders) },
	{ "check", "FILE", "frames as the emulator wrote them; each must be one of these, in order", TEXT(check) },
	{ "output", "FILE", "where the results go (standard output)", TEXT(output) },
	{ "priority", "N", "SCHED_FIFO, 1 to 98; 0 stays without real time (80)", WHOLE(priority, 0, 98) },
	{ "timeout-ms", "N", "without a frame, the end (2000)", WHOLE(timeout_ms, 1, 3600000) },
	{ "replug-ms", "N", "to wait for a camera that has gone (10000)", WHOLE(replug_ms, 1, 3600000) },
	{ "pose", NULL, "the docking target's pose from each frame's ranges, and what that takes",
	  OPTION_FLAG(struct options, pose) },
	{ 0 }
};
static const struct option calibrating[] = {
	{ "geometry", "KIND", "ranges along the pixel's ray or along the axis", CHOICE(calibration.geometry, kinds) },
	{ "confidence", "COUNTS", "least amplitude (10)", WHOLE(calibration.confidence, 1, DS325_WORD_MOST) },
	{ "modulation-hz", "N", "of the light (50000000)", WHOLE(calibration.modulation_hz, 1, MOST) },
	{ "offset-um", "N", "what the camera reads too much (0)", WHOLE(calibration.offset_um, -MOST, MOST) },
	{ "drift-um-per-k", "N", "and its drift (0)", WHOLE(calibration.drift_um_per_k, -MOST, MOST) },
	{ "temperature-mc", "N", "the camera's (25000)", WHOLE(calibration.temperature_mc, -273150, MOST) },
	{ "k1-ppm", "N", "the lens's distortion (0)", WHOLE(calibration.k1_ppm, -MOST, MOST) },
	{ "k2-ppm", "N", "and its next term (0)", WHOLE(calibration.k2_ppm, -MOST, MOST) },
	{ 0 }
};

const struct program program = {
	.name = "ds325-stream",
	.synopsis = "ds325-stream [--KEY=VALUE]...\n",
	.tables = { streaming, calibrating },
};

static void check(const struct options *options)
{
	if (strlen(options->device) >= sizeof(((struct ds325_capture *)0)->device))
		die(BAD_INPUT, "--device=%s is too long a name", options->device);
	if (options->ring && options->decoding == DECODE_BASELINE)
		die(BAD_INPUT, "--method=ring: ranges come decoded, so nothing is left for --decode=baseline");
	if (options->decoding == DECODE_KERNEL && (options->ring || options->io != DS325_DMABUF))
		die(BAD_INPUT, "--decode=kernel needs --method=dmabuf: it takes a video node's buffers as dma-bufs");
	if (options->pose && !options->ring && options->decoding == DECODE_NONE)
		die(BAD_INPUT, "--pose needs ranges, so not --decode=none");
	if (options->pose && options->decoding == DECODE_BASELINE && options->switches & DS325_BASELINE_DECODE)
		die(BAD_INPUT, "--pose needs ranges, and --decode=baseline makes none: "
			       "choose others of --baseline-switches than decode");
	if (options->pose && options->calibration.geometry != DS325_RADIAL)
		die(BAD_INPUT, "--pose needs ranges along each pixel's ray, so not --geometry=depth");
}

void read_options(struct options *options, int argc, char **argv)
{
	static const enum decoding decodings[] = { DECODE_NONE, DECODE_BASELINE, DECODE_KERNEL };

	*options = (struct options){ .device = "/dev/video0",
				     .node = "/dev/ds325-dmabuf-0",
				     .frames = 600,
				     .buffers = 4,
				     .priority = 80,
				     .timeout_ms = 2000,
				     .replug_ms = 10000,
				     .switches = DS325_BASELINE_ALL,
				     .calibration = DS325_CALIBRATION_DEFAULT,
				     .method_number = MMAP,
				     .way_number = SIMD };
	command_line_read(argc, argv, options);
	options->method = methods[options->method_number];
	options->ring = options->method_number == RING;
	options->io = options->ring ? DS325_MMAP : (enum ds325_io)options->method_number;
	options->decode = ways[options->way_number];
	options->decoding = options->way_number < SIMD ? decodings[options->way_number] : DECODE_LIBRARY;
	options->decoder = ds325_method(options->way_number < SIMD ? "scalar" : options->decode);
	if (!options->decoder)
		die(BAD_INPUT, "--decode=%s: this processor has none of these instructions", options->decode);
	if (options->decoding == DECODE_LIBRARY)
		options->decode = options->decoder->name;
	check(options);
}

// SPDX-License-Identifier: MIT
/* ds325-stream's command line. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "stream.h"

static const char usage[] =
	"ds325-stream [--KEY=VALUE]...\n"
	"  --device=PATH          /dev/video0, or a ring's node\n"
	"  --method=METHOD        mmap, read, userptr, dmabuf, ring\n"
	"  --decode=WAY           simd, scalar, sse2, avx2, neon, none, baseline; kernel, with --method=dmabuf\n"
	"  --node=PATH            of --decode=kernel: ds325-dmabuf's (/dev/ds325-dmabuf-0)\n"
	"  --baseline-switches=S  all, none, or of decode,clear,copy,sleep,command,stamp\n"
	"  --frames=N             good frames until the end (600)\n"
	"  --buffers=N            2 to 8 (4)\n"
	"  --rate=N               frames/s asked for; 0 leaves it (0)\n"
	"  --order=ORDER          of a ring: next or newest (next)\n"
	"  --check=FILE           frames as the emulator wrote them; each must be one of these, in order\n"
	"  --output=FILE          where the results go (standard output)\n"
	"  --priority=N           SCHED_FIFO, 1 to 98; 0 stays without real time (80)\n"
	"  --timeout-ms=N         without a frame, the end (2000)\n"
	"  --replug-ms=N          to wait for a camera that has gone (10000)\n"
	"  --pose                 the docking target's pose from each frame's ranges, and what that takes\n"
	"  --geometry=KIND        radial or depth; --confidence=COUNTS --modulation-hz=N --offset-um=N\n"
	"  --drift-um-per-k=N --temperature-mc=N --k1-ppm=N --k2-ppm=N\n";

void die(int code, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ') /* one line, whatever an option holds */
			*at = '?';
	fprintf(stderr, "ds325-stream: %s\n", text);
	exit(code);
}

static int number(const char *key, const char *text, long least, long most)
{
	const size_t digits = strspn(text, "-0123456789"); /* strtol() takes spaces too, and what is too large as its limit */
	char *end;
	long value = strtol(text, &end, 10);

	if (!digits || text[digits] || *end || value < least || value > most)
		die(BAD_INPUT, "--%s=%s: a number from %ld to %ld is needed", key, text, least, most);
	return (int)value;
}

/* Which of `names`, a list that ends in NULL. */
static int choice(const char *key, const char *text, const char *const *names)
{
	for (int one = 0; names[one]; one++)
		if (!strcmp(text, names[one]))
			return one;
	die(BAD_INPUT, "--%s=%s is none of those that --help lists", key, text);
}

static void set_method(struct options *options, const char *text)
{
	static const char *const names[] = { "read", "mmap", "userptr", "dmabuf", "ring", NULL };
	int chosen = choice("method", text, names);

	options->method = text;
	options->ring = chosen == 4;
	options->io = options->ring ? DS325_MMAP : (enum ds325_io)chosen;
}

static void set_decode(struct options *options, const char *text)
{
	static const char *const names[] = { "none", "baseline", "kernel", "simd", "scalar", "sse2", "avx2", "neon", NULL };
	static const enum decoding ways[] = { DECODE_NONE, DECODE_BASELINE, DECODE_KERNEL };
	int chosen = choice("decode", text, names);

	options->decoding = chosen < 3 ? ways[chosen] : DECODE_LIBRARY;
	options->decoder = ds325_method(chosen > 2 ? text : "scalar");
	if (!options->decoder)
		die(BAD_INPUT, "--decode=%s: this processor has none of these instructions", text);
	options->decode = chosen > 2 ? options->decoder->name : text;
}

static void set(struct options *options, const char *key, const char *value)
{
	static const char *const orders[] = { "next", "newest", NULL }, *const kinds[] = { "radial", "depth", NULL };
	struct ds325_calibration *calibration = &options->calibration;
	const long most = 2000000000;

	if (!strcmp(key, "device"))
		options->device = value;
	else if (!strcmp(key, "node"))
		options->node = value;
	else if (!strcmp(key, "method"))
		set_method(options, value);
	else if (!strcmp(key, "decode"))
		set_decode(options, value);
	else if (!strcmp(key, "baseline-switches")) {
		int switches = ds325_baseline_switches(value);

		if (switches < 0)
			die(BAD_INPUT, "--baseline-switches=%s: all, none, or of decode,clear,copy,sleep,command,stamp", value);
		options->switches = (unsigned int)switches;
	} else if (!strcmp(key, "frames"))
		options->frames = (uint32_t)number(key, value, 1, 10000000);
	else if (!strcmp(key, "buffers"))
		options->buffers = (uint32_t)number(key, value, 2, DS325_BUFFERS_MOST);
	else if (!strcmp(key, "rate"))
		options->rate = (uint32_t)number(key, value, 0, 10000);
	else if (!strcmp(key, "order"))
		options->newest = choice(key, value, orders);
	else if (!strcmp(key, "check"))
		options->check = value;
	else if (!strcmp(key, "output"))
		options->output = value;
	else if (!strcmp(key, "priority"))
		options->priority = number(key, value, 0, 98);
	else if (!strcmp(key, "timeout-ms"))
		options->timeout_ms = number(key, value, 1, 3600000);
	else if (!strcmp(key, "replug-ms"))
		options->replug_ms = number(key, value, 1, 3600000);
	else if (!strcmp(key, "geometry"))
		calibration->geometry = choice(key, value, kinds) ? DS325_DEPTH : DS325_RADIAL;
	else if (!strcmp(key, "confidence"))
		calibration->confidence = (uint32_t)number(key, value, 1, DS325_WORD_MOST);
	else if (!strcmp(key, "modulation-hz"))
		calibration->modulation_hz = (uint32_t)number(key, value, 1, most);
	else if (!strcmp(key, "offset-um"))
		calibration->offset_um = number(key, value, -most, most);
	else if (!strcmp(key, "drift-um-per-k"))
		calibration->drift_um_per_k = number(key, value, -most, most);
	else if (!strcmp(key, "temperature-mc"))
		calibration->temperature_mc = number(key, value, -273150, most);
	else if (!strcmp(key, "k1-ppm"))
		calibration->k1_ppm = number(key, value, -most, most);
	else if (!strcmp(key, "k2-ppm"))
		calibration->k2_ppm = number(key, value, -most, most);
	else
		die(BAD_INPUT, "--%s is no option; --help lists them", key);
}

void read_options(struct options *options, int argc, char **argv)
{
	*options = (struct options){ .device = "/dev/video0", .node = "/dev/ds325-dmabuf-0", .frames = 600, .buffers = 4,
				     .priority = 80, .timeout_ms = 2000, .replug_ms = 10000, .switches = DS325_BASELINE_ALL,
				     .calibration = DS325_CALIBRATION_DEFAULT };
	set_method(options, "mmap");
	set_decode(options, "simd");
	for (int i = 1; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "--version")) {
			fputs(argv[i][2] == 'h' ? usage : "ds325-stream " VERSION "\n", stdout);
			exit(0);
		}
		if (!strcmp(argv[i], "--pose")) {
			options->pose = true;
			continue;
		}
		if (strncmp(argv[i], "--", 2))
			die(BAD_INPUT, "%s is no option: these have the form --KEY=VALUE", argv[i]);
		if (value)
			*value++ = '\0';
		else if (i + 1 < argc)
			value = argv[i + 1];
		else
			die(BAD_INPUT, "%s needs a value", argv[i]);
		set(options, argv[i] + 2, value);
		i += value == (i + 1 < argc ? argv[i + 1] : NULL);
	}
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

// SPDX-License-Identifier: MIT
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "server.h"

static const char usage[] =
	"ds325-emulator --write FILE [--truth-range] [frames] [scene] [sensor]\n"
	"ds325-emulator --attach | --listen [ADDRESS:]PORT [frames] [scene] [sensor] [device]\n"
	"ds325-emulator --help | --version\n"
	"\n"
	"frames   --frames N (60)  --step S (1/60 s)  --format iq|z16  --replay FILE  --truth FILE\n"
	"scene    --at \"T X Y Z ROLL PITCH YAW\" (s, m, degrees; may be repeated)  --albedo A  --wall Z  --wall-albedo A\n"
	"         --scene FILE (the keys of frames, scene and sensor, without dashes, one a line)\n"
	"sensor   --frequency HZ  --amplitude COUNTS  --noise-mm MM  --read-noise COUNTS  --sun COUNTS  --full-well COUNTS\n"
	"         --offset-mm MM  --drift-mm-per-k MM  --temperature C  --warm-up-k K  --warm-up-s S  --k1 K  --k2 K  --seed N\n"
	"device   --speed high|super  --unthrottled  --count N  --stamp  --confidence COUNTS  --fault KIND@FRAME[:ARGUMENT]\n"
	"         --descriptors KIND  --control FIFO  --daemon  --priority N  --report FILE  --log FILE\n"
	"\n"
	"docs/emulator.md explains them.\n";

void die(int code, const char *format, ...)
{
	va_list args;

	fputs("ds325-emulator: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(code);
}

/* A number, and what follows it. */
static double number_at(const char *key, const char **text, double least, double most)
{
	char *end;
	double value;

	errno = 0;
	value = strtod(*text, &end);
	if (end == *text || errno || !isfinite(value) || value < least || value > most)
		die(BAD_INPUT, "%s \"%s\": a number from %g to %g is needed", key, *text, least, most);
	*text = end;
	return value;
}

static double real(const char *key, const char *text, double least, double most)
{
	const char *rest = text;
	double value = number_at(key, &rest, least, most);

	if (*rest)
		die(BAD_INPUT, "%s \"%s\": a number from %g to %g is needed", key, text, least, most);
	return value;
}

static uint64_t whole(const char *key, const char *text, uint64_t least, uint64_t most)
{
	uint64_t value = 0;
	bool good = *text != '\0';

	for (const char *digit = text; *digit && good; digit++) {
		good = *digit >= '0' && *digit <= '9' && value <= most / 10;
		value = value * 10 + (uint64_t)(*digit - '0');
	}
	if (!good || value < least || value > most)
		die(BAD_INPUT, "%s \"%s\": a whole number from %llu to %llu is needed", key, text,
		    (unsigned long long)least, (unsigned long long)most);
	return value;
}

static int choice(const char *key, const char *text, const char *const *names, int count)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(text, names[i]))
			return i;
	fprintf(stderr, "ds325-emulator: %s \"%s\" is none of", key, text);
	for (int i = 0; i < count; i++)
		fprintf(stderr, " %s", names[i]);
	fputc('\n', stderr);
	exit(BAD_INPUT);
}

static void add_waypoint(struct scene *scene, const char *text, bool first)
{
	const char *rest = text;
	double v[7];
	struct waypoint *point;

	for (int i = 0; i < 7; i++)
		v[i] = number_at("at", &rest, i ? -1000 : 0, i ? 1000 : 1e6);
	if (rest[strspn(rest, " \t")])
		die(BAD_INPUT, "at \"%s\": seven numbers are needed: time, x, y, z, roll, pitch, yaw", text);
	if (first)
		scene->waypoint_count = 0;
	if (scene->waypoint_count == WAYPOINTS)
		die(BAD_INPUT, "at \"%s\": there are %d waypoints already, no more are allowed", text, WAYPOINTS);
	point = scene->waypoints + scene->waypoint_count++;
	*point = (struct waypoint){ v[0], { { v[1], v[2], v[3] }, quaternion_from_angles(v[4], v[5], v[6]) } };
	if (point > scene->waypoints && point[0].time_s <= point[-1].time_s)
		die(BAD_INPUT, "at \"%s\": waypoints are needed in the order of their times", text);
}

/* Keys with a number: its range and where it goes. */
struct number_key {
	const char *name;
	double *value;
	double least, most;
};

static bool set_number(struct options *o, const char *key, const char *text)
{
	struct sensor *s = &o->sensor;
	const struct number_key keys[] = {
		{ "step", &o->step_s, 1e-6, 3600 },
		{ "albedo", &o->scene.albedo, 0, 1 },
		{ "wall", &o->scene.wall_z_m, 0.01, 1000 },
		{ "wall-albedo", &o->scene.wall_albedo, 0, 1 },
		{ "frequency", &s->modulation_hz, 1e6, 1e9 },
		{ "amplitude", &s->amplitude, 0, 1e6 },
		{ "noise-mm", &s->noise_mm, 0, 1000 },
		{ "read-noise", &s->read_noise, 0, 1000 },
		{ "sun", &s->sun, 0, 1e6 },
		{ "full-well", &s->full_well, 1, 1e9 },
		{ "offset-mm", &s->offset_mm, -10000, 10000 },
		{ "drift-mm-per-k", &s->drift_mm_per_k, -1000, 1000 },
		{ "temperature", &s->temperature_c, -273, 1000 },
		{ "warm-up-k", &s->warm_up_k, -1000, 1000 },
		{ "warm-up-s", &s->warm_up_s, 1e-3, 1e9 },
		{ "k1", &o->k1, -0.5, 0.5 },
		{ "k2", &o->k2, -0.5, 0.5 },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (!strcmp(key, keys[i].name)) {
			*keys[i].value = real(key, text, keys[i].least, keys[i].most);
			o->scene.wall = o->scene.wall || keys[i].value == &o->scene.wall_z_m;
			return true;
		}
	}
	return false;
}

/* Keys that decide the frames: of the command line and of scene files. `ats` counts the waypoints read. */
static bool set_scene_key(struct options *o, const char *key, const char *text, int *ats)
{
	static const char *const formats[] = { "iq", "z16" };

	if (!strcmp(key, "at"))
		add_waypoint(&o->scene, text, !(*ats)++);
	else if (!strcmp(key, "frames"))
		o->frames = (uint32_t)whole(key, text, 1, 1000000);
	else if (!strcmp(key, "seed"))
		o->sensor.seed = whole(key, text, 0, INT64_MAX);
	else if (!strcmp(key, "format"))
		o->z16 = choice(key, text, formats, 2);
	else
		return set_number(o, key, text);
	return true;
}

static void read_scene(struct options *o, const char *path, int *ats)
{
	FILE *file = fopen(path, "r");
	char line[512];

	if (!file)
		die(BAD_INPUT, "the scene file %s cannot be read: %s", path, strerror(errno));
	for (int number = 1; fgets(line, sizeof(line), file); number++) {
		char *key = line + strspn(line, " \t"), *value;
		size_t length = strcspn(line, "\r\n");

		if (length == sizeof(line) - 1)
			die(BAD_INPUT, "%s, line %d: longer than 510 characters", path, number);
		line[length] = '\0';
		if (!*key || *key == '#')
			continue;
		value = key + strcspn(key, " \t=");
		length = strspn(value, " \t=");
		if (length)
			*value = '\0';
		if (!set_scene_key(o, key, value + length, ats))
			die(BAD_INPUT, "%s, line %d: \"%s\" is no key of a scene", path, number, key);
	}
	if (ferror(file))
		die(BAD_INPUT, "the scene file %s cannot be read", path);
	fclose(file);
}

static bool set_flag(struct options *o, const char *key)
{
	const struct {
		const char *name;
		bool *value;
	} flags[] = {
		{ "truth-range", &o->truth_range }, { "attach", &o->attach }, { "daemon", &o->daemon },
		{ "unthrottled", &o->settings.unthrottled }, { "stamp", &o->settings.stamp },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (!strcmp(key, flags[i].name)) {
			*flags[i].value = true;
			return true;
		}
	}
	return false;
}

static bool set_text(struct options *o, const char *key, const char *text)
{
	const struct {
		const char *name, **value;
	} texts[] = {
		{ "replay", &o->replay }, { "write", &o->write }, { "truth", &o->truth }, { "listen", &o->listen },
		{ "control", &o->control }, { "report", &o->report }, { "log", &o->log },
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		if (!strcmp(key, texts[i].name)) {
			*texts[i].value = text;
			return true;
		}
	}
	return false;
}

static void add_fault(struct options *o, const char *text)
{
	struct fault fault;

	if (!fault_parse(text, NULL, &fault)) {
		fprintf(stderr, "ds325-emulator: fault \"%s\": KIND@FRAME[:ARGUMENT] is needed, KIND one of", text);
		for (int kind = FAULT_DROP; kind < FAULT_KINDS; kind++)
			fprintf(stderr, " %s", fault_names[kind]);
		fputc('\n', stderr);
		exit(BAD_INPUT);
	}
	if (!faults_add(&o->faults, &fault))
		die(BAD_INPUT, "fault \"%s\": there are %d faults already, no more are allowed", text, FAULTS);
}

static void set_option(struct options *o, const char *key, const char *text, int *ats)
{
	static const char *const speeds[] = { "high", "super" };

	if (!strcmp(key, "scene"))
		read_scene(o, text, ats);
	else if (!strcmp(key, "speed"))
		o->settings.speed = choice(key, text, speeds, 2);
	else if (!strcmp(key, "descriptors"))
		o->settings.wrong = choice(key, text, wrong_names, WRONG_KINDS);
	else if (!strcmp(key, "confidence"))
		o->settings.confidence = (unsigned int)whole(key, text, 0, DS325_WORD_MOST);
	else if (!strcmp(key, "count"))
		o->settings.count = whole(key, text, 1, UINT32_MAX);
	else if (!strcmp(key, "fault"))
		add_fault(o, text);
	else if (!strcmp(key, "priority"))
		o->priority = (int)whole(key, text, 1, 99);
	else if (!set_text(o, key, text) && !set_scene_key(o, key, text, ats))
		die(BAD_INPUT, "--%s is no option; --help lists them", key);
}

static void check(const struct options *o)
{
	if (o->attach + !!o->listen + !!o->write != 1)
		die(BAD_INPUT, "one of --attach, --listen and --write is needed; --help explains");
	if (o->write && (o->replay || o->truth))
		die(BAD_INPUT, "--write makes frames: --replay and --truth are for sending them");
	if (o->replay && o->truth)
		die(BAD_INPUT, "--truth is of frames that are made here: that of a recording lies beside it");
	if (o->listen)
		server_check(o->listen);
	if (o->truth_range && !o->write)
		die(BAD_INPUT, "--truth-range needs --write FILE: ranges go to FILE.range");
}

void options_read(struct options *options, int argc, char **argv)
{
	int ats = 0;

	*options = (struct options){
		.frames = 60,
		.step_s = 1.0 / 60,
		.settings = { .speed = SPEED_SUPER, .confidence = DS325_CONFIDENCE_LEAST },
	};
	scene_default(&options->scene);
	sensor_default(&options->sensor);
	for (int i = 1; i < argc; i++) {
		const char *key = argv[i] + 2;

		if (!strcmp(argv[i], "--help")) {
			fputs(usage, stdout);
			exit(0);
		}
		if (!strcmp(argv[i], "--version")) {
			puts("ds325-emulator " VERSION);
			exit(0);
		}
		if (strncmp(argv[i], "--", 2))
			die(BAD_INPUT, "%s is no option: options begin with --", argv[i]);
		if (set_flag(options, key))
			continue;
		if (i + 1 == argc)
			die(BAD_INPUT, "--%s is no option, or needs a value; --help lists them", key);
		set_option(options, key, argv[++i], &ats);
	}
	check(options);
}

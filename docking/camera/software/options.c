// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "server.h"

static enum option_status add_waypoint(const struct option *option, void *to, const char *text)
{
	struct options *options = to;
	struct scene *scene = &options->scene;
	const char *rest = text;
	double v[7];
	struct waypoint *point;

	(void)option;
	for (int i = 0; i < 7; i++)
		if (!real_at(&rest, i ? -1000 : 0, i ? 1000 : 1e6, v + i))
			die(BAD_INPUT, "at \"%s\": not from %d to %d", rest, i ? -1000 : 0, i ? 1000 : 1000000);
	if (rest[strspn(rest, " \t")])
		die(BAD_INPUT, "at \"%s\": seven numbers are needed: time, x, y, z, roll, pitch, yaw", text);
	if (!options->waypoints++) /* instead of the usual messages */
		scene->waypoint_count = 0;
	if (scene->waypoint_count == WAYPOINTS)
		die(BAD_INPUT, "at \"%s\": there are %d waypoints already, no more are allowed", text, WAYPOINTS);
	point = scene->waypoints + scene->waypoint_count++;
	*point = (struct waypoint){ v[0], { { v[1], v[2], v[3] }, quaternion_from_angles(v[4], v[5], v[6]) } };
	if (point > scene->waypoints && point[0].time_s <= point[-1].time_s)
		die(BAD_INPUT, "at \"%s\": waypoints are needed in the order of their times", text);
	return OPTION_SET;
}

static enum option_status add_clutter(const struct option *option, void *to, const char *text)
{
	struct options *options = to;
	const char *rest = text;
	double v[6];

	(void)option;
	for (int i = 0; i < 6; i++)
		if (!real_at(&rest, i < 3 ? -1000 : 1e-4, 1000, v + i))
			die(BAD_INPUT, "clutter at \"%s\": not from %s to 1000", rest, i < 3 ? "-1000" : "0.0001");
	if (rest[strspn(rest, " \t")])
		die(BAD_INPUT, "clutter \"%s\": six numbers are needed: x, y, z, width, height, depth", text);
	if (options->scene.clutter_count == CLUTTER)
		die(BAD_INPUT, "clutter \"%s\": there are %d things already, no more are allowed", text, CLUTTER);
	options->scene.clutter[options->scene.clutter_count++] = (struct box){
		{ v[0] - v[3] / 2, v[1] - v[4] / 2, v[2] - v[5] / 2 },
		{ v[0] + v[3] / 2, v[1] + v[4] / 2, v[2] + v[5] / 2 }
	};
	return OPTION_SET;
}

static enum option_status add_fault(const struct option *option, void *to, const char *text)
{
	char names[200] = "";
	struct fault fault;

	(void)option;
	for (int kind = FAULT_DROP; kind < FAULT_KINDS; kind++)
		strcat(strcat(names, " "), fault_names[kind]);
	if (!fault_parse(text, NULL, &fault))
		die(BAD_INPUT, "fault \"%s\": KIND@FRAME[:ARGUMENT] is needed, KIND one of%s", text, names);
	if (!faults_add(to, &fault))
		die(BAD_INPUT, "fault \"%s\": there are %d faults already, no more are allowed", text, FAULTS);
	return OPTION_SET;
}

static enum option_status read_scene(const struct option *option, void *to, const char *path);

static const char *const formats[] = { "iq", "z16", NULL }, *const speeds[] = { "high", "super", NULL };

#define FLAG(field) OPTION_FLAG(struct options, field)
#define TEXT(field) OPTION_TEXT(struct options, field)
#define WHOLE(field, least, most) OPTION_WHOLE(struct options, field, least, most)
#define REAL(field, least, most) OPTION_REAL(struct options, field, least, most)
#define CHOICE(field, names) OPTION_CHOICE(struct options, field, names)
/* The options that decide what frames hold, on the command line and in scene files. */
static const struct option frame_keys[] = {
	{ "frames", "N", "how many are made (60)", WHOLE(frames, 1, 1000000) },
	{ "step", "S", "scene time between two of them (1/60)", REAL(step_s, 1e-6, 3600) },
	{ "format", "FORMAT", "in memory and files (iq)", CHOICE(z16, formats) },
	{ "at", "\"T X Y Z ROLL PITCH YAW\"", "where the target is: s, m, degrees; may be repeated",
	  .set = add_waypoint },
	{ "albedo", "A", "the target's", REAL(scene.albedo, 0, 1) },
	{ "wall", "Z", "a wall behind it, m", REAL(scene.wall_z_m, 0.01, 1000) },
	{ "wall-albedo", "A", "and its albedo", REAL(scene.wall_albedo, 0, 1) },
	{ "clutter", "\"X Y Z WIDTH HEIGHT DEPTH\"", "a box of the wall's albedo, m, that stays; may be repeated",
	  .set = add_clutter },
	{ "frequency", "HZ", "of the light's modulation", REAL(sensor.modulation_hz, 1e6, 1e9) },
	{ "amplitude", "COUNTS", "of white at 1 m", REAL(sensor.amplitude, 0, 1e6) },
	{ "noise-mm", "MM", "a pixel's at 1 m", REAL(sensor.noise_mm, 0, 1000) },
	{ "read-noise", "COUNTS", "of every word", REAL(sensor.read_noise, 0, 1000) },
	{ "sun", "COUNTS", "of light that is not the camera's", REAL(sensor.sun, 0, 1e6) },
	{ "full-well", "COUNTS", "where a pixel saturates", REAL(sensor.full_well, 1, 1e9) },
	{ "offset-mm", "MM", "what it reads too much", REAL(sensor.offset_mm, -10000, 10000) },
	{ "drift-mm-per-k", "MM", "and more for each K above 25 C", REAL(sensor.drift_mm_per_k, -1000, 1000) },
	{ "temperature", "C", "at the start", REAL(sensor.temperature_c, -273, 1000) },
	{ "warm-up-k", "K", "what it rises by", REAL(sensor.warm_up_k, -1000, 1000) },
	{ "warm-up-s", "S", "in about this time", REAL(sensor.warm_up_s, 1e-3, 1e9) },
	{ "k1", "K", "the lens's distortion", REAL(k1, -0.5, 0.5) },
	{ "k2", "K", "and its next term", REAL(k2, -0.5, 0.5) },
	{ "seed", "N", "of all that is random", WHOLE(sensor.seed, 0, INT64_MAX) },
	{ 0 }
};
static const struct option file_keys[] = {
	{ "write", "FILE", "make frames and their truth, then end", TEXT(write) },
	{ "truth-range", NULL, "and each pixel's true range, FILE.range", FLAG(truth_range) },
	{ "scene", "FILE", "the keys above, without dashes, one a line", .set = read_scene },
	{ "replay", "FILE", "send these frames", TEXT(replay) },
	{ "truth", "FILE", "the truth of the frames that are made and sent", TEXT(truth) },
	{ "steered", "FILE", "make each frame when it is due, of the target where FILE says", TEXT(steered) },
	{ 0 }
};
static const struct option device_keys[] = {
	{ "attach", NULL, "plug it into this machine", FLAG(attach) },
	{ "listen", "[ADDRESS:]PORT", "for USB/IP's clients", TEXT(listen) },
	{ "speed", "SPEED", "of USB (super)", CHOICE(settings.speed, speeds) },
	{ "unthrottled", NULL, "send as fast as the host takes frames", FLAG(settings.unthrottled) },
	{ "bus", "MB/S", "a frame takes this rate's time, 40 is USB 2.0's; 0: sent at once (0)",
	  WHOLE(settings.bus_mb_s, 0, 100000) },
	{ "line-rate", "LINES/S", "the sensor reads a frame's 240 lines out at this rate (all at once)",
	  WHOLE(settings.line_rate, 6000, 1000000) },
	{ "count", "N", "frames to send", WHOLE(settings.count, 1, UINT32_MAX) },
	{ "stamp", NULL, "number and time in a frame's last bytes", FLAG(settings.stamp) },
	{ "confidence", "COUNTS", "least amplitude of a valid pixel (10)",
	  WHOLE(settings.confidence, 0, DS325_WORD_MOST) },
	{ "fault", "KIND@FRAME[:ARGUMENT]", "may be repeated", add_fault, OPTION_AT(struct options, faults) },
	{ "descriptors", "KIND", "what is wrong with them", CHOICE(settings.wrong, wrong_names) },
	{ "control", "FIFO", "commands while it runs", TEXT(control) },
	{ "daemon", NULL, "go on in the background when it is plugged in", FLAG(daemon) },
	{ "priority", "N", "SCHED_FIFO's", WHOLE(priority, 1, 99) },
	{ "interrupts", "N", "that of vhci_hcd's threads, each time it is plugged in", WHOLE(interrupts, 1, 99) },
	{ "report", "FILE", "what became of the frames (standard output)", TEXT(report) },
	{ "log", "FILE", "each frame's numbers and times", TEXT(log) },
	{ 0 }
};

const struct program program = {
	.name = "ds325-emulator",
	.synopsis = "ds325-emulator --write=FILE [--KEY=VALUE]...\n"
		    "ds325-emulator --attach | --listen=[ADDRESS:]PORT [--KEY=VALUE]...\n",
	.notes = "docs/docking/emulator.md explains them.\n",
	.tables = { frame_keys, file_keys, device_keys },
};

static enum option_status read_scene(const struct option *option, void *to, const char *path)
{
	enum { SCENE_MOST = 1 << 20 };
	static const struct option *const tables[] = { frame_keys, NULL };
	long long bytes;
	FILE *file = fdopen(open_file("the scene file ", path, &bytes), "r");
	char line[512];

	(void)option;
	if (!file)
		die(RUN_FAILED, "the scene file %s: %s", path, strerror(errno));
	if (bytes > SCENE_MOST)
		die(BAD_INPUT, "the scene file %s has %lld bytes: a scene has %d at most", path, bytes, SCENE_MOST);
	for (int number = 1; fgets(line, sizeof(line), file); number++) {
		char *key = line + strspn(line, " \t"), *value;
		size_t length = strcspn(line, "\r\n");
		struct option_word read;

		if (length == sizeof(line) - 1)
			die(BAD_INPUT, "%s, line %d: longer than 510 characters", path, number);
		line[length] = '\0';
		if (!*key || *key == '#')
			continue;
		value = key + strcspn(key, " \t=");
		length = strspn(value, " \t=");
		if (length)
			*value = '\0';
		if (option_read(tables, key, value + length, to, &read) != OPTION_SET)
			die(BAD_INPUT, "%s, line %d: \"%s\" is no key of a scene, or \"%s\" none of its values", path,
			    number, key, value + length);
	}
	if (ferror(file))
		die(BAD_INPUT, "the scene file %s cannot be read", path);
	fclose(file);
	return OPTION_SET;
}

static void check(const struct options *o)
{
	if (o->attach + !!o->listen + !!o->write != 1)
		die(BAD_INPUT, "one of --attach, --listen and --write is needed; --help explains");
	if (o->write && (o->replay || o->truth))
		die(BAD_INPUT, "--write makes frames: --replay and --truth are for sending them");
	if (o->replay && o->truth)
		die(BAD_INPUT, "--truth is of frames that are made here: that of a recording lies beside it");
	if (o->steered && (o->write || o->replay || o->truth))
		die(BAD_INPUT, "--steered makes frames when they are due: --write, --replay and --truth are of frames "
			       "that are made before");
	if (o->listen)
		server_check(o->listen);
	if (o->interrupts && !o->attach)
		die(BAD_INPUT, "--interrupts is of this machine's USB host: it needs --attach");
	if (o->truth_range && !o->write)
		die(BAD_INPUT, "--truth-range needs --write FILE: ranges go to FILE.range");
}

void options_read(struct options *options, int argc, char **argv)
{
	*options = (struct options){
		.frames = 60,
		.step_s = 1.0 / 60,
		.settings = { .speed = SPEED_SUPER, .confidence = DS325_CONFIDENCE_LEAST },
	};
	scene_default(&options->scene);
	sensor_default(&options->sensor);
	command_line_read(argc, argv, options);
	check(options);
}

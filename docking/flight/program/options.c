// SPDX-License-Identifier: MIT
/* ds325-flight's command line. */
#include <arpa/inet.h>

#include "world.h"

static const char *const modes[] = { "safe", "standby", "stream", NULL }; /* enum target */
static const char *const ways[] = { "uvcvideo", "driver", NULL }; /* as camera.c has them */

#define TEXT(field) OPTION_TEXT(struct options, field)
#define WHOLE(field, least, most) OPTION_WHOLE(struct options, field, least, most)
static const struct option links[] = {
	{ "address", "IP", "where to listen (127.0.0.1)", TEXT(address) },
	{ "port", "N", "TCP port of the ground's connection; 0: no TCP (10025)", WHOLE(port, 0, 65535) },
	{ "serial", "PATH", "a serial line, with COBS", TEXT(serial) },
	{ "baud", "N", "its speed; 0 leaves it (115200)", WHOLE(baud, 0, 4000000) },
	{ "key", "FILE", "16 to 64 octets; telecommands then need its tag", TEXT(key) },
	{ "counter", "N", "keeps it beside --state as that of the last telecommand with a tag, and ends",
	  WHOLE(counter, 0, INT64_MAX) },
	{ 0 }
};
static const struct option running[] = {
	{ "camera", "WAY", "its frames come by uvcvideo, or by its own driver (uvcvideo)",
	  OPTION_CHOICE(struct options, camera, ways) },
	{ "device", "PATH", "the camera (/dev/video0, or the driver's /dev/ds325-0)", TEXT(device) },
	{ "poses", "FIFO", "each pose as a record (poses.h), for a controller", TEXT(poses) },
	{ "state", "FILE", "what a restart keeps; without it a restart keeps nothing", TEXT(state) },
	{ "frame", "FILE", "where TAKE_FRAME puts the frame: raw, or the driver's ranges", TEXT(frame) },
	{ "log", "FILE", "what SEND_FILE LOG sends down: a file of another program's", TEXT(log) },
	{ "start", "MODE", "without a state (standby)", OPTION_CHOICE(struct options, start, modes) },
	{ "watchdog", "PATH", "/dev/watchdog, fed while every thread reports", TEXT(watchdog) },
	{ "watchdog-s", "N", "until it resets the board (10)", WHOLE(watchdog_s, 1, 3600) },
	{ "no-realtime", NULL, "without SCHED_FIFO and locked memory", OPTION_FLAG(struct options, no_realtime) },
	{ 0 }
};

const struct program program = {
	.name = "ds325-flight",
	.synopsis = "ds325-flight [--KEY=VALUE]...\n",
	.tables = { links, running },
};

void read_options(struct options *options, int argc, char **argv)
{
	struct in_addr address;

	*options = (struct options){ .address = "127.0.0.1",
				     .port = 10025,
				     .baud = 115200,
				     .watchdog_s = 10,
				     .start = TARGET_STANDBY,
				     .counter = -1 };
	command_line_read(argc, argv, options);
	if (inet_pton(AF_INET, options->address, &address) != 1)
		die(BAD_INPUT, "--address=%s is no IPv4 address", options->address);
	if (options->counter >= 0 && !options->state)
		die(BAD_INPUT, "--counter is kept beside the state: --state is needed");
	if (!options->port && !options->serial)
		die(BAD_INPUT, "no link: --port or --serial is needed");
}

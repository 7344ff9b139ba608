// SPDX-License-Identifier: MIT
/*
 * The flight program's decisions without its threads: telecommands as lines of hex in, reports as lines of hex out, then
 * a dot. "mode N" begins anew in that mode, "at NS" sets the time, "camera N" tells what the camera does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flight/program/flight.h"

static void print_packet(void *world, const uint8_t *packet, size_t octets)
{
	(void)world;
	for (size_t one = 0; one < octets; one++)
		printf("%02x", packet[one]);
	putchar('\n');
}

static void order(void *world, const struct orders *orders)
{
	(void)world;
	(void)orders;
}

static void look(void *world, struct seen *seen)
{
	(void)world;
	(void)seen;
}

static void keep(void *world, const struct kept *kept)
{
	(void)world;
	(void)kept;
}

static void restart(void *world)
{
	(void)world;
}

static void load(void *world, uint32_t file)
{
	(void)world;
	(void)file;
}

int main(void)
{
	static const struct outside outside = {
		.send = print_packet, .order = order, .look = look, .keep = keep, .restart = restart, .load = load
	};
	static struct flight flight;
	static char line[4096];
	static uint8_t packet[2048];
	unsigned long long at_ns = 1000000000000;
	struct told told = { .word = WORD_CAMERA };
	int mode = MODE_STANDBY;

	flight_start(&flight, &outside, NULL, CAUSE_COLD, MODE_STANDBY, at_ns, at_ns);
	puts(".");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned int octet;
		size_t octets = 0;

		if (sscanf(line, "mode %d", &mode) == 1) {
			flight_start(&flight, &outside, NULL, CAUSE_COLD, mode, at_ns, at_ns);
		} else if (sscanf(line, "camera %u", &told.value) == 1) {
			flight_told(&flight, &told);
		} else if (sscanf(line, "at %llu", &at_ns) == 1) {
			flight_now(&flight, at_ns, at_ns);
			flight_due(&flight);
		} else {
			while (octets < sizeof(packet) && sscanf(line + 2 * octets, "%2x", &octet) == 1)
				packet[octets++] = (uint8_t)octet;
			flight_telecommand(&flight, packet, octets);
		}
		puts(".");
		fflush(stdout);
	}
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * flight_way FOLDER: the flight program's way by the camera's driver, on a ring in memory that this program writes as the
 * driver does, step by step; the modules' parameters are files in FOLDER. Ends with 1 at the first thing that is wrong.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ds325/ring.h"
#include "flight/program/way.h"
#include "flight/program/world.h"

enum { SLOTS = 4 };
#define MS 1000000ull
#define REQUIRE(condition)                                                      \
	do {                                                                    \
		if (!(condition)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			exit(1);                                                \
		}                                                               \
	} while (0)

static uint64_t clock_ns;
static const char *folder;
static const struct way *const way = &way_driver;
static uint16_t ranges[DS325_PIXELS];
static const struct ds325_planes planes = { .ranges = ranges };

uint64_t now_ns(void)
{
	return clock_ns;
}

/* In place of libc's: the modules' parameters lie elsewhere. */
int open(const char *path, int flags, ...)
{
	char here[512];

	if (!strncmp(path, "/sys/module/", 12))
		snprintf(here, sizeof(here), "%s/%s", folder, strrchr(path, '/') + 1);
	else
		snprintf(here, sizeof(here), "%s", path);
	return openat(AT_FDCWD, here, flags & ~O_CREAT);
}

static void put(const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	REQUIRE(file && fputs(text, file) >= 0 && !fclose(file));
}

static bool holds(const char *name, const char *text)
{
	char path[512], held[64] = { 0 };
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "r");
	REQUIRE(file);
	REQUIRE(fread(held, 1, sizeof(held) - 1, file) > 0 && !fclose(file));
	return !strncmp(held, text, strlen(text));
}

static void publish(struct ds325_ring_header *header, uint32_t sequence)
{
	struct ds325_ring_slot *slot = ds325_ring_begin(header);
	uint16_t *to = ds325_ring_ranges(header, slot);

	for (size_t at = 0; at < DS325_PIXELS; at++)
		to[at] = (uint16_t)(sequence * 7 + at);
	slot->sequence = sequence;
	slot->frame_end_ns = 1000 + sequence;
	ds325_ring_publish(header, slot);
}

static bool right(uint32_t sequence)
{
	for (size_t at = 0; at < DS325_PIXELS; at++)
		if (ranges[at] != (uint16_t)(sequence * 7 + at))
			return false;
	return true;
}

static void frame(uint32_t sequence, uint64_t lost)
{
	struct picture picture;
	uint64_t counted;
	uint32_t refused;

	REQUIRE(way->next(0, &picture) == DS325_FRAME);
	REQUIRE(way->decode(&picture, &planes) && way->release());
	REQUIRE(right(sequence) && picture.bytes == ranges && picture.octets == sizeof(ranges));
	REQUIRE(picture.ended_ns == 1000 + sequence && picture.time_ns == picture.ended_ns);
	way->count(&counted, &refused);
	REQUIRE(counted == lost);
}

static struct ds325_ring_header *ring_in(const char *path, enum ds325_ring_format format)
{
	const size_t bytes = ds325_ring_bytes(SLOTS);
	int fd = openat(AT_FDCWD, path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	struct ds325_ring_header *header;

	REQUIRE(fd >= 0 && !ftruncate(fd, (off_t)bytes));
	header = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	REQUIRE(header != MAP_FAILED);
	close(fd);
	ds325_ring_make(header, SLOTS, format);
	return header;
}

static void parameters(const char *node)
{
	int32_t parameter[PARAMETER_COUNT] = { [PARAMETER_CONFIDENCE] = 20, [PARAMETER_OFFSET_UM] = -5 };

	way->ready(node);
	REQUIRE(way->calibrate(parameter)); /* kept until there is a driver */
	REQUIRE(!way->open(60, -1)); /* no modules */
	put("calibration", "20 -5 0 0\n"); /* so already: not written */
	put("rate", "60\n");
	REQUIRE(!way->open(60, -1)); /* one is missing */
	put("exposure", "-1\n");
	REQUIRE(!way->open(60, -1)); /* no node */
	ring_in(node, DS325_RING_DEPTH_U16);
	REQUIRE(!way->open(60, -1)); /* depths along the axis */
	REQUIRE(holds("calibration", "20 -5 0 0\n"));
	ring_in(node, DS325_RING_RANGE_U16);
	REQUIRE(way->open(30, 250) && holds("rate", "30") && holds("exposure", "250"));
	parameter[PARAMETER_DRIFT_UM_PER_K] = -77;
	REQUIRE(way->calibrate(parameter) && holds("calibration", "20 -5 -77 0"));
	way->close();
}

/* What comes of a camera that is not there yet, comes, goes and comes again. */
static void comings(struct ds325_ring_header *header)
{
	struct picture picture;

	REQUIRE(way->open(60, -1));
	REQUIRE(way->next(0, &picture) == DS325_TIMEOUT); /* it may be about to begin */
	clock_ns += 101 * MS;
	REQUIRE(way->next(0, &picture) == DS325_GONE);
	REQUIRE(way->next(0, &picture) == DS325_TIMEOUT);
	header->connections = 1;
	header->state = DS325_RING_STREAMING;
	REQUIRE(way->next(0, &picture) == DS325_BACK);
	REQUIRE(way->next(0, &picture) == DS325_TIMEOUT);
	publish(header, 0);
	frame(0, 0);
	publish(header, 1); /* and it goes before anybody looks */
	header->state = DS325_RING_NO_CAMERA;
	REQUIRE(way->next(0, &picture) == DS325_GONE);
	REQUIRE(way->next(0, &picture) == DS325_TIMEOUT);
	header->connections = 2;
	header->state = DS325_RING_STREAMING;
	REQUIRE(way->next(0, &picture) == DS325_BACK);
	REQUIRE(way->next(0, &picture) == DS325_TIMEOUT);
	publish(header, 2);
	frame(2, 1);
	header->connections = 3; /* so quickly that nobody saw it away */
	REQUIRE(way->next(0, &picture) == DS325_GONE && way->next(0, &picture) == DS325_BACK);
	way->close();
	REQUIRE(way->open(60, -1)); /* and with a camera there, at once */
	REQUIRE(way->next(0, &picture) == DS325_TIMEOUT);
	publish(header, 9);
	frame(9, 0);
	way->close();
}

static void losses(struct ds325_ring_header *header)
{
	struct picture picture;
	uint64_t lost;
	uint32_t refused;

	header->refused = 5;
	REQUIRE(way->open(60, -1));
	header->refused = 6; /* the frame that the last closing cut: none of ours */
	publish(header, 20);
	frame(20, 0);
	header->refused = 8;
	publish(header, 23);
	frame(23, 2);
	way->count(&lost, &refused);
	REQUIRE(lost == 2 && refused == 2);
	publish(header, 23); /* which no driver of ours does: no four thousand million are lost */
	frame(23, 2);
	publish(header, 24);
	REQUIRE(way->next(0, &picture) == DS325_FRAME);
	for (uint32_t sequence = 25; sequence < 25 + SLOTS; sequence++)
		publish(header, sequence); /* over it, while it is read */
	REQUIRE(!way->decode(&picture, &planes));
	frame(26, 4); /* 24 was thrown away; the slot of 25 is the next to be written */
	frame(27, 4);
	frame(28, 4);
	REQUIRE(way->next(0, &picture) == DS325_TIMEOUT);
	way->close();
}

int main(int argc, char **argv)
{
	struct ds325_ring_header *header;
	char node[256];

	REQUIRE(argc == 2);
	folder = argv[1];
	clock_ns = 1000 * MS;
	snprintf(node, sizeof(node), "%s/node", folder);
	parameters(node);
	header = ring_in(node, DS325_RING_RANGE_U16);
	comings(header);
	losses(header);
	return 0;
}

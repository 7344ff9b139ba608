// SPDX-License-Identifier: MIT
/*
 * A reader of a node for tests: ds325_ring NODE FRAMES poll|read|eventfd|newest. Prints for each frame "frame NUMBER
 * SEQUENCE LOST_BEFORE CONNECTION END_NS PUBLISHED_NS CRC32", where the CRC is of all ranges but the last 8 (there lies
 * the emulator's stamp), and at the end what the header counts. First it tries what must not be allowed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ds325/ring.h"

enum { TIMEOUT_MS = 5000 };

static void fail(const char *what)
{
	fprintf(stderr, "ds325_ring: %s: %s\n", what, errno ? strerror(errno) : "wrong");
	exit(3);
}

static uint32_t crc32(const void *data, size_t size)
{
	static uint32_t table[256];
	const uint8_t *bytes = data;
	uint32_t crc = ~0u;

	for (uint32_t byte = 0; !table[255] && byte < 256; byte++) {
		uint32_t entry = byte;

		for (int bit = 0; bit < 8; bit++)
			entry = entry >> 1 ^ (0xedb88320u & -(entry & 1));
		table[byte] = entry;
	}
	while (size--)
		crc = crc >> 8 ^ table[(crc ^ *bytes++) & 255];
	return ~crc;
}

/* The ring must not be writable or mapped beyond its end, and only an eventfd must be accepted as an eventfd. */
static void try_the_forbidden(const char *node, size_t bytes)
{
	int32_t none = 0;
	uint64_t half;
	int fd = open(node, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		fail(node);
	errno = 0;
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED || errno != EACCES)
		fail("mapping it for writing");
	if (mmap(NULL, bytes + 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED)
		fail("mapping more than there is");
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, (off_t)bytes) != MAP_FAILED)
		fail("mapping what lies behind it");
	if (read(fd, &half, 4) >= 0 || errno != EINVAL)
		fail("reading 4 bytes");
	if (!ioctl(fd, DS325_RING_EVENTFD, &none) || errno != EINVAL)
		fail("standard input as an eventfd");
	if (!ioctl(fd, _IO('D', 0x7f)) || errno != ENOTTY)
		fail("an ioctl that is none");
	if (write(fd, &half, 8) >= 0)
		fail("writing to it");
	close(fd);
	errno = 0;
}

/* 1, or 0 if no frame came in time. */
static int wait_for_frame(int fd, int event, const char *way)
{
	struct pollfd wait = { .fd = event >= 0 ? event : fd, .events = POLLIN };
	uint64_t count;
	int ready = 1;

	if (strcmp(way, "read"))
		ready = poll(&wait, 1, TIMEOUT_MS);
	if (ready < 0)
		fail("poll");
	if (ready && read(event >= 0 ? event : fd, &count, 8) != 8)
		fail("read");
	return ready;
}

int main(int argc, char **argv)
{
	static uint16_t ranges[DS325_PIXELS - DS325_BLOCK];
	struct ds325_ring_frame frame;
	struct ds325_ring ring;
	const char *wrong;
	int32_t event = -1;
	long count;
	int fd;

	if (argc != 4)
		fail("usage: ds325_ring NODE FRAMES poll|read|eventfd|newest");
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		fail(argv[1]);
	errno = 0;
	wrong = ds325_ring_map(&ring, fd);
	if (wrong)
		fail(wrong);
	try_the_forbidden(argv[1], ring.bytes);
	if (mprotect((void *)ring.header, ring.bytes, PROT_READ | PROT_WRITE) != -1)
		fail("making the mapping writable");
	if (!strcmp(argv[3], "eventfd")) {
		event = eventfd(0, EFD_CLOEXEC);
		if (event < 0 || ioctl(fd, DS325_RING_EVENTFD, &event))
			fail("eventfd");
	}
	for (count = strtol(argv[2], NULL, 10); count;) {
		if (!ds325_ring_take(&ring, strcmp(argv[3], "newest") ? DS325_RING_NEXT : DS325_RING_NEWEST, &frame)) {
			if (!wait_for_frame(fd, event, argv[3]))
				break;
			continue;
		}
		/* A copy, so that a reader that is slower than the camera still gets some frames. */
		memcpy(ranges, frame.ranges, sizeof(ranges));
		if (!ds325_ring_kept(&ring, &frame))
			continue;
		printf("frame %" PRIu64 " %u %u %u %" PRIu64 " %" PRIu64 " %08x\n", frame.number, frame.sequence,
		       frame.lost_before, frame.connection, frame.frame_end_ns, frame.published_ns,
		       crc32(ranges, sizeof(ranges)));
		count--;
	}
	printf("header %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %u missed %" PRIu64 " left %ld\n", ring.header->published,
	       ring.header->lost, ring.header->refused, ring.header->state, ring.header->connections, ring.missed,
	       count);
	ds325_ring_unmap(&ring);
	return 0;
}

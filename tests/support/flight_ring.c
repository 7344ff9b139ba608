// SPDX-License-Identifier: MIT
/* flight_ring map FILE | stress FRAMES SLOTS READERS | slow
 *
 * map: is FILE a ring? stress: one writer at full speed, readers of both orders, every frame that a reader keeps must be
 * whole and right and none may be counted twice. slow: what a reader of another speed gets, step by step.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "ds325/ring.h"

#define REQUIRE(condition)                                                      \
	do {                                                                    \
		if (!(condition)) {                                             \
			fprintf(stderr, "line %d: %s\n", __LINE__, #condition); \
			exit(1);                                                \
		}                                                               \
	} while (0)

struct shared {
	int fd;
	struct ds325_ring_header *header;
	uint64_t frames;
	bool done;
};

struct reader {
	pthread_t thread;
	struct shared *shared;
	enum ds325_ring_order order;
	uint64_t kept, torn, missed;
};

static void make(struct shared *shared, uint32_t slots)
{
	size_t bytes = ds325_ring_bytes(slots);

	shared->fd = memfd_create("ring", MFD_CLOEXEC);
	REQUIRE(shared->fd >= 0 && !ftruncate(shared->fd, (off_t)bytes));
	shared->header = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, shared->fd, 0);
	REQUIRE(shared->header != MAP_FAILED);
	ds325_ring_make(shared->header, slots, DS325_RING_RANGE_U16);
	shared->header->connections = 1;
	shared->header->state = DS325_RING_STREAMING;
}

/* Read while it is written, on purpose: the slot's lock tells afterwards whether it was. */
static __attribute__((no_sanitize("thread"))) void fill(struct ds325_ring_header *header, struct ds325_ring_slot *slot,
							uint64_t number)
{
	uint16_t *ranges = ds325_ring_ranges(header, slot);

	slot->frame_end_ns = number * 1000;
	slot->published_ns = number * 1000 + 1;
	slot->sequence = (uint32_t)number;
	for (size_t at = 0; at < DS325_PIXELS; at++)
		ranges[at] = (uint16_t)(number * 7 + at);
}

static __attribute__((no_sanitize("thread"))) bool right(const struct ds325_ring_frame *frame)
{
	for (size_t at = 0; at < DS325_PIXELS; at++)
		if (frame->ranges[at] != (uint16_t)(frame->number * 7 + at))
			return false;
	return frame->frame_end_ns == frame->number * 1000 && frame->sequence == (uint32_t)frame->number;
}

/* Its own time is known to no sanitizer: publishing sets the fields that a late reader may still look at. */
static __attribute__((no_sanitize("thread"))) void publish(struct ds325_ring_header *header)
{
	struct ds325_ring_slot *slot = ds325_ring_begin(header);

	fill(header, slot, header->published);
	ds325_ring_publish(header, slot);
}

static void *write_frames(void *argument)
{
	struct shared *shared = argument;

	for (uint64_t frame = 0; frame < shared->frames; frame++) {
		publish(shared->header);
		if (frame % 4 == 0)
			sched_yield(); /* on few processors readers would see but every hundredth frame */
	}
	__atomic_store_n(&shared->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void *read_frames(void *argument)
{
	struct reader *reader = argument;
	struct ds325_ring ring;
	struct ds325_ring_frame frame;
	uint64_t last = 0, started, between = 0;
	const char *wrong = ds325_ring_map(&ring, reader->shared->fd);
	bool done;

	REQUIRE(!wrong);
	started = ring.next;
	do {
		done = __atomic_load_n(&reader->shared->done, __ATOMIC_ACQUIRE);
		while (ds325_ring_take(&ring, reader->order, &frame)) {
			bool good = right(&frame);

			REQUIRE(!reader->kept || frame.number > last);
			last = frame.number;
			between += frame.missed;
			if (ds325_ring_kept(&ring, &frame)) {
				REQUIRE(good);
				reader->kept++;
			} else {
				reader->torn++;
			}
		}
		sched_yield();
	} while (!done);
	reader->missed = ring.missed;
	REQUIRE(reader->kept + reader->missed == reader->shared->frames - started);
	REQUIRE(between + reader->torn <= reader->missed);
	ds325_ring_unmap(&ring);
	return NULL;
}

static void stress(uint64_t frames, uint32_t slots, unsigned int readers)
{
	struct shared shared = { .frames = frames };
	struct reader *reader = calloc(readers, sizeof(*reader));
	pthread_t writer;

	REQUIRE(reader);
	make(&shared, slots);
	for (unsigned int one = 0; one < readers; one++) {
		reader[one].shared = &shared;
		reader[one].order = one % 2 ? DS325_RING_NEWEST : DS325_RING_NEXT;
		REQUIRE(!pthread_create(&reader[one].thread, NULL, read_frames, &reader[one]));
	}
	REQUIRE(!pthread_create(&writer, NULL, write_frames, &shared));
	pthread_join(writer, NULL);
	for (unsigned int one = 0; one < readers; one++) {
		pthread_join(reader[one].thread, NULL);
		printf("order=%d kept=%" PRIu64 " torn=%" PRIu64 " missed=%" PRIu64 "\n", reader[one].order,
		       reader[one].kept, reader[one].torn, reader[one].missed);
	}
	free(reader);
	munmap(shared.header, ds325_ring_bytes(slots));
	close(shared.fd);
}

static void publish_many(struct ds325_ring_header *header, int count)
{
	while (count--)
		publish(header);
}

static void slow(void)
{
	struct shared shared;
	struct ds325_ring ring;
	struct ds325_ring_frame frame;
	struct ds325_ring_slot *slot;
	const char *wrong;

	make(&shared, 4);
	publish_many(shared.header, 2);
	wrong = ds325_ring_map(&ring, shared.fd);
	REQUIRE(!wrong);
	REQUIRE(!ds325_ring_take(&ring, DS325_RING_NEXT, &frame)); /* what came before it looked is none of its */
	publish_many(shared.header, 1);
	REQUIRE(ds325_ring_take(&ring, DS325_RING_NEXT, &frame) && frame.number == 2 && !frame.missed && right(&frame));
	REQUIRE(ds325_ring_kept(&ring, &frame));
	publish_many(shared.header, 3);
	REQUIRE(ds325_ring_kept(&ring, &frame)); /* frame 6 will be the one over it */
	slot = ds325_ring_begin(shared.header);
	REQUIRE(!ds325_ring_kept(&ring, &frame) && ring.missed == 1);
	REQUIRE(ds325_ring_take(&ring, DS325_RING_NEXT, &frame) && frame.number == 3 && !frame.missed);
	ds325_ring_begin(shared.header); /* frame 6 came damaged, and once more */
	fill(shared.header, slot, 6);
	ds325_ring_publish(shared.header, slot);
	publish_many(shared.header, 4); /* 6 to 10 are published; 7 will be written over next */
	REQUIRE(ds325_ring_take(&ring, DS325_RING_NEXT, &frame) && frame.number == 8 && frame.missed == 4);
	REQUIRE(ring.missed == 5);
	REQUIRE(ds325_ring_take(&ring, DS325_RING_NEWEST, &frame) && frame.number == 10 && frame.missed == 1);
	REQUIRE(!ds325_ring_take(&ring, DS325_RING_NEWEST, &frame));
	ds325_ring_unmap(&ring);
	munmap(shared.header, ds325_ring_bytes(4));
	close(shared.fd);
	puts("as it should be");
}

static int map(const char *path)
{
	struct ds325_ring ring;
	struct ds325_ring_frame frame;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *wrong = fd < 0 ? strerror(errno) : ds325_ring_map(&ring, fd);

	if (wrong) {
		fprintf(stderr, "%s\n", wrong);
		return 3;
	}
	ring.next = 0;
	for (int one = 0; one < 2000 && ds325_ring_take(&ring, DS325_RING_NEXT, &frame); one++)
		printf("frame %" PRIu64 " of range %u\n", frame.number, frame.ranges[DS325_PIXELS - 1]);
	ds325_ring_unmap(&ring);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "map"))
		return map(argv[2]);
	if (argc == 5 && !strcmp(argv[1], "stress"))
		stress(strtoull(argv[2], NULL, 10), (uint32_t)strtoul(argv[3], NULL, 10),
		       (unsigned int)strtoul(argv[4], NULL, 10));
	else if (argc == 2 && !strcmp(argv[1], "slow"))
		slow();
	else
		return 2;
	return 0;
}

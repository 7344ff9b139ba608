// SPDX-License-Identifier: MIT
/* The reader's side of ring.h. The header, which another process wrote, is copied and checked once. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ring.h"

static const char *complaint(const struct ds325_ring_header *header)
{
	if (__atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) != DS325_RING_MAGIC)
		return "it is no ring of DS325 frames";
	if (header->version != DS325_RING_VERSION)
		return "its version is another than this program's";
	if (header->width != DS325_WIDTH || header->height != DS325_HEIGHT)
		return "its frames are not 320 x 240";
	if (header->format != DS325_RING_RANGE_U16 && header->format != DS325_RING_DEPTH_U16)
		return "its format is none that this program knows";
	if (header->slots < 2 || header->slots > DS325_RING_SLOTS_MOST || header->slots & (header->slots - 1))
		return "its number of slots is no power of two from 2 to 1024";
	if (header->header_bytes != DS325_RING_PAGE || header->data_offset != DS325_RING_DATA ||
	    header->slot_bytes != ds325_ring_slot_bytes())
		return "its layout is not that of its version";
	return NULL;
}

/* Reading memory that is shorter than the ring it claims to hold would end in a bus error. A device has no size. */
static bool holds(int fd, size_t bytes)
{
	struct stat stat;

	return !fstat(fd, &stat) && (!S_ISREG(stat.st_mode) || (uint64_t)stat.st_size >= bytes);
}

const char *ds325_ring_map(struct ds325_ring *ring, int fd)
{
	const struct ds325_ring_header *header;
	const char *wrong;

	*ring = (struct ds325_ring){ .fd = fd };
	if (!holds(fd, DS325_RING_PAGE))
		return "it is too short for a ring";
	header = mmap(NULL, DS325_RING_PAGE, PROT_READ, MAP_SHARED, fd, 0);
	if (header == MAP_FAILED)
		return "it cannot be mapped";
	wrong = complaint(header);
	ring->bytes = wrong ? 0 : ds325_ring_bytes(header->slots);
	munmap((void *)header, DS325_RING_PAGE);
	if (wrong)
		return wrong;
	if (!holds(fd, ring->bytes))
		return "it is shorter than its slots";
	header = mmap(NULL, ring->bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (header == MAP_FAILED)
		return "its slots cannot be mapped";
	ring->header = header;
	wrong = complaint(header);
	if (!wrong && ds325_ring_bytes(header->slots) != ring->bytes)
		wrong = "it changed while it was looked at";
	if (wrong)
		ds325_ring_unmap(ring);
	else
		ring->next = __atomic_load_n(&header->published, __ATOMIC_ACQUIRE);
	return wrong;
}

void ds325_ring_unmap(struct ds325_ring *ring)
{
	if (ring->header)
		munmap((void *)ring->header, ring->bytes);
	ring->header = NULL;
}

/*
 * A slot's fields may change under the reader; ds325_ring_take() notices by the lock and reads again. ThreadSanitizer
 * does not know such locks.
 */
static __attribute__((no_sanitize("thread"))) void
look(const struct ds325_ring_header *header, const struct ds325_ring_slot *slot, struct ds325_ring_frame *frame)
{
	frame->ranges = ds325_ring_ranges(header, slot);
	frame->frame_end_ns = slot->frame_end_ns;
	frame->published_ns = slot->published_ns;
	frame->sequence = slot->sequence;
	frame->lost_before = slot->lost_before;
	frame->connection = slot->connection;
}

static bool holds_still(const struct ds325_ring_slot *slot, uint64_t number)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE); /* all earlier reads are done before the lock is read */
	return __atomic_load_n(&slot->lock, __ATOMIC_RELAXED) == 2 * number + 2;
}

bool ds325_ring_take(struct ds325_ring *ring, enum ds325_ring_order order, struct ds325_ring_frame *frame)
{
	const struct ds325_ring_header *header = ring->header;
	uint64_t missed = 0;

	for (;;) {
		uint64_t published = __atomic_load_n(&header->published, __ATOMIC_ACQUIRE);
		const struct ds325_ring_slot *slot;
		uint64_t number = ring->next;

		if (number >= published) {
			if (number > published) /* the ring was made anew */
				ring->next = published;
			ring->missed += missed;
			return false;
		}
		if (order == DS325_RING_NEWEST)
			number = published - 1;
		else if (published - number >= header->slots) /* the oldest frame's slot is the next to be written */
			number = published - header->slots + 1;
		missed += number - ring->next;
		ring->next = number + 1;
		slot = ds325_ring_slot(header, number);
		if (__atomic_load_n(&slot->lock, __ATOMIC_ACQUIRE) == 2 * number + 2) {
			look(header, slot, frame);
			if (holds_still(slot, number)) {
				frame->number = number;
				frame->missed = missed;
				ring->missed += missed;
				return true;
			}
		}
		missed++;
	}
}

bool ds325_ring_kept(struct ds325_ring *ring, const struct ds325_ring_frame *frame)
{
	bool kept = holds_still(ds325_ring_slot(ring->header, frame->number), frame->number);

	ring->missed += !kept;
	return kept;
}

int ds325_ring_wait(struct ds325_ring *ring, int timeout_ms)
{
	struct pollfd poll_of = { .fd = ring->fd, .events = POLLIN };
	uint64_t published;
	int ready = poll(&poll_of, 1, timeout_ms);

	if (ready <= 0)
		return ready;
	if (read(ring->fd, &published, sizeof(published)) < 0 && errno != EAGAIN)
		return -1;
	return 1;
}

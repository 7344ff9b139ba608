/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* A ring of decoded frames in memory that one writer (a kernel module) and any number of readers share. This is the
 * ABI: the layout, who writes what in which order, and what waiting means. docs/docking/lidar.md explains it.
 *
 * The mapping is one header page and `slots` slots. Frame number n (0, 1, 2 ... as published) lies in slot n % slots
 * until frame n + slots is written over it. The writer never waits: it knows of no reader. A reader that is too slow
 * finds another frame's number in the slot, and counts what it missed.
 *
 * Each slot has a lock of its own, as a seqlock has: 2n + 1 while frame n is written, 2n + 2 when it is whole. A reader
 * looks at the lock before and after it uses the ranges; if it changed, what was read must be thrown away.
 *
 * Waiting, on a device node: poll() reports POLLIN when frames were published since the last read() of this open file;
 * read() of 8 bytes gives header.published and blocks until it has grown (EAGAIN with O_NONBLOCK). The first read() of
 * a file counts from 0. ioctl DS325_RING_EVENTFD hands over an eventfd, which gets 1 a frame; -1 takes it back. Readers
 * do not affect each other.
 */
#ifndef DS325_RING_H
#define DS325_RING_H

#ifdef __KERNEL__
#include <linux/ioctl.h>
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#endif

#include "format.h"

#define DS325_RING_MAGIC 0x474e523532335344ull /* "DS325RNG" in memory */
#define DS325_RING_VERSION 1
#define DS325_RING_PAGE 4096u
#define DS325_RING_SLOTS_MOST 1024u
#define DS325_RING_DATA 64u /* where in a slot its ranges begin */

#define DS325_RING_EVENTFD _IOW('D', 0x01, int32_t)

enum ds325_ring_format {
	DS325_RING_RANGE_U16 = 1, /* mm along the ray; 0 not valid, 32002 saturated */
	DS325_RING_DEPTH_U16 = 2, /* the same along the optical axis */
};

enum ds325_ring_state {
	DS325_RING_NO_CAMERA = 0,
	DS325_RING_STREAMING = 1,
};

struct ds325_ring_header {
	/* Written before the header is shared, never after. */
	uint64_t magic;
	uint32_t version;
	uint32_t header_bytes; /* slot 0 begins here */
	uint32_t slots;
	uint32_t slot_bytes; /* from one slot to the next */
	uint32_t data_offset; /* in a slot */
	uint32_t format; /* enum ds325_ring_format */
	uint32_t width, height;
	uint64_t reserved[11];

	/* Written by the writer while readers look; a cache line of its own. */
	uint64_t published; /* frames since the ring was made; the newest has number published - 1 */
	uint64_t lost; /* frames that the camera or the bus did not deliver, as far as the writer can tell */
	uint64_t refused; /* frames that came short, long or marked as damaged */
	uint32_t state; /* enum ds325_ring_state */
	uint32_t connections; /* how often a camera was there: 1 for the first */
	uint64_t reserved_too[4];
};

struct ds325_ring_slot {
	uint64_t lock;
	uint64_t number;
	uint64_t frame_end_ns; /* CLOCK_MONOTONIC: when the last of the frame's bytes had come */
	uint64_t published_ns; /* when its ranges were whole */
	uint32_t sequence; /* the writer's count of frames begun on the bus: a gap is a loss */
	uint32_t lost_before; /* between the frame published before and this */
	uint32_t connection; /* header.connections when it came */
	uint32_t reserved[5];
};

/* No padding, whoever compiles it. */
typedef char ds325_ring_header_is_192_bytes[sizeof(struct ds325_ring_header) == 192 ? 1 : -1];
typedef char ds325_ring_slot_is_64_bytes[sizeof(struct ds325_ring_slot) == DS325_RING_DATA ? 1 : -1];

static inline uint32_t ds325_ring_slot_bytes(void)
{
	return (DS325_RING_DATA + DS325_PIXELS * 2 + DS325_RING_PAGE - 1) / DS325_RING_PAGE * DS325_RING_PAGE;
}

static inline size_t ds325_ring_bytes(uint32_t slots)
{
	return DS325_RING_PAGE + (size_t)slots * ds325_ring_slot_bytes();
}

static inline struct ds325_ring_slot *ds325_ring_slot(const struct ds325_ring_header *header, uint64_t number)
{
	/* `slots` is a power of two, so that 32-bit kernels need no 64-bit division. */
	size_t index = (size_t)(number & (header->slots - 1));

	return (struct ds325_ring_slot *)((uintptr_t)header + header->header_bytes + index * header->slot_bytes);
}

static inline uint16_t *ds325_ring_ranges(const struct ds325_ring_header *header, const struct ds325_ring_slot *slot)
{
	return (uint16_t *)((uintptr_t)slot + header->data_offset);
}

/* --- the writer ------------------------------------------------------------------------------------- */

/* Into zeroed memory of ds325_ring_bytes(slots), page-aligned; `slots` a power of two from 2 to DS325_RING_SLOTS_MOST. */
static inline void ds325_ring_make(struct ds325_ring_header *header, uint32_t slots, enum ds325_ring_format format)
{
	header->version = DS325_RING_VERSION;
	header->header_bytes = DS325_RING_PAGE;
	header->slots = slots;
	header->slot_bytes = ds325_ring_slot_bytes();
	header->data_offset = DS325_RING_DATA;
	header->format = (uint32_t)format;
	header->width = DS325_WIDTH;
	header->height = DS325_HEIGHT;
	__atomic_store_n(&header->magic, DS325_RING_MAGIC, __ATOMIC_RELEASE);
}

/*
 * Locks the slot of the next frame against readers; its ranges may be written until ds325_ring_publish(). A frame that
 * turns out bad is not published: the next frame takes the same slot. The slot's old frame is lost to slow readers.
 */
static inline struct ds325_ring_slot *ds325_ring_begin(struct ds325_ring_header *header)
{
	uint64_t number = header->published;
	struct ds325_ring_slot *slot = ds325_ring_slot(header, number);

	__atomic_store_n(&slot->lock, 2 * number + 1, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE); /* the odd lock is seen before any byte of the new frame */
	return slot;
}

/* Afterwards the writer has to wake those that wait by poll(), read() or eventfd. */
static inline void ds325_ring_publish(struct ds325_ring_header *header, struct ds325_ring_slot *slot)
{
	uint64_t number = header->published;

	slot->number = number;
	slot->connection = header->connections;
	__atomic_store_n(&slot->lock, 2 * number + 2, __ATOMIC_RELEASE);
	__atomic_store_n(&header->published, number + 1, __ATOMIC_RELEASE);
}

/* --- readers, in user space: ring.c --------------------------------------------------------------------- */

#ifndef __KERNEL__
struct ds325_ring {
	const struct ds325_ring_header *header;
	size_t bytes;
	int fd; /* of the node or the memory; the caller's */
	uint64_t next; /* number of the frame to be read next */
	uint64_t missed; /* overrun: frames published but written over before this reader came */
};

/* A frame, not copied. Its ranges are good only if ds325_ring_kept() is true after they were used. */
struct ds325_ring_frame {
	const uint16_t *ranges;
	uint64_t number, frame_end_ns, published_ns;
	uint64_t missed; /* by this reader, right before */
	uint32_t sequence, lost_before, connection;
};

enum ds325_ring_order {
	DS325_RING_NEXT, /* every frame that has not been written over */
	DS325_RING_NEWEST, /* the last frame published, as a control loop wants; older frames count as missed */
};

/* Map the ring behind a descriptor; NULL, or what is wrong with it. Reading starts with the next frame published. */
const char *ds325_ring_map(struct ds325_ring *ring, int fd);
void ds325_ring_unmap(struct ds325_ring *ring);
/* True with a frame, false if there is none yet. Neither blocks nor calls the kernel. */
bool ds325_ring_take(struct ds325_ring *ring, enum ds325_ring_order order, struct ds325_ring_frame *frame);
/* Is the frame unchanged since it was taken? If not, it is counted as missed. */
bool ds325_ring_kept(struct ds325_ring *ring, const struct ds325_ring_frame *frame);
/* Wait on the node until there may be a frame: 1, 0 after `timeout_ms`, -1 with errno. */
int ds325_ring_wait(struct ds325_ring *ring, int timeout_ms);
#endif

#endif

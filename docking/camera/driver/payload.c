// SPDX-License-Identifier: GPL-2.0
#ifndef __KERNEL__
#include <string.h>
#endif

#include "payload.h"

enum { FRAME_ID = 0x01, END_OF_FRAME = 0x02, ERROR = 0x40, HEADER_LEAST = 2, HEADER_MOST = 12 };

/* Readers look at counters while they change; only one thread changes them. */
static void add(uint64_t *counter, uint32_t count)
{
	__atomic_store_n(counter, *counter + count, __ATOMIC_RELAXED);
}

/*
 * The camera does not number its frames, so n frames are missing after a silence of n and a half intervals or more. The
 * half forgives that much delay.
 */
static uint32_t missing(const struct ds325_payload *payload, uint64_t now_ns)
{
	uint64_t silence_ns = now_ns - payload->begun_ns;

	if (!payload->begun_ns || 2 * silence_ns < 3 * payload->interval_ns)
		return 0;
	return (uint32_t)ds325_divide((int64_t)(silence_ns + payload->interval_ns / 2), (int64_t)payload->interval_ns) -
	       1;
}

static void lose(struct ds325_payload *payload, uint32_t count)
{
	add(&payload->ring->lost, count);
	payload->next += count;
	payload->unpublished += count;
}

static void begin_frame(struct ds325_payload *payload, uint64_t now_ns)
{
	lose(payload, missing(payload, now_ns));
	payload->sequence = payload->next++;
	payload->begun_ns = now_ns;
	payload->frame_flags = payload->flags;
	payload->bytes = 0;
	payload->bad = false;
	payload->slot = ds325_ring_begin(payload->ring);
}

static unsigned int end_frame(struct ds325_payload *payload, uint64_t now_ns)
{
	struct ds325_ring_slot *slot = payload->slot;

	payload->slot = NULL;
	if (payload->bad || payload->bytes != DS325_FRAME_BYTES) {
		add(&payload->ring->refused, 1);
		payload->unpublished++;
		return 0;
	}
	slot->frame_end_ns = now_ns;
	slot->sequence = payload->sequence;
	slot->lost_before = payload->unpublished;
	slot->published_ns = payload->clock();
	payload->unpublished = 0;
	ds325_ring_publish(payload->ring, slot);
	return 1;
}

static void decode(struct ds325_payload *payload, const uint8_t *data, uint32_t blocks)
{
	size_t first = payload->bytes / DS325_BLOCK_BYTES;

	payload->blocks(payload->decoder, data, first, blocks,
			ds325_ring_ranges(payload->ring, payload->slot) + first * DS325_BLOCK);
	payload->bytes += blocks * DS325_BLOCK_BYTES;
}

/* A part of a frame. Whole blocks are decoded where they lie; a block that is cut in two is put together first. */
static void frame_bytes(struct ds325_payload *payload, const uint8_t *data, uint32_t length)
{
	uint32_t carried = payload->bytes % DS325_BLOCK_BYTES;

	if (payload->bad)
		return;
	if (length > DS325_FRAME_BYTES - payload->bytes) {
		payload->bad = true;
		return;
	}
	if (carried) {
		uint32_t rest = DS325_BLOCK_BYTES - carried < length ? DS325_BLOCK_BYTES - carried : length;

		memcpy(payload->carry + carried, data, rest);
		data += rest;
		length -= rest;
		if (carried + rest < DS325_BLOCK_BYTES) {
			payload->bytes += rest;
			return;
		}
		payload->bytes -= carried;
		decode(payload, payload->carry, 1);
	}
	decode(payload, data, length / DS325_BLOCK_BYTES);
	data += length / DS325_BLOCK_BYTES * DS325_BLOCK_BYTES;
	length %= DS325_BLOCK_BYTES;
	memcpy(payload->carry, data, length);
	payload->bytes += length;
}

/* Returns the header's length. If this is no header, the length of everything: then the whole payload is ignored. */
static uint32_t header(struct ds325_payload *payload, const uint8_t *data, uint32_t length, uint64_t now_ns)
{
	uint32_t size = data[0];

	payload->opened = false;
	payload->skip = length < HEADER_LEAST || size < HEADER_LEAST || size > HEADER_MOST || size > length;
	payload->flags = payload->skip ? 0 : data[1];
	if (payload->skip) {
		if (!payload->slot)
			begin_frame(payload, now_ns);
		payload->bad = true;
		return length;
	}
	return size;
}

/* Called at the first byte after a payload's header: does another frame begin? */
static void open_frame(struct ds325_payload *payload, uint64_t now_ns)
{
	payload->opened = true;
	if (payload->slot && (payload->flags ^ payload->frame_flags) & FRAME_ID) {
		payload->bad = true; /* its end never came */
		end_frame(payload, now_ns);
	}
	if (!payload->slot)
		begin_frame(payload, now_ns);
	if (payload->flags & ERROR)
		payload->bad = true;
}

static unsigned int end_payload(struct ds325_payload *payload, uint64_t now_ns)
{
	bool whole = payload->skip || payload->flags & END_OF_FRAME;

	payload->done = 0;
	payload->skip = false;
	return whole && payload->slot ? end_frame(payload, now_ns) : 0;
}

unsigned int ds325_payload_take(struct ds325_payload *payload, const uint8_t *data, uint32_t length, bool ends,
				uint64_t ended_ns)
{
	unsigned int published = 0;

	while (length) {
		uint32_t part;

		if (!payload->done) {
			part = header(payload, data, length, ended_ns);
			if (!payload->skip && payload->flags & ERROR)
				open_frame(payload, ended_ns);
		} else {
			part = payload->most - payload->done;
			part = part < length ? part : length;
			if (!payload->skip && !payload->opened)
				open_frame(payload, ended_ns);
			if (!payload->skip && payload->slot)
				frame_bytes(payload, data, part);
		}
		payload->done += part;
		data += part;
		length -= part;
		if (payload->done >= payload->most)
			published += end_payload(payload, ended_ns);
	}
	if (ends && payload->done)
		published += end_payload(payload, ended_ns);
	return published;
}

void ds325_payload_break(struct ds325_payload *payload, bool fault)
{
	if (payload->slot) {
		payload->bad = true;
		end_frame(payload, payload->begun_ns);
	} else if (fault) {
		lose(payload, 1);
	}
	payload->done = 0;
	payload->skip = false;
	payload->begun_ns = 0;
}

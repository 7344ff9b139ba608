/* SPDX-License-Identifier: GPL-2.0 */
/*
 * From the bytes of bulk transfers to frames in a ring, decoded as they arrive. Knows of neither USB nor threads, and
 * compiles in user space too, for tests. What a payload is: USB Device Class Definition for Video Devices 1.1, 2.4.3.
 */
#ifndef DS325_PAYLOAD_H
#define DS325_PAYLOAD_H

#include "ds325/decode.h"
#include "ds325/ring.h"

struct ds325_payload {
	/* Set by the caller. */
	struct ds325_ring_header *ring;
	const struct ds325_decoder *decoder;
	ds325_blocks *blocks; /* the decoder */
	uint64_t (*clock)(void); /* CLOCK_MONOTONIC, ns */
	uint64_t interval_ns; /* between frames as negotiated; a longer silence is a loss */
	uint32_t most; /* bytes of a payload including its header */

	/* The payload. */
	uint32_t done; /* bytes so far; 0: its header comes next */
	bool skip; /* its header made no sense, so the rest is ignored */
	bool opened; /* bytes after its header have come */
	uint8_t flags; /* of its header */

	/* The frame. */
	struct ds325_ring_slot *slot; /* being written; NULL between frames */
	bool bad;
	uint8_t frame_flags; /* of its first payload */
	uint32_t bytes;
	uint32_t sequence;
	uint64_t begun_ns; /* when its first transfer ended; 0: no losses can be counted from it */
	uint8_t carry[DS325_BLOCK_BYTES]; /* a block that lies in two transfers */

	uint32_t next; /* sequence of the next frame, if none is lost before it */
	uint32_t unpublished; /* frames since the last that was published */
};

/*
 * Takes a transfer that ended at `ended_ns` with `length` bytes; `ends` if it is shorter than was asked for. Returns
 * how many frames were published.
 */
unsigned int ds325_payload_take(struct ds325_payload *payload, const uint8_t *data, uint32_t length, bool ends,
				uint64_t ended_ns);

/* The stream stops or breaks: a frame that has begun is refused. With `fault` at least one frame counts as lost. */
void ds325_payload_break(struct ds325_payload *payload, bool fault);

#endif

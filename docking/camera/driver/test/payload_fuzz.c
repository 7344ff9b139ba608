// SPDX-License-Identifier: MIT
/*
 * payload.c in user space, with sanitizers: payload_fuzz SEED ROUNDS. Each round first sends transfers of random bytes,
 * after which the counters must add up. Then it sends whole frames, cut anywhere, between damaged frames: every whole
 * frame must be published with its ranges, every damaged frame refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../payload.h"

enum { SLOTS = 2, WHOLE = DS325_PAYLOAD_HEADER + DS325_FRAME_BYTES, INTERVAL_NS = 1000000 };

static uint64_t state, now_ns = 1;

static uint32_t below(uint32_t count)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(state >> 33) % count;
}

static uint64_t clock(void)
{
	return now_ns;
}

static void check(int good, const char *what, uint64_t round)
{
	if (good)
		return;
	fprintf(stderr, "round %llu: %s\n", (unsigned long long)round, what);
	exit(1);
}

static void any_bytes(struct ds325_payload *payload, uint64_t round)
{
	payload->most = 64 + below(below(2) ? 4096 : 2 * WHOLE);
	for (uint32_t left = below(200); left; left--) {
		uint32_t length = 1 + below(below(8) ? 2000 : 100000);
		uint8_t *data = malloc(length); /* of exactly this size, so that the sanitizer sees a byte beyond it */
		uint64_t before = payload->ring->published;
		unsigned int told;

		for (uint32_t at = 0; at < length; at++)
			data[at] = (uint8_t)below(256);
		if (below(4)) {
			data[0] = (uint8_t)(2 + below(11));
			data[length > 1] &= (uint8_t)below(256);
		}
		now_ns += below(3 * INTERVAL_NS);
		told = ds325_payload_take(payload, data, length, below(2), now_ns);
		check(payload->ring->published - before == told, "it told another number than it published", round);
		check(payload->bytes <= DS325_FRAME_BYTES, "a frame has too many bytes", round);
		free(data);
		if (!below(50))
			ds325_payload_break(payload, below(2));
	}
	ds325_payload_break(payload, false);
	check(!payload->slot && !payload->done, "a break leaves something open", round);
}

/* A payload in transfers of any size; the last one ends it if it is short of the most. */
static unsigned int send(struct ds325_payload *payload, const uint8_t *data, uint32_t length)
{
	unsigned int published = 0;

	for (uint32_t done = 0; done < length;) {
		/* No packet is so small as to cut a header. */
		uint32_t part = DS325_PAYLOAD_HEADER + below(below(3) ? 80000 : 40);
		uint8_t *copy;

		part = part < length - done ? part : length - done;
		copy = malloc(part);
		memcpy(copy, data + done, part);
		done += part;
		published += ds325_payload_take(payload, copy, part, done == length && length < payload->most, now_ns);
		free(copy);
	}
	return published;
}

static void frames(struct ds325_payload *payload, uint64_t round)
{
	static uint8_t data[WHOLE + 1000];
	static uint16_t ranges[DS325_PIXELS];
	uint64_t refused = payload->ring->refused;
	unsigned int bad = 0;

	payload->most = WHOLE + 1000;
	for (uint32_t one = 0; one < 6; one++) {
		uint32_t kind = below(4), length = WHOLE;
		const struct ds325_ring_slot *slot = ds325_ring_slot(payload->ring, payload->ring->published);
		unsigned int published;

		now_ns += INTERVAL_NS;
		for (uint32_t at = 0; at < sizeof(data); at++)
			data[at] = (uint8_t)(below(256) & 0x87); /* some words are small enough not to be clipped */
		data[0] = DS325_PAYLOAD_HEADER;
		data[1] = (uint8_t)(0x82 | (one & 1) | (kind == 1) << 6);
		if (kind == 2)
			length = WHOLE - 1 - below(1000);
		if (kind == 3)
			length = WHOLE + 1 + below(999);
		published = send(payload, data, length);
		check(published == !kind, kind ? "a damaged frame was published" : "a whole frame was not", round);
		bad += kind != 0;
		if (kind)
			continue;
		ds325_blocks_scalar(payload->decoder, data + DS325_PAYLOAD_HEADER, 0, DS325_PIXELS / DS325_BLOCK,
				    ranges);
		check(!memcmp(ranges, ds325_ring_ranges(payload->ring, slot), sizeof(ranges)), "wrong ranges", round);
	}
	check(payload->ring->refused - refused == bad, "the refused are not those that were damaged", round);
}

int main(int argc, char **argv)
{
	static struct ds325_decoder decoder;
	static struct ds325_payload payload;
	const struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	uint64_t rounds = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	if (!rounds || ds325_decoder_init(&decoder, &calibration))
		return 2;
	state = strtoull(argv[1], NULL, 10);
	payload = (struct ds325_payload){
		.ring = calloc(1, ds325_ring_bytes(SLOTS)),
		.decoder = &decoder,
		.blocks = ds325_blocks_scalar,
		.clock = clock,
		.interval_ns = INTERVAL_NS,
	};
	ds325_ring_make(payload.ring, SLOTS, DS325_RING_RANGE_U16);
	for (uint64_t round = 0; round < rounds; round++) {
		any_bytes(&payload, round);
		frames(&payload, round);
	}
	printf("published %llu refused %llu\n", (unsigned long long)payload.ring->published,
	       (unsigned long long)payload.ring->refused);
	free(payload.ring);
	return 0;
}

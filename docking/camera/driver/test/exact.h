/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * Frames of random words, and a hash of ranges. The kernel module and the program of the same test both make them, so
 * that only one number has to be compared.
 */
#ifndef DS325_EXACT_H
#define DS325_EXACT_H

#include "ds325/decode.h"

/* xorshift64*, Vigna, ACM Trans. Math. Softw. 42 (2016) 30 */
static inline uint64_t exact_next(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717ull;
}

/* Four words shifted right, each with its sign. */
static inline uint64_t exact_shifted(uint64_t words, unsigned int count)
{
	uint64_t lanes = 0x0001000100010001ull, kept = words >> count & (0xffffull >> count) * lanes;

	return kept | (kept & (0x8000ull >> count) * lanes) * ((2u << count) - 1);
}

/*
 * Frame `number`: words of 16 bits in the first of sixteen, which are saturated nearly all; of 15 to 4 bits in the next
 * twelve, so that every amplitude occurs; in the next two words at the edges of the decoder's decisions; and in the
 * last patches of all sizes of word, as lit and dark parts of a picture have.
 */
static inline void exact_frame(uint64_t number, void *raw)
{
	static const int16_t edges[16] = { 0,    1,     -1,   7,     -7,   8,     10,     -10,
					   2046, -2046, 2047, -2047, 2048, 32767, -32767, -32768 };
	uint64_t state = number * 0x9e3779b97f4a7c15ull + 1;
	unsigned int kind = number % 16;
	uint8_t *to = raw;

	for (size_t at = 0; at < DS325_FRAME_BYTES; at += sizeof(uint64_t)) {
		uint64_t words = exact_next(&state);

		if (kind < 13 || kind == 15) {
			words = exact_shifted(words, kind < 13 ? kind : (at >> 8) * 5 % 13);
		} else {
			uint64_t chosen = 0;

			for (unsigned int lane = 0; lane < 4; lane++)
				chosen = chosen << 16 | (uint16_t)edges[words >> (60 - 4 * lane) & 15];
			words = chosen;
		}
		memcpy(to + at, &words, sizeof(words));
	}
}

/* FNV-1a over 64 bits at a time. */
static inline uint64_t exact_hash(uint64_t hash, const uint16_t *ranges)
{
	for (size_t at = 0; at < DS325_PIXELS; at += 4) {
		uint64_t four;

		memcpy(&four, ranges + at, sizeof(four));
		hash = (hash ^ four) * 0x100000001b3ull;
		hash ^= hash >> 32; /* brings the upper bits into the lower ones */
	}
	return hash;
}

#define EXACT_HASH 0xcbf29ce484222325ull

#endif

// SPDX-License-Identifier: MIT
#include <string.h>

#include "octets.h"
#include "sha256.h"

/* The first 32 bits of the fractions of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2). */
static const uint32_t rounds[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turned(uint32_t word, int bits)
{
	return word >> bits | word << (32 - bits);
}

/* Sections 6.2.2 and 4.1.2, by their letters. */
static void block_add(uint32_t state[8], const uint8_t block[SHA256_BLOCK])
{
	uint32_t w[64], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5],
			g = state[6], h = state[7];

	for (int t = 0; t < 16; t++)
		w[t] = pus_get(block + (size_t)t * 4, 4);
	for (int t = 16; t < 64; t++)
		w[t] = w[t - 16] + w[t - 7] + (turned(w[t - 15], 7) ^ turned(w[t - 15], 18) ^ w[t - 15] >> 3) +
		       (turned(w[t - 2], 17) ^ turned(w[t - 2], 19) ^ w[t - 2] >> 10);
	for (int t = 0; t < 64; t++) {
		const uint32_t one = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) +
				     rounds[t] + w[t];
		const uint32_t two = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));

		h = g;
		g = f;
		f = e;
		e = d + one;
		d = c;
		c = b;
		b = a;
		a = one + two;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	state[5] += f;
	state[6] += g;
	state[7] += h;
}

void sha256_begin(struct sha256 *sum)
{
	*sum = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
					   0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *sum, const uint8_t *data, size_t octets)
{
	while (octets) {
		const size_t at = sum->octets % SHA256_BLOCK, room = SHA256_BLOCK - at;
		const size_t piece = octets < room ? octets : room;

		memcpy(sum->block + at, data, piece);
		sum->octets += piece;
		data += piece;
		octets -= piece;
		if (piece == room)
			block_add(sum->state, sum->block);
	}
}

void sha256_end(struct sha256 *sum, uint8_t digest[SHA256_OCTETS])
{
	static const uint8_t fill[SHA256_BLOCK] = { 0x80 };
	const uint64_t bits = sum->octets * 8;
	uint8_t length[8];

	pus_put(pus_put(length, (uint32_t)(bits >> 32), 4), (uint32_t)bits, 4);
	/* One octet or more, so that the length ends a block. */
	sha256_add(sum, fill, 1 + (2 * SHA256_BLOCK - sizeof(length) - 1 - sum->octets % SHA256_BLOCK) % SHA256_BLOCK);
	sha256_add(sum, length, sizeof(length));
	for (int one = 0; one < 8; one++)
		digest = pus_put(digest, sum->state[one], 4);
}

void hmac_key(struct hmac *hmac, const uint8_t *key, size_t octets)
{
	uint8_t padded[SHA256_BLOCK] = { 0 };

	if (octets > SHA256_BLOCK) {
		sha256_begin(&hmac->inner);
		sha256_add(&hmac->inner, key, octets);
		sha256_end(&hmac->inner, padded);
	} else {
		memcpy(padded, key, octets);
	}
	for (int one = 0; one < SHA256_BLOCK; one++)
		padded[one] ^= 0x36;
	sha256_begin(&hmac->inner);
	sha256_add(&hmac->inner, padded, SHA256_BLOCK);
	for (int one = 0; one < SHA256_BLOCK; one++)
		padded[one] ^= 0x36 ^ 0x5c;
	sha256_begin(&hmac->outer);
	sha256_add(&hmac->outer, padded, SHA256_BLOCK);
	explicit_bzero(padded, sizeof(padded));
}

void hmac_tag(const struct hmac *hmac, const uint8_t *data, size_t octets, uint8_t tag[SHA256_OCTETS])
{
	struct sha256 inner = hmac->inner, outer = hmac->outer;

	sha256_add(&inner, data, octets);
	sha256_end(&inner, tag);
	sha256_add(&outer, tag, SHA256_OCTETS);
	sha256_end(&outer, tag);
}

/* SPDX-License-Identifier: MIT */
/* SHA-256 (FIPS 180-4) and HMAC of it (RFC 2104): no table is looked up by what is secret, and nothing is allocated. */
#ifndef FLIGHT_SHA256_H
#define FLIGHT_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_OCTETS = 32, SHA256_BLOCK = 64 };

struct sha256 {
	uint32_t state[8];
	uint64_t octets; /* so far; those of the last block that is not full lie in `block` */
	uint8_t block[SHA256_BLOCK];
};
void sha256_begin(struct sha256 *sum);
void sha256_add(struct sha256 *sum, const uint8_t *data, size_t octets);
void sha256_end(struct sha256 *sum, uint8_t digest[SHA256_OCTETS]);

/* A key of any length, hashed once: each tag then takes its data's blocks and three more. */
struct hmac {
	struct sha256 inner, outer;
};
void hmac_key(struct hmac *hmac, const uint8_t *key, size_t octets);
void hmac_tag(const struct hmac *hmac, const uint8_t *data, size_t octets, uint8_t tag[SHA256_OCTETS]);

#endif

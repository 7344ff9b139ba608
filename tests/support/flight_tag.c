// SPDX-License-Identifier: MIT
/* Lines "KEY DATA PIECE" of hex ("-": nothing) and a number: SHA-256 of the data, taken up in pieces of so many octets, and
 * its HMAC with the key, as a line of hex each. */
#include <stdio.h>
#include <string.h>

#include "flight/program/sha256.h"

static size_t octets_of(const char *hex, uint8_t *to)
{
	unsigned int octet;
	size_t octets = 0;

	while (sscanf(hex + 2 * octets, "%2x", &octet) == 1)
		to[octets++] = (uint8_t)octet;
	return octets;
}

static void print(const uint8_t digest[SHA256_OCTETS])
{
	for (int one = 0; one < SHA256_OCTETS; one++)
		printf("%02x", digest[one]);
	putchar('\n');
}

int main(void)
{
	static char key_hex[8192], data_hex[8192];
	static uint8_t key[4096], data[4096];
	size_t piece;

	while (scanf("%8191s %8191s %zu", key_hex, data_hex, &piece) == 3) {
		const size_t keys = octets_of(key_hex, key), octets = octets_of(data_hex, data);
		uint8_t digest[SHA256_OCTETS];
		struct sha256 sum;
		struct hmac hmac;

		sha256_begin(&sum);
		for (size_t at = 0; at < octets; at += piece)
			sha256_add(&sum, data + at, octets - at < piece ? octets - at : piece);
		sha256_end(&sum, digest);
		print(digest);
		hmac_key(&hmac, key, keys);
		hmac_tag(&hmac, data, octets, digest);
		print(digest);
	}
	return 0;
}

// SPDX-License-Identifier: MIT
#include "cobs.h"

enum { LONGEST = 255 }; /* a block's code: 254 octets, and no zero after them */

size_t cobs_encode(const uint8_t *from, size_t octets, uint8_t *to)
{
	uint8_t *code = to, *at = to + 1;

	*code = 1;
	for (size_t one = 0; one < octets; one++) {
		if (*code == LONGEST) {
			code = at++;
			*code = 1;
		}
		if (from[one]) {
			*at++ = from[one];
			++*code;
		} else {
			code = at++;
			*code = 1;
		}
	}
	*at++ = 0;
	return (size_t)(at - to);
}

size_t cobs_decode(const uint8_t *from, size_t octets, uint8_t *to)
{
	const uint8_t *end = from + octets;
	uint8_t *at = to;

	while (from < end) {
		const uint8_t code = *from++;

		if (!code || (size_t)(end - from) < (size_t)code - 1)
			return 0;
		for (uint8_t one = 1; one < code; one++)
			*at++ = *from++;
		if (code < LONGEST && from < end)
			*at++ = 0;
	}
	return (size_t)(at - to);
}

/* SPDX-License-Identifier: MIT */
/* What both ends of the link do with the octets of a packet. */
#ifndef FLIGHT_OCTETS_H
#define FLIGHT_OCTETS_H

#include <stddef.h>
#include <stdint.h>

enum { PUS_CRC = 2 };

/* CRC-16/CCITT-FALSE; over a packet with its own: 0. */
static inline uint16_t pus_crc(const uint8_t *data, size_t octets)
{
	uint16_t crc = 0xffff;

	for (size_t one = 0; one < octets; one++) { /* x^16 + x^12 + x^5 + 1, eight bits at once */
		uint8_t mixed = (uint8_t)(crc >> 8 ^ data[one]);

		mixed ^= mixed >> 4;
		crc = (uint16_t)(crc << 8 ^ mixed << 12 ^ mixed << 5 ^ mixed);
	}
	return crc;
}

static inline uint32_t pus_get(const uint8_t *at, size_t octets)
{
	uint32_t value = 0;

	while (octets--)
		value = value << 8 | *at++;
	return value;
}

/* Returns where the next goes. */
static inline uint8_t *pus_put(uint8_t *at, uint32_t value, size_t octets)
{
	for (size_t one = octets; one--; value >>= 8)
		at[one] = (uint8_t)value;
	return at + octets;
}

/* Octets of the packet that begins here, by its header of 6 octets. */
static inline size_t pus_length(const uint8_t *header)
{
	return pus_get(header + 4, 2) + 7;
}

#endif

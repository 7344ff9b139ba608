/* SPDX-License-Identifier: MIT */
/*
 * The counter of the last telecommand with a tag. Whoever loses it runs recorded telecommands again, so it has a place of
 * its own, in memory and on the disk: three copies, each with its checksum. It only rises, so of sound ones that differ,
 * as where a reset came between two, the highest is right.
 */
#ifndef FLIGHT_COUNTER_H
#define FLIGHT_COUNTER_H

#include <stdint.h>

enum { COUNTER_COPIES = 3 };
enum counter_found {
	COUNTER_SOUND,
	COUNTER_MENDED,
	COUNTER_LOST
}; /* all copies are sound and equal; are again; none is */

struct counter {
	uint32_t high, low, crc;
};

/* Copies that differ from the highest sound one are mended. */
enum counter_found counter_get(struct counter copy[COUNTER_COPIES], uint64_t *count);
void counter_set(struct counter copy[COUNTER_COPIES], uint64_t count);

#endif

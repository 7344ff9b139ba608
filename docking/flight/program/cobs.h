/* SPDX-License-Identifier: MIT */
/*
 * Consistent overhead byte stuffing (Cheshire and Baker, 1999): frames without zeros, so that a zero ends each, whatever
 * was damaged before. A length in front would lose all that follows it when it is damaged, and looking for the next
 * header could find a command within another one.
 */
#ifndef FLIGHT_COBS_H
#define FLIGHT_COBS_H

#include <stddef.h>
#include <stdint.h>

#define COBS_MOST(octets) ((octets) + (octets) / 254 + 2) /* with the zero */

/* Returns the octets written, with the zero that ends the frame. */
size_t cobs_encode(const uint8_t *from, size_t octets, uint8_t *to);
/* Of a frame without its zero; in place is allowed. Returns how many octets, 0 where the frame is damaged. */
size_t cobs_decode(const uint8_t *from, size_t octets, uint8_t *to);

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The arithmetic of one pixel, in integers and without a library: the reference that the vector code equals bit by bit.
 * User space and kernel modules compile the same text. docs/docking/lidar.md derives it and states its error.
 */
#ifndef DS325_DECODE_CORE_H
#define DS325_DECODE_CORE_H

#ifdef __KERNEL__
#include <linux/math64.h>
#include <linux/string.h>
#include <linux/types.h>
#define ds325_divide(dividend, divisor) div64_s64(dividend, divisor)
#else
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#define ds325_divide(dividend, divisor) ((int64_t)(dividend) / (int64_t)(divisor))
#endif

#include "format.h"

/*
 * With n = |Q| - |I| and d = |I| + |Q|, the angle in the first quadrant is pi/4 + atan(n / d): no swap, no branch. The
 * quotient is n * 8191 / d towards zero. Words that are not clipped have d <= 4092, so a quotient that is not an
 * integer is at least 1/4092 below the next integer; the binary32 quotient of the same two integers, below 2^13, is
 * rounded by at most 2^-12 and cannot reach it. So the vector unit's division, truncated, gives exactly this integer.
 */
#define DS325_QUOTIENT_ONE 8191

/* atan(v) / 2 pi in 1/65536 turns for v in Q15, odd, of degree 7; scaled for products whose upper 16 bits are taken. */
#define DS325_C1 20851
#define DS325_C3 (-13406)
#define DS325_C5 12203
#define DS325_C7 (-6510)

#define DS325_EIGHTH_TURN 8192

/* What a decoder needs while frames come in; made by ds325_decoder_init(), constant afterwards but for `offset`. */
struct ds325_decoder {
	uint16_t scale[DS325_PIXELS] __attribute__((aligned(64))); /* mm a turn, times 2^shift */
	uint32_t least_power; /* counts squared: the confidence threshold */
	uint16_t dark; /* counts: a pixel is not valid where neither word is larger */
	uint16_t offset; /* 1/65536 turns, subtracted */
	uint16_t rounding; /* half a mm */
	uint32_t shift;
};

static inline int32_t ds325_clipped(int32_t word)
{
	int32_t size = word < 0 ? -word : word;

	return size < DS325_WORD_MOST ? size : DS325_WORD_MOST;
}

/* Phase in 1/65536 turns; 0 for I = Q = 0. */
static inline uint16_t ds325_phase(int16_t i, int16_t q)
{
	int32_t size_i = ds325_clipped(i), size_q = ds325_clipped(q);
	int32_t sum = size_i + size_q;
	int32_t v, square, angle;

	if (!sum)
		return 0;
	v = (size_q - size_i) * DS325_QUOTIENT_ONE / sum * 4;
	square = (v * v >> 16) * 2;
	angle = (square * DS325_C7 >> 16) + DS325_C5;
	angle = (angle * square >> 16) + DS325_C3;
	angle = (angle * square >> 16) + DS325_C1;
	angle = (angle * v >> 16) + DS325_EIGHTH_TURN;
	if ((i ^ q) < 0)
		angle = -angle;
	return (uint16_t)(angle + (i & 0x8000));
}

static inline uint32_t ds325_power(int16_t i, int16_t q)
{
	int32_t size_i = ds325_clipped(i), size_q = ds325_clipped(q);

	return (uint32_t)(size_i * size_i + size_q * size_q);
}

static inline bool ds325_saturated(int16_t i, int16_t q)
{
	return ds325_clipped(i) == DS325_WORD_MOST || ds325_clipped(q) == DS325_WORD_MOST;
}

/* Amplitude, which is also the confidence, in counts: the root of the power, towards zero. */
static inline uint16_t ds325_amplitude(uint32_t power)
{
	uint32_t root = 0;

	for (uint32_t bit = 1u << 22; bit; bit >>= 2) {
		bool fits = power >= root + bit;

		power -= fits ? root + bit : 0;
		root = (root >> 1) + (fits ? bit : 0);
	}
	return (uint16_t)root;
}

static inline uint16_t ds325_phase_to_mm(const struct ds325_decoder *decoder, size_t pixel, uint16_t phase)
{
	uint32_t turned = (uint16_t)(phase - decoder->offset);

	return (uint16_t)(((turned * decoder->scale[pixel] >> 16) + decoder->rounding) >> decoder->shift);
}

/* A pixel's range in mm, 0 if not valid, DS325_Z16_SATURATED if a word is clipped. */
static inline uint16_t ds325_range(const struct ds325_decoder *decoder, size_t pixel, int16_t i, int16_t q)
{
	if (ds325_saturated(i, q))
		return DS325_Z16_SATURATED;
	if (ds325_power(i, q) < decoder->least_power)
		return 0;
	return ds325_phase_to_mm(decoder, pixel, ds325_phase(i, q));
}

/* A word of a frame, wherever it lies. */
static inline int16_t ds325_word(const uint8_t *raw, size_t pixel, size_t quadrature)
{
	const uint8_t *word = raw + pixel / DS325_BLOCK * DS325_BLOCK_BYTES + quadrature * DS325_BLOCK * 2 +
			      pixel % DS325_BLOCK * 2;

	return (int16_t)(word[0] | word[1] << 8);
}

#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* decode_core.h's arithmetic on vectors of 16-bit lanes, written once. A file for an instruction set defines the types
 * and the few operations below that C's vector operators do not have, then includes this.
 *
 *	VEC_INLINE			how its functions are declared
 *	BLOCKS_AT_ONCE			of 8 lanes in a vector
 *	vec, uvec, vec32		vectors of int16_t, uint16_t, int32_t
 *	vec_load_words(raw, &i, &q)	from interleaved blocks that need not be aligned
 *	vec_load(p), vec_store(p, x)
 *	vec_size(x)			|x|, 32767 for -32768
 *	vec_least(a, b), vec_most(a, b)
 *	vec_high(a, b)			upper halves of signed products; vec_high_u of unsigned
 *	vec_shift(x, count)		logically right by a variable
 *	vec_quotient(a, b)		(b - a) * DS325_QUOTIENT_ONE / (a + b) towards zero, anything where a + b = 0
 *	vec_is_powerful(a, b, below)	-1 where a^2 + b^2 > below, else 0
 *	vec_root_power(a, b)		root of a^2 + b^2 towards zero
 */
#ifndef DS325_DECODE_VECTOR_H
#define DS325_DECODE_VECTOR_H

VEC_INLINE vec vec_all(int value)
{
	return (vec){ 0 } + (int16_t)value;
}

VEC_INLINE vec vec_phase(vec i, vec q, vec size_i, vec size_q)
{
	vec v = vec_quotient(size_i, size_q) << 2;
	vec square = vec_high(v, v) << 1;
	vec angle = vec_high(square, vec_all(DS325_C7)) + DS325_C5;
	vec sign = (i ^ q) >> 15;

	angle = vec_high(angle, square) + DS325_C3;
	angle = vec_high(angle, square) + DS325_C1;
	angle = vec_high(angle, v) + DS325_EIGHTH_TURN;
	return ((angle ^ sign) - sign) ^ (i & vec_all(0x8000)); /* half a turn more, modulo one */
}

struct vec_pixels {
	vec ranges, phases, amplitudes;
};

/* Read once: as far as the compiler knows, a store of ranges might change the decoder. */
struct vec_settings {
	uvec offset, rounding;
	vec32 below;
	uint32_t shift;
};

VEC_INLINE struct vec_settings vec_settings(const struct ds325_decoder *decoder)
{
	return (struct vec_settings){ (uvec){ 0 } + decoder->offset, (uvec){ 0 } + decoder->rounding,
				      (vec32){ 0 } + (int32_t)(decoder->least_power - 1), decoder->shift };
}

/* `all` is a constant where this is inlined, so that results nobody asked for are not computed. */
VEC_INLINE struct vec_pixels vec_pixels(const struct vec_settings *settings, const uint8_t *raw, const uint16_t *scale,
					bool all)
{
	struct vec_pixels pixels = { 0 };
	vec i, q, size_i, size_q, phase, valid, saturated;

	vec_load_words(raw, &i, &q);
	size_i = vec_size(i);
	size_q = vec_size(q);
	saturated = vec_most(size_i, size_q) > vec_all(DS325_WORD_MOST - 1);
	if (all) { /* clipped as in the reference; the range of a saturated pixel is not affected */
		size_i = vec_least(size_i, vec_all(DS325_WORD_MOST));
		size_q = vec_least(size_q, vec_all(DS325_WORD_MOST));
	}
	valid = vec_is_powerful(size_i, size_q, settings->below);
	phase = vec_phase(i, q, size_i, size_q);
	pixels.ranges = vec_high_u((vec)((uvec)phase - settings->offset), vec_load(scale));
	pixels.ranges = vec_shift((vec)((uvec)pixels.ranges + settings->rounding), settings->shift) & valid;
	/* No range is as large as the mark of saturation. */
	pixels.ranges = vec_most(pixels.ranges, saturated & vec_all(DS325_Z16_SATURATED));
	if (all) {
		pixels.phases = phase & valid & ~saturated;
		pixels.amplitudes = vec_root_power(size_i, size_q);
	}
	return pixels;
}

VEC_INLINE void vec_blocks(const struct ds325_decoder *decoder, const void *from, size_t first, size_t count,
			   uint16_t *ranges)
{
	const struct vec_settings settings = vec_settings(decoder);
	const uint8_t *raw = from;
	const uint16_t *scale = decoder->scale + first * DS325_BLOCK;
	size_t block = 0;

	for (; block + BLOCKS_AT_ONCE <= count; block += BLOCKS_AT_ONCE)
		vec_store(ranges + block * DS325_BLOCK,
			  vec_pixels(&settings, raw + block * DS325_BLOCK_BYTES, scale + block * DS325_BLOCK, false)
				  .ranges);
	if (block < count)
		ds325_blocks_scalar(decoder, raw + block * DS325_BLOCK_BYTES, first + block, count - block,
				    ranges + block * DS325_BLOCK);
}

VEC_INLINE void vec_planes(const struct ds325_decoder *decoder, const void *from, size_t first, size_t count,
			   const struct ds325_planes *planes)
{
	const struct vec_settings settings = vec_settings(decoder);
	const uint8_t *raw = from;
	size_t block = 0;

	for (; block + BLOCKS_AT_ONCE <= count; block += BLOCKS_AT_ONCE) {
		size_t at = (first + block) * DS325_BLOCK;
		struct vec_pixels pixels = vec_pixels(&settings, raw + block * DS325_BLOCK_BYTES, decoder->scale + at,
						      true);

		vec_store(planes->ranges + at, pixels.ranges);
		vec_store(planes->phases + at, pixels.phases);
		vec_store(planes->amplitudes + at, pixels.amplitudes);
	}
	if (block < count)
		ds325_planes_scalar(decoder, raw + block * DS325_BLOCK_BYTES, first + block, count - block, planes);
}

#endif

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
 *	vec_beyond(x, most)		what of |x| exceeds `most`, twice that where x is negative; 0 where it does not
 *	vec_is_zero(x)			whether all lanes are
 */
#ifndef DS325_DECODE_VECTOR_H
#define DS325_DECODE_VECTOR_H

VEC_INLINE vec vec_all(int value)
{
	return (vec){ 0 } + (int16_t)value;
}

#ifndef VEC_KEEP
#define VEC_KEEP(x)
#endif

VEC_INLINE vec vec_constant(int value)
{
	vec kept = vec_all(value);

	VEC_KEEP(kept);
	return kept;
}

/* Constants among them, for instruction sets on which a compiler would make them again for every run. */
struct vec_settings {
	vec c1, c3, c5, c7, eighth_turn, half_turn, most, saturated;
	uvec offset, rounding;
	vec32 below;
	uint32_t shift;
};

VEC_INLINE struct vec_settings vec_settings(const struct ds325_decoder *decoder)
{
	return (struct vec_settings){
		.c1 = vec_constant(DS325_C1),
		.c3 = vec_constant(DS325_C3),
		.c5 = vec_constant(DS325_C5),
		.c7 = vec_constant(DS325_C7),
		.eighth_turn = vec_constant(DS325_EIGHTH_TURN),
		.half_turn = vec_constant(0x8000),
		.most = vec_constant(DS325_WORD_MOST - 1),
		.saturated = vec_constant(DS325_Z16_SATURATED),
		.offset = (uvec){ 0 } + decoder->offset,
		.rounding = (uvec){ 0 } + decoder->rounding,
		.below = (vec32){ 0 } + (int32_t)(decoder->least_power - 1),
		.shift = decoder->shift,
	};
}

VEC_INLINE vec vec_phase(const struct vec_settings *settings, vec i, vec q, vec size_i, vec size_q)
{
	vec v = vec_quotient(size_i, size_q) << 2;
	vec square = vec_high(v, v) << 1;
	vec angle = vec_high(square, settings->c7) + settings->c5;
	vec sign = (i ^ q) >> 15;

	angle = vec_high(angle, square) + settings->c3;
	angle = vec_high(angle, square) + settings->c1;
	angle = vec_high(angle, v) + settings->eighth_turn;
	return ((angle ^ sign) - sign) ^ (i & settings->half_turn); /* half a turn more, modulo one */
}

struct vec_pixels {
	vec ranges, phases, amplitudes;
};

/* `all` is a constant where this is inlined, so that results nobody asked for are not computed. */
VEC_INLINE struct vec_pixels vec_pixels(const struct vec_settings *settings, const uint8_t *raw, const uint16_t *scale,
					bool all)
{
	struct vec_pixels pixels = { 0 };
	vec i, q, size_i, size_q, phase, valid, saturated;

	vec_load_words(raw, &i, &q);
	size_i = vec_size(i);
	size_q = vec_size(q);
	saturated = vec_most(size_i, size_q) > settings->most;
	if (all) { /* clipped as in the reference; the range of a saturated pixel is not affected */
		size_i = vec_least(size_i, vec_all(DS325_WORD_MOST));
		size_q = vec_least(size_q, vec_all(DS325_WORD_MOST));
	}
	valid = vec_is_powerful(size_i, size_q, settings->below);
	phase = vec_phase(settings, i, q, size_i, size_q);
	pixels.ranges = vec_high_u((vec)((uvec)phase - settings->offset), vec_load(scale));
	pixels.ranges = vec_shift((vec)((uvec)pixels.ranges + settings->rounding), settings->shift) & valid;
	/* No range is as large as the mark of saturation. */
	pixels.ranges = vec_most(pixels.ranges, saturated & settings->saturated);
	if (all) {
		pixels.phases = phase & valid & ~saturated;
		pixels.amplitudes = vec_root_power(size_i, size_q);
	}
	return pixels;
}

/* Most of a frame is empty, and to see that takes a tenth of decoding. So frames are worked on in runs of vectors, eight
 * to a row with SSE2, and a run is looked at first where the one before ended empty.
 */
#define VECTORS_IN_RUN 5
#define BLOCKS_IN_RUN (VECTORS_IN_RUN * BLOCKS_AT_ONCE)

struct vec_job {
	const struct ds325_decoder *decoder;
	const uint8_t *raw;
	const uint16_t *scale;
	uint16_t *ranges;
	size_t count; /* blocks */
};

VEC_INLINE size_t vec_skip_dark(const struct vec_job *job, size_t block)
{
	const uvec dark = (uvec){ 0 } + job->decoder->dark;

	for (; block + BLOCKS_IN_RUN <= job->count; block += BLOCKS_IN_RUN) {
		const uint8_t *words = job->raw + block * DS325_BLOCK_BYTES;
		uvec beyond = { 0 };

#pragma GCC unroll 16
		for (size_t part = 0; part < 2 * VECTORS_IN_RUN; part++)
			beyond |= vec_beyond(vec_load(words + part * sizeof(vec)), dark);
		if (!vec_is_zero((vec)beyond))
			break;
#pragma GCC unroll 16
		for (size_t part = 0; part < VECTORS_IN_RUN; part++)
			vec_store(job->ranges + (block + part * BLOCKS_AT_ONCE) * DS325_BLOCK, (vec){ 0 });
	}
	return block;
}

VEC_INLINE vec vec_ranges(const struct vec_settings *settings, const struct vec_job *job, size_t block)
{
	vec decoded = vec_pixels(settings, job->raw + block * DS325_BLOCK_BYTES, job->scale + block * DS325_BLOCK,
				 false)
			      .ranges;

	vec_store(job->ranges + block * DS325_BLOCK, decoded);
	return decoded;
}

/* A function of its own, so that it has all registers. */
static __attribute__((__noinline__)) size_t vec_decode_lit(const struct vec_job *job, size_t block)
{
	const struct vec_settings settings = vec_settings(job->decoder);
	const struct vec_job at = *job; /* as far as the compiler knows, a store of ranges might change the original */
	vec last;

	for (; block + BLOCKS_IN_RUN <= at.count;) {
#pragma GCC unroll 16
		for (size_t part = 0; part < VECTORS_IN_RUN; part++, block += BLOCKS_AT_ONCE)
			last = vec_ranges(&settings, &at, block);
		if (vec_is_zero(last))
			return block;
	}
	for (; block + BLOCKS_AT_ONCE <= at.count; block += BLOCKS_AT_ONCE)
		vec_ranges(&settings, &at, block);
	return block;
}

VEC_INLINE void vec_blocks(const struct ds325_decoder *decoder, const void *raw, size_t first, size_t count,
			   uint16_t *ranges)
{
	const struct vec_job job = {
		.decoder = decoder,
		.raw = raw,
		.scale = decoder->scale + first * DS325_BLOCK,
		.ranges = ranges,
		.count = count,
	};
	size_t block = 0;

	while (block + BLOCKS_AT_ONCE <= count) {
		block = vec_skip_dark(&job, block);
		if (block + BLOCKS_AT_ONCE <= count)
			block = vec_decode_lit(&job, block);
	}
	if (block < count)
		ds325_blocks_scalar(decoder, job.raw + block * DS325_BLOCK_BYTES, first + block, count - block,
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

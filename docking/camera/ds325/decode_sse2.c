// SPDX-License-Identifier: MIT OR GPL-2.0
/* Decoding by SSE2, eight pixels at once: every x86-64 has it. */
#define BLOCKS_AT_ONCE 1
#define X86(name) __builtin_ia32_##name##128
#define X86_TRUNCATED __builtin_ia32_cvttps2dq
#define X86_SIGNS __builtin_ia32_pmovmskb128
#define X86_ROOT __builtin_ia32_sqrtps

#include "decode_x86.h"

VEC_INLINE void vec_load_words(const uint8_t *raw, vec *i, vec *q)
{
	*i = vec_load(raw);
	*q = vec_load(raw + VEC_BYTES);
}

#include "decode_vector.h"

void ds325_blocks_sse2(const struct ds325_decoder *decoder, const void *raw, size_t first, size_t count,
		       uint16_t *ranges)
{
	vec_blocks(decoder, raw, first, count, ranges);
}

void ds325_planes_sse2(const struct ds325_decoder *decoder, const void *raw, size_t first, size_t count,
		       const struct ds325_planes *planes)
{
	vec_planes(decoder, raw, first, count, planes);
}

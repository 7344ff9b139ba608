// SPDX-License-Identifier: MIT OR GPL-2.0
/* Decoding by AVX2, sixteen pixels at once; this file alone is compiled for it. */
#define BLOCKS_AT_ONCE 2
#define X86(name) __builtin_ia32_##name##256
#define X86_TRUNCATED __builtin_ia32_cvttps2dq256
#define X86_SIGNS __builtin_ia32_pmovmskb256
#define VEC_KEEP(x) asm("" : "+x"(x))
#define X86_ROOT __builtin_ia32_sqrtps256

#include "decode_x86.h"

VEC_INLINE void vec_load_words(const uint8_t *raw, vec *i, vec *q)
{
	vec64 first = (vec64)vec_load(raw), second = (vec64)vec_load(raw + VEC_BYTES);

	*i = (vec)__builtin_ia32_permti256(first, second, 0x20);
	*q = (vec)__builtin_ia32_permti256(first, second, 0x31);
}

#include "decode_vector.h"

void ds325_blocks_avx2(const struct ds325_decoder *decoder, const void *raw, size_t first, size_t count,
		       uint16_t *ranges)
{
	vec_blocks(decoder, raw, first, count, ranges);
}

void ds325_planes_avx2(const struct ds325_decoder *decoder, const void *raw, size_t first, size_t count,
		       const struct ds325_planes *planes)
{
	vec_planes(decoder, raw, first, count, planes);
}

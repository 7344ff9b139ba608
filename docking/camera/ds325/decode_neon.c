// SPDX-License-Identifier: MIT OR GPL-2.0
/* Decoding by NEON on arm64, eight pixels at once. */
#define BLOCKS_AT_ONCE 1
#define VEC_INLINE static inline __attribute__((always_inline))

#include "decode.h"

#ifdef __KERNEL__
#include <asm/neon-intrinsics.h> /* after the kernel's own headers, which define some of its names again */
#else
#include <arm_neon.h>
#endif

typedef int16x8_t vec;
typedef uint16x8_t uvec;
typedef int32x4_t vec32;

VEC_INLINE vec vec_load(const void *from)
{
	return vreinterpretq_s16_u8(vld1q_u8(from));
}

VEC_INLINE void vec_store(void *to, vec value)
{
	vst1q_u8(to, vreinterpretq_u8_s16(value));
}

VEC_INLINE void vec_load_words(const uint8_t *raw, vec *i, vec *q)
{
	*i = vec_load(raw);
	*q = vec_load(raw + 16);
}

VEC_INLINE vec vec_least(vec a, vec b)
{
	return vminq_s16(a, b);
}

VEC_INLINE vec vec_most(vec a, vec b)
{
	return vmaxq_s16(a, b);
}

VEC_INLINE vec vec_size(vec x)
{
	return vqabsq_s16(x);
}

/* The doubled product's upper half, halved: -32768 times itself, which would saturate, does not occur. */
VEC_INLINE vec vec_high(vec a, vec b)
{
	return vqdmulhq_s16(a, b) >> 1;
}

VEC_INLINE vec vec_high_u(vec a, vec b)
{
	uint16x8_t x = vreinterpretq_u16_s16(a), y = vreinterpretq_u16_s16(b);
	uint32x4_t low = vmull_u16(vget_low_u16(x), vget_low_u16(y)), high = vmull_high_u16(x, y);

	return vreinterpretq_s16_u16(vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(high)));
}

VEC_INLINE vec vec_shift(vec x, uint32_t count)
{
	return vreinterpretq_s16_u16(vshlq_u16(vreinterpretq_u16_s16(x), vdupq_n_s16((int16_t)-(int)count)));
}

VEC_INLINE vec32 vec_divided(vec32 a, vec32 b)
{
	return vcvtq_s32_f32(vdivq_f32(vcvtq_f32_s32(a), vcvtq_f32_s32(b)));
}

/* The sum of two sizes fits 16 unsigned bits, their difference 16 signed bits. */
VEC_INLINE vec vec_quotient(vec a, vec b)
{
	vec n = b - a;
	uvec sum = (uvec)a + (uvec)b;
	vec32 low = vmull_n_s16(vget_low_s16(n), DS325_QUOTIENT_ONE);
	vec32 high = vmull_high_n_s16(n, DS325_QUOTIENT_ONE);

	low = vec_divided(low, vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(sum))));
	high = vec_divided(high, vreinterpretq_s32_u32(vmovl_high_u16(sum)));
	return vuzp1q_s16(vreinterpretq_s16_s32(low), vreinterpretq_s16_s32(high));
}

VEC_INLINE vec32 vec_power_low(vec a, vec b)
{
	return vmlal_s16(vmull_s16(vget_low_s16(a), vget_low_s16(a)), vget_low_s16(b), vget_low_s16(b));
}

VEC_INLINE vec32 vec_power_high(vec a, vec b)
{
	return vmlal_high_s16(vmull_high_s16(a, a), b, b);
}

VEC_INLINE vec vec_is_powerful(vec a, vec b, vec32 below)
{
	return vuzp1q_s16(vreinterpretq_s16_s32(vec_power_low(a, b) > below),
			  vreinterpretq_s16_s32(vec_power_high(a, b) > below));
}

/* Exact for the reason given in decode_x86.h. */
VEC_INLINE vec32 vec_root(vec32 power)
{
	return vcvtq_s32_f32(vsqrtq_f32(vcvtq_f32_s32(power)));
}

VEC_INLINE vec vec_root_power(vec a, vec b)
{
	return vuzp1q_s16(vreinterpretq_s16_s32(vec_root(vec_power_low(a, b))),
			  vreinterpretq_s16_s32(vec_root(vec_power_high(a, b))));
}

VEC_INLINE uvec vec_beyond(vec x, uvec most)
{
	return vqsubq_u16((uvec)x + most, most + most);
}

VEC_INLINE bool vec_is_zero(vec x)
{
	return !vmaxvq_u16(vreinterpretq_u16_s16(x));
}

#include "decode_vector.h"

void ds325_blocks_neon(const struct ds325_decoder *decoder, const void *raw, size_t first, size_t count,
		       uint16_t *ranges)
{
	vec_blocks(decoder, raw, first, count, ranges);
}

void ds325_planes_neon(const struct ds325_decoder *decoder, const void *raw, size_t first, size_t count,
		       const struct ds325_planes *planes)
{
	vec_planes(decoder, raw, first, count, planes);
}

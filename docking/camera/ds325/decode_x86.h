/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* decode_vector.h's operations on x86-64. It uses the compiler's builtins because a kernel module cannot include its
 * headers; X86(name) turns pmulhw into pmulhw128 or pmulhw256. Unpacking and packing work on each half of 128 bits
 * alone, so two blocks stay apart.
 */
#include "decode.h"

#define VEC_INLINE static inline __attribute__((always_inline))
#define VEC_BYTES (16 * BLOCKS_AT_ONCE)
typedef int16_t vec __attribute__((vector_size(VEC_BYTES)));
typedef uint16_t uvec __attribute__((vector_size(VEC_BYTES)));
typedef int32_t vec32 __attribute__((vector_size(VEC_BYTES)));
typedef float vecf __attribute__((vector_size(VEC_BYTES)));
typedef long long vec64 __attribute__((vector_size(VEC_BYTES)));
typedef char vec8 __attribute__((vector_size(VEC_BYTES)));
typedef vec loose __attribute__((aligned(1), may_alias));

VEC_INLINE vec vec_load(const void *from)
{
	return *(const loose *)from;
}

VEC_INLINE void vec_store(void *to, vec value)
{
	*(loose *)to = value;
}

VEC_INLINE vec vec_least(vec a, vec b)
{
	return X86(pminsw)(a, b);
}

VEC_INLINE vec vec_most(vec a, vec b)
{
	return X86(pmaxsw)(a, b);
}

VEC_INLINE vec vec_size(vec x)
{
	return vec_most(x, X86(psubsw)((vec){ 0 }, x));
}

VEC_INLINE vec vec_high(vec a, vec b)
{
	return X86(pmulhw)(a, b);
}

VEC_INLINE vec vec_high_u(vec a, vec b)
{
	return X86(pmulhuw)(a, b);
}

VEC_INLINE vec vec_shift(vec x, uint32_t count)
{
	return X86(psrlwi)(x, (int)count);
}

/* c_a a + c_b b in 32 bits, for the lower or the upper pairs. */
#define VEC_PAIRS(half, a, b, c_a, c_b) X86(pmaddwd)(X86(punpck##half##wd)(a, b), vec_two(c_a, c_b))

VEC_INLINE vec vec_two(int a, int b)
{
	return (vec)((vec32){ 0 } + (int32_t)((uint32_t)(uint16_t)a | (uint32_t)b << 16));
}

VEC_INLINE vec32 vec_divided(vec32 a, vec32 b)
{
	return X86_TRUNCATED(__builtin_convertvector(a, vecf) / __builtin_convertvector(b, vecf));
}

VEC_INLINE vec vec_quotient(vec a, vec b)
{
	const int one = DS325_QUOTIENT_ONE;

	return X86(packssdw)(vec_divided(VEC_PAIRS(l, a, b, -one, one), VEC_PAIRS(l, a, b, 1, 1)),
			     vec_divided(VEC_PAIRS(h, a, b, -one, one), VEC_PAIRS(h, a, b, 1, 1)));
}

#define VEC_POWER(half, a, b) X86(pmaddwd)(X86(punpck##half##wd)(a, b), X86(punpck##half##wd)(a, b))

VEC_INLINE vec vec_is_powerful(vec a, vec b, vec32 below)
{
	return X86(packssdw)(VEC_POWER(l, a, b) > below, VEC_POWER(h, a, b) > below);
}

/* Exact: a power is below 2^24, and a root below 2^12 whose power is not a square is farther from the next integer than
 * half a unit in its last place. */
VEC_INLINE vec vec_root_power(vec a, vec b)
{
	return X86(packssdw)(X86_TRUNCATED(X86_ROOT(__builtin_convertvector(VEC_POWER(l, a, b), vecf))),
			     X86_TRUNCATED(X86_ROOT(__builtin_convertvector(VEC_POWER(h, a, b), vecf))));
}

VEC_INLINE uvec vec_beyond(vec x, uvec most)
{
	return (uvec)X86(psubusw)((vec)((uvec)x + most), (vec)(most + most));
}

VEC_INLINE bool vec_is_zero(vec x)
{
	return !X86_SIGNS((vec8)x != 0);
}

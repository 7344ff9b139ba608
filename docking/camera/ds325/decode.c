// SPDX-License-Identifier: MIT OR GPL-2.0
/* The scalar reference, and the choice of the decoders that this machine can run. */
#include "decode.h"

void ds325_blocks_scalar(const struct ds325_decoder *decoder, const void *raw, size_t first, size_t count,
			 uint16_t *ranges)
{
	for (size_t pixel = 0; pixel < count * DS325_BLOCK; pixel++)
		ranges[pixel] = ds325_range(decoder, first * DS325_BLOCK + pixel, ds325_word(raw, pixel, 0),
					    ds325_word(raw, pixel, 1));
}

void ds325_planes_scalar(const struct ds325_decoder *decoder, const void *raw, size_t first, size_t count,
			 const struct ds325_planes *planes)
{
	for (size_t pixel = 0; pixel < count * DS325_BLOCK; pixel++) {
		size_t at = first * DS325_BLOCK + pixel;
		int16_t i = ds325_word(raw, pixel, 0), q = ds325_word(raw, pixel, 1);
		uint32_t power = ds325_power(i, q);

		planes->ranges[at] = ds325_range(decoder, at, i, q);
		planes->phases[at] = power < decoder->least_power || ds325_saturated(i, q) ? 0 : ds325_phase(i, q);
		planes->amplitudes[at] = ds325_amplitude(power);
	}
}

#ifndef __KERNEL__
#include <string.h>

/* The fastest last. */
static const struct ds325_method methods[] = {
	{ "scalar", ds325_blocks_scalar, ds325_planes_scalar },
#if defined(__x86_64__)
	{ "sse2", ds325_blocks_sse2, ds325_planes_sse2 },
	{ "avx2", ds325_blocks_avx2, ds325_planes_avx2 },
#elif defined(__aarch64__)
	{ "neon", ds325_blocks_neon, ds325_planes_neon },
#endif
};

static bool offered(const char *name)
{
#if defined(__x86_64__)
	if (!strcmp(name, "avx2"))
		return __builtin_cpu_supports("avx2");
#endif
	(void)name;
	return true; /* x86-64 always has SSE2, arm64 NEON */
}

const struct ds325_method *ds325_method(const char *name)
{
	for (size_t i = sizeof(methods) / sizeof(*methods); i--;)
		if ((!strcmp(name, methods[i].name) || !strcmp(name, "simd")) && offered(methods[i].name))
			return &methods[i];
	return NULL;
}

bool ds325_decode(const struct ds325_method *method, const struct ds325_decoder *decoder, const void *raw, size_t bytes,
		  uint16_t *ranges)
{
	if (bytes != DS325_FRAME_BYTES)
		return false;
	method->blocks(decoder, raw, 0, DS325_PIXELS / DS325_BLOCK, ranges);
	return true;
}
#endif

/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* From I and Q to ranges. All ways to decode give the same bits; they differ in how many instructions they take.
 * What the words and the camera frame mean: docs/docking/emulator.md. Nothing here allocates.
 */
#ifndef DS325_DECODE_H
#define DS325_DECODE_H

#include "decode_core.h"

enum ds325_geometry {
	DS325_RADIAL, /* along the pixel's ray */
	DS325_DEPTH, /* along the optical axis, as OpenNI and Z16 have it */
};

/* What is known of a camera. */
struct ds325_calibration {
	enum ds325_geometry geometry;
	uint32_t modulation_hz; /* 5 to 200 MHz */
	uint32_t confidence; /* counts, 1 to DS325_WORD_MOST: a pixel of less amplitude is not valid */
	int32_t offset_um; /* what the camera reads too much at 25 degrees Celsius, at most 1 m of either sign */
	int32_t drift_um_per_k;
	int32_t temperature_mc; /* thousandths of a degree Celsius */
	int32_t fx_upx, fy_upx, cx_upx, cy_upx; /* millionths of a pixel */
	int32_t k1_ppm, k2_ppm; /* radial distortion, millionths */
};

#define DS325_CALIBRATION_DEFAULT                     \
	{                                             \
		.geometry = DS325_RADIAL,             \
		.modulation_hz = DS325_MODULATION_HZ, \
		.confidence = DS325_CONFIDENCE_LEAST, \
		.temperature_mc = 25000,              \
		.fx_upx = DS325_FX_UPX,               \
		.fy_upx = DS325_FY_UPX,               \
		.cx_upx = DS325_CX_UPX,               \
		.cy_upx = DS325_CY_UPX,               \
	}

/* Ready a decoder; NULL, or what is wrong with the calibration. Some 10 ms with distortion, 2 without. */
const char *ds325_decoder_init(struct ds325_decoder *decoder, const struct ds325_calibration *calibration);
/* Follow the camera's temperature. Only the offset changes with it, and decoders read that once a frame. */
const char *ds325_decoder_set_temperature(struct ds325_decoder *decoder, const struct ds325_calibration *calibration);

/* Where pixel (u, v) looks: x / z and y / z in 1/2^24, distortion undone. False where that has no solution. */
bool ds325_ray(const struct ds325_calibration *calibration, unsigned int u, unsigned int v, int32_t *x, int32_t *y);

/*
 * Decode `count` blocks of 8 pixels, `raw` being where block `first` begins, `ranges` where its pixels go. Blocks may
 * come in any number and order: a driver decodes what has arrived, and bounds how long a vector unit is held.
 */
typedef void ds325_blocks(const struct ds325_decoder *decoder, const void *raw, size_t first, size_t count,
			  uint16_t *ranges);
ds325_blocks ds325_blocks_scalar, ds325_blocks_sse2, ds325_blocks_avx2, ds325_blocks_neon;

/* Everything a pixel holds, DS325_PIXELS of each: phase is 0 where not valid or saturated, amplitude is in counts. */
struct ds325_planes {
	uint16_t *ranges, *phases, *amplitudes;
};
typedef void ds325_planes_blocks(const struct ds325_decoder *decoder, const void *raw, size_t first, size_t count,
				 const struct ds325_planes *planes);
ds325_planes_blocks ds325_planes_scalar, ds325_planes_sse2, ds325_planes_avx2, ds325_planes_neon;

#ifndef __KERNEL__
struct ds325_method {
	const char *name;
	ds325_blocks *blocks;
	ds325_planes_blocks *planes;
};
/* The decoder called `name` ("scalar", "sse2", "avx2", "neon", or "simd": the fastest here); NULL if this machine
 * cannot run it. */
const struct ds325_method *ds325_method(const char *name);

/* Decode a frame; false, and no range written, unless it is DS325_FRAME_BYTES long. */
bool ds325_decode(const struct ds325_method *method, const struct ds325_decoder *decoder, const void *raw, size_t bytes,
		  uint16_t *ranges);
#endif

#endif

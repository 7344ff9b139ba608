// SPDX-License-Identifier: MIT OR GPL-2.0
/* Prepares a decoder from a calibration, once, before frames come. In integers, so that the kernel makes the same
 * tables. */
#include "decode.h"

enum {
	Q = 24, /* fractional bits of directions */
	REFERENCE_MC = 25000,
	SCALE_MOST = 65000, /* so that the rounding's half mm does not overflow 16 bits */
	SHIFT_MOST = 8,
	UNDISTORT_STEPS = 50,
};
#define ONE ((int64_t)1 << Q)
#define MILLION 1000000

/* mm: nanometres of range in a turn of the phase. */
static int64_t turn_nm(const struct ds325_calibration *calibration)
{
	return ds325_divide((int64_t)DS325_LIGHT_M_S * 500000000 + calibration->modulation_hz / 2,
			    calibration->modulation_hz);
}

static int64_t root(uint64_t value)
{
	uint64_t result = 0;

	for (uint64_t bit = (uint64_t)1 << 62; bit; bit >>= 2) {
		bool fits = value >= result + bit;

		value -= fits ? result + bit : 0;
		result = (result >> 1) + (fits ? bit : 0);
	}
	return (int64_t)result;
}

/* 1 + k1 r^2 + k2 r^4 */
static int64_t stretch(const struct ds325_calibration *calibration, int64_t x, int64_t y)
{
	int64_t r2 = (x * x + y * y) >> Q;

	return ONE + ds325_divide(calibration->k1_ppm * r2 + calibration->k2_ppm * (r2 * r2 >> Q), MILLION);
}

bool ds325_ray(const struct ds325_calibration *calibration, unsigned int u, unsigned int v, int32_t *x_out,
	       int32_t *y_out)
{
	int64_t measured_x = ds325_divide(((int64_t)u * MILLION - calibration->cx_upx) * ONE, calibration->fx_upx);
	int64_t measured_y = ds325_divide(((int64_t)v * MILLION - calibration->cy_upx) * ONE, calibration->fy_upx);
	int64_t x = measured_x, y = measured_y;
	int64_t moved = 0;

	if (calibration->k1_ppm || calibration->k2_ppm) {
		for (int step = 0; step < UNDISTORT_STEPS; step++) {
			int64_t by = stretch(calibration, x, y), last_x = x, last_y = y;

			if (by < ONE / 4 || by > ONE * 4)
				return false;
			x = ds325_divide(measured_x * ONE, by);
			y = ds325_divide(measured_y * ONE, by);
			moved = (x > last_x ? x - last_x : last_x - x) + (y > last_y ? y - last_y : last_y - y);
			if (moved <= 2)
				break;
		}
	}
	*x_out = (int32_t)x;
	*y_out = (int32_t)y;
	return moved <= ONE / 100000 && x > -4 * ONE && x < 4 * ONE && y > -4 * ONE && y < 4 * ONE;
}

static const char *complaint(const struct ds325_calibration *calibration)
{
	if (calibration->modulation_hz < 5000000 || calibration->modulation_hz > 200000000)
		return "the modulation frequency must be 5 to 200 MHz";
	if (calibration->confidence < 1 || calibration->confidence > DS325_WORD_MOST)
		return "the confidence threshold must be 1 to 2047 counts";
	if (calibration->fx_upx < 50 * MILLION || calibration->fy_upx < 50 * MILLION ||
	    calibration->fx_upx > 2000 * MILLION || calibration->fy_upx > 2000 * MILLION)
		return "the focal lengths must be 50 to 2000 pixels";
	if (calibration->cx_upx < 0 || calibration->cx_upx > DS325_WIDTH * MILLION || calibration->cy_upx < 0 ||
	    calibration->cy_upx > DS325_HEIGHT * MILLION)
		return "the optical centre must lie in the image";
	if (calibration->k1_ppm < -MILLION || calibration->k1_ppm > MILLION || calibration->k2_ppm < -MILLION ||
	    calibration->k2_ppm > MILLION)
		return "the distortion's coefficients must be -1 to 1";
	return NULL;
}

const char *ds325_decoder_set_temperature(struct ds325_decoder *decoder, const struct ds325_calibration *calibration)
{
	int64_t drift_um = ds325_divide(
		(int64_t)calibration->drift_um_per_k * ((int64_t)calibration->temperature_mc - REFERENCE_MC), 1000);
	int64_t off_um = calibration->offset_um + drift_um, turn;
	const char *wrong = complaint(calibration);

	if (wrong)
		return wrong;
	turn = turn_nm(calibration);
	if (off_um < -MILLION || off_um > MILLION)
		return "offset and drift together must be at most 1 m";
	decoder->offset = (uint16_t)ds325_divide(off_um * 1000 * 65536 + (off_um < 0 ? -turn : turn) / 2, turn);
	return NULL;
}

const char *ds325_decoder_init(struct ds325_decoder *decoder, const struct ds325_calibration *calibration)
{
	const char *wrong = ds325_decoder_set_temperature(decoder, calibration);
	int64_t turn, most_nm = (int64_t)SCALE_MOST * MILLION;

	if (wrong)
		return wrong;
	turn = turn_nm(calibration);
	decoder->least_power = calibration->confidence * calibration->confidence;
	decoder->dark = 0;
	while (2u * (decoder->dark + 1u) * (decoder->dark + 1u) < decoder->least_power)
		decoder->dark++;
	decoder->shift = 0;
	while (decoder->shift < SHIFT_MOST && turn << (decoder->shift + 1) <= most_nm)
		decoder->shift++;
	decoder->rounding = (uint16_t)(1u << decoder->shift >> 1);
	turn <<= decoder->shift;
	for (unsigned int v = 0; v < DS325_HEIGHT; v++) {
		for (unsigned int u = 0; u < DS325_WIDTH; u++) {
			int64_t nm = turn;
			int32_t x, y;

			if (!ds325_ray(calibration, u, v, &x, &y))
				return "the distortion is too strong to be undone";
			if (calibration->geometry == DS325_DEPTH)
				nm = ds325_divide(turn * ONE, root((uint64_t)(ONE * ONE) + (uint64_t)((int64_t)x * x) +
								   (uint64_t)((int64_t)y * y)));
			decoder->scale[v * DS325_WIDTH + u] = (uint16_t)ds325_divide(nm + MILLION / 2, MILLION);
		}
	}
	return NULL;
}

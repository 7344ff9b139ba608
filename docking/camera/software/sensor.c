// SPDX-License-Identifier: MIT
#include <math.h>
#include <stddef.h>

#include "bytes.h"
#include "random.h"
#include "sensor.h"

enum { SUBRAYS = 4 }; /* along each side of a pixel at an edge */

void sensor_default(struct sensor *sensor)
{
	*sensor = (struct sensor){
		.modulation_hz = DS325_MODULATION_HZ,
		.amplitude = 64, /* 32 counts at 1 m from albedo 0.5: 1,900 at 0.13 m, the nearest the approach comes */
		.noise_mm = 14,
		.read_noise = 0.5,
		.full_well = 4095,
		.temperature_c = 25,
		.warm_up_s = 300,
		.seed = 1,
	};
}

double sensor_temperature(const struct sensor *sensor, double time_s)
{
	return sensor->temperature_c + sensor->warm_up_k * (1 - exp(-time_s / sensor->warm_up_s));
}

/* Figures shared by all pixels of a frame. */
struct exposure {
	double radians_per_m;
	double offset_m;
	double fixed_variance, variance_per_count; /* of each word, before it is rounded */
	double sun, amplitude, full_well;
};

/* The variance of a word is read noise and shot noise, which grows with the light; rounding to a count adds 1/12. Shot
 * noise is chosen so that the total is `noise_mm` at 1 m: sigma_R = c / (4 pi f) sigma / A. */
static struct exposure expose(const struct sensor *sensor, double time_s)
{
	struct exposure exposure = {
		.radians_per_m = 4 * M_PI * sensor->modulation_hz / DS325_LIGHT_M_S,
		.offset_m = (sensor->offset_mm + sensor->drift_mm_per_k * (sensor_temperature(sensor, time_s) - 25)) /
			    1000,
		.sun = sensor->sun,
		.amplitude = sensor->amplitude,
		.full_well = sensor->full_well,
	};
	double reference = sensor->amplitude * 0.5;
	double sigma = reference * sensor->noise_mm / 1000 * exposure.radians_per_m;

	if (sensor->noise_mm > 0) {
		exposure.fixed_variance = sensor->read_noise * sensor->read_noise;
		exposure.variance_per_count = fmax(0, sigma * sigma - exposure.fixed_variance - 1.0 / 12) / reference;
	}
	return exposure;
}

/* Light as the sensor sums it: the two words before noise, and the amount of light. */
struct light {
	double i, q, amplitude;
};

static struct light seen(const struct exposure *exposure, const struct hit *hit)
{
	double amplitude, phase;

	if (!hit->surface)
		return (struct light){ 0, 0, 0 };
	amplitude = exposure->amplitude * hit->albedo * hit->cosine / (hit->range_m * hit->range_m);
	phase = (hit->range_m + exposure->offset_m) * exposure->radians_per_m;
	return (struct light){ amplitude * cos(phase), amplitude * sin(phase), amplitude };
}

/* At an edge a pixel sums the light of both sides: its range lies between them, or is meaningless ("flying pixel"). */
static struct light mixed(const struct exposure *exposure, const struct lens *lens, const struct view *view, int pixel)
{
	struct light sum = { 0, 0, 0 };

	for (int n = 0; n < SUBRAYS * SUBRAYS; n++) {
		double u = pixel % DS325_WIDTH + (n % SUBRAYS + 0.5) / SUBRAYS - 0.5;
		double v = pixel / DS325_WIDTH + (n / SUBRAYS + 0.5) / SUBRAYS - 0.5;
		struct hit hit = scene_cast(view, lens_direction(lens, u, v));
		struct light light = seen(exposure, &hit);

		sum.i += light.i / (SUBRAYS * SUBRAYS);
		sum.q += light.q / (SUBRAYS * SUBRAYS);
		sum.amplitude += light.amplitude / (SUBRAYS * SUBRAYS);
	}
	return sum;
}

static bool at_edge(const struct hit *hits, int pixel)
{
	int u = pixel % DS325_WIDTH, v = pixel / DS325_WIDTH, surface = hits[pixel].surface;

	return (u > 0 && hits[pixel - 1].surface != surface) ||
	       (u < DS325_WIDTH - 1 && hits[pixel + 1].surface != surface) ||
	       (v > 0 && hits[pixel - DS325_WIDTH].surface != surface) ||
	       (v < DS325_HEIGHT - 1 && hits[pixel + DS325_WIDTH].surface != surface);
}

static uint32_t word(double value)
{
	double rounded = floor(value + 0.5);

	return (uint32_t)(int)fmax(-DS325_WORD_MOST, fmin(DS325_WORD_MOST, rounded));
}

void sensor_frame(const struct sensor *sensor, const struct lens *lens, const struct scene *scene, double time_s,
		  uint64_t number, struct hit *hits, uint8_t *out, float *ranges)
{
	struct exposure exposure = expose(sensor, time_s);
	struct view view = scene_view(scene, time_s);
	struct random random;

	random_seed(&random, sensor->seed, number);
	for (int pixel = 0; pixel < DS325_PIXELS; pixel++) {
		hits[pixel] = scene_cast(&view, lens->directions[pixel]);
		if (ranges)
			ranges[pixel] = hits[pixel].surface ? (float)hits[pixel].range_m : 0;
	}
	for (int pixel = 0; pixel < DS325_PIXELS; pixel++) {
		uint8_t *at = out + pixel / DS325_BLOCK * DS325_BLOCK_BYTES + pixel % DS325_BLOCK * 2;
		struct light light = at_edge(hits, pixel) ? mixed(&exposure, lens, &view, pixel) :
							    seen(&exposure, hits + pixel);
		double normal[2] = { 0, 0 }, sigma;

		if (sensor->noise_mm > 0)
			random_normal(&random, normal);
		sigma = sqrt(exposure.fixed_variance + exposure.variance_per_count * (light.amplitude + exposure.sun));
		if (light.amplitude + exposure.sun > exposure.full_well) /* both words clipped: the phase is lost */
			light = (struct light){ 1e6, 1e6, 0 };
		put_le16(at, word(light.i + sigma * normal[0]));
		put_le16(at + DS325_BLOCK * 2, word(light.q + sigma * normal[1]));
	}
}

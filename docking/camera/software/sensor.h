/* SPDX-License-Identifier: MIT */
/* Makes a pixel's words I and Q from what it sees: amplitude, phase, noise, saturation (docs/docking/emulator.md). */
#ifndef EMULATOR_SENSOR_H
#define EMULATOR_SENSOR_H

#include <stdint.h>

#include "lens.h"
#include "scene.h"

struct sensor {
	double modulation_hz;
	double amplitude;       /* amplitude in counts of a white surface (albedo 1) at 1 m, seen straight on */
	double noise_mm; /* standard deviation of a range at 1 m, albedo 0.5, straight on; 0: no noise at all */
	double read_noise; /* standard deviation in counts, of each word */
	double sun; /* constant light, in counts of amplitude: adds shot noise, takes from the full well */
	double full_well; /* counts of amplitude and sun together */
	double offset_mm;
	double drift_mm_per_k; /* against 25 degrees C */
	double temperature_c, warm_up_k, warm_up_s; /* rises by warm_up_k, with this time constant */
	uint64_t seed;
};

void sensor_default(struct sensor *sensor);
double sensor_temperature(const struct sensor *sensor, double time_s);
/* One frame of I and Q at `time_s` into `out` (DS325_FRAME_BYTES); `ranges` (DS325_PIXELS) is the truth, or NULL.
 * `hits` is room for DS325_PIXELS. */
void sensor_frame(const struct sensor *sensor, const struct lens *lens, const struct scene *scene, double time_s,
		  uint64_t number, struct hit *hits, uint8_t *out, float *ranges);

#endif

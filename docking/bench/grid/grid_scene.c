// SPDX-License-Identifier: MIT
#include <stdlib.h>

#include "camera/software/random.h"
#include "camera/software/sensor.h"
#include "grid_scene.h"

struct flight {
	struct scene scene;
	struct sensor sensor;
	struct lens lens;
	double step_s, loss;
	struct hit hits[DS325_PIXELS];
};

struct flight *flight_new(void)
{
	struct flight *flight = calloc(1, sizeof(*flight));

	if (flight)
		lens_make(&flight->lens);
	return flight;
}

static bool numbers(FILE *file, double *out, int count)
{
	for (int i = 0; i < count; i++)
		if (fscanf(file, "%lf", out + i) != 1)
			return false;
	return true;
}

bool flight_read(struct flight *flight, FILE *file, int *frames, double *step_s)
{
	double v[13], end[7];
	struct scene *scene = &flight->scene;

	/* frames, step, seed, sun, albedo, wall, wall's albedo, offset, drift, temperature, loss, time of moving, clutter */
	if (!numbers(file, v, 13))
		return false;
	scene_default(scene);
	sensor_default(&flight->sensor);
	*frames = (int)v[0];
	*step_s = flight->step_s = v[1];
	flight->sensor.seed = (uint64_t)v[2];
	flight->sensor.sun = v[3];
	scene->albedo = v[4];
	scene->wall_z_m = v[5];
	scene->wall_albedo = v[6];
	flight->sensor.offset_mm = v[7];
	flight->sensor.drift_mm_per_k = v[8];
	flight->sensor.temperature_c = v[9];
	flight->sensor.warm_up_k = 5;
	flight->loss = v[10];
	scene->waypoint_count = 2;
	for (int k = 0; k < 2; k++) {
		if (!numbers(file, end, 7))
			return false;
		scene->waypoints[k] = (struct waypoint){
			k * v[11], { { end[0], end[1], end[2] }, { end[3], end[4], end[5], end[6] } }
		};
	}
	scene->clutter_count = (int)v[12];
	if (scene->clutter_count > CLUTTER)
		return false;
	for (int k = 0; k < scene->clutter_count; k++) {
		if (!numbers(file, end, 6))
			return false;
		scene->clutter[k] = (struct box){ { end[0], end[1], end[2] }, { end[3], end[4], end[5] } };
	}
	return true;
}

bool flight_frame(struct flight *flight, int number, uint8_t raw[DS325_FRAME_BYTES], struct truth *truth)
{
	double time_s = number * flight->step_s;
	struct pose pose = scene_pose(&flight->scene, time_s);
	struct random random;

	*truth = (struct truth){ { pose.position.x, pose.position.y, pose.position.z },
				 { pose.attitude.w, pose.attitude.x, pose.attitude.y, pose.attitude.z } };
	random_seed(&random, ~flight->sensor.seed, (uint64_t)number);
	if ((double)(random_next(&random) >> 11) * 0x1p-53 < flight->loss)
		return false;
	sensor_frame(&flight->sensor, &flight->lens, &flight->scene, time_s, (uint64_t)number, flight->hits, raw, NULL);
	return true;
}

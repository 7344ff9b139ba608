// SPDX-License-Identifier: MIT
#include <math.h>

#include "cw.h"

struct relative cw_coast(const struct relative *from, double n, double s)
{
	const double sine = sin(n * s), cosine = cos(n * s);
	const double x = from->position[RADIAL], y = from->position[ALONG], z = from->position[CROSS];
	const double vx = from->velocity[RADIAL], vy = from->velocity[ALONG], vz = from->velocity[CROSS];

	return (struct relative){
		.position = {
			(4 - 3 * cosine) * x + sine / n * vx + 2 / n * (1 - cosine) * vy,
			6 * (sine - n * s) * x + y - 2 / n * (1 - cosine) * vx + (4 * sine / n - 3 * s) * vy,
			cosine * z + sine / n * vz,
		},
		.velocity = {
			3 * n * sine * x + cosine * vx + 2 * sine * vy,
			-6 * n * (1 - cosine) * x - 2 * sine * vx + (4 * cosine - 3) * vy,
			-n * sine * z + cosine * vz,
		},
	};
}

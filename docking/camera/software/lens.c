// SPDX-License-Identifier: MIT
#include <math.h>

#include "lens.h"

struct vector lens_direction(const struct lens *lens, double u, double v)
{
	double seen_x = (u - DS325_CX_UPX * 1e-6) / (DS325_FX_UPX * 1e-6);
	double seen_y = (v - DS325_CY_UPX * 1e-6) / (DS325_FY_UPX * 1e-6);
	double x = seen_x, y = seen_y, length;

	/* The model distorts the straight ray into the seen ray; its inverse is computed by fixed-point iteration. */
	for (int i = 0; i < 100 && (lens->k1 != 0 || lens->k2 != 0); i++) {
		double r2 = x * x + y * y;
		double factor = 1 + lens->k1 * r2 + lens->k2 * r2 * r2;
		double step = fabs(seen_x / factor - x) + fabs(seen_y / factor - y);

		x = seen_x / factor;
		y = seen_y / factor;
		if (step < 1e-12)
			break;
	}
	length = sqrt(x * x + y * y + 1);
	return (struct vector){ x / length, y / length, 1 / length };
}

void lens_make(struct lens *lens)
{
	for (int pixel = 0; pixel < DS325_PIXELS; pixel++)
		lens->directions[pixel] = lens_direction(lens, pixel % DS325_WIDTH, pixel / DS325_WIDTH);
}

// SPDX-License-Identifier: MIT
/* A line "N S STEPS X Y Z VX VY VZ": the state after S seconds in so many steps, at the orbit's rate N. */
#include <stdio.h>

#include "chaser/cw.h"

int main(void)
{
	double n, s, *p, *v;
	struct relative state;
	int steps;

	p = state.position;
	v = state.velocity;
	while (scanf("%lf %lf %d %lf %lf %lf %lf %lf %lf", &n, &s, &steps, p, p + 1, p + 2, v, v + 1, v + 2) == 9) {
		for (int one = 0; one < steps; one++)
			state = cw_coast(&state, n, s / steps);
		printf("%.17g %.17g %.17g %.17g %.17g %.17g\n", p[0], p[1], p[2], v[0], v[1], v[2]);
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Motion relative to a target on a circular orbit, by Clohessy and Wiltshire (1960), solved in closed form. */
#ifndef DOCKING_CW_H
#define DOCKING_CW_H

enum { RADIAL, ALONG, CROSS }; /* outwards, along the flight, along the orbit's normal */

struct relative {
	double position[3], velocity[3]; /* m and m/s, in the target's local frame, which turns with the orbit */
};

/* The state after `s` seconds without thrust; `n`: the orbit's rate in rad/s, above 0. */
struct relative cw_coast(const struct relative *from, double n, double s);

#endif

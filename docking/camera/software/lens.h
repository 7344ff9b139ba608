/* SPDX-License-Identifier: MIT */
/* The direction of each pixel: 74 x 58 degrees, with radial distortion (Brown 1966) if asked for. */
#ifndef EMULATOR_LENS_H
#define EMULATOR_LENS_H

#include "ds325/format.h"
#include "pose.h"

struct lens {
	double k1, k2;
	struct vector directions[DS325_PIXELS]; /* unit vectors through the pixels' centres */
};

/* Fills `directions` from k1 and k2. */
void lens_make(struct lens *lens);
/* The same for any point of the image, in pixels. */
struct vector lens_direction(const struct lens *lens, double u, double v);

#endif

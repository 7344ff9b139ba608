/* SPDX-License-Identifier: MIT */
/* The frames the camera has to send, made or read before it is plugged in, and the truth about them. */
#ifndef EMULATOR_FRAMES_H
#define EMULATOR_FRAMES_H

#include <stdint.h>

#include "ds325/format.h"
#include "lens.h"
#include "live.h"
#include "pose.h"

struct truth {
	uint64_t sequence;
	double time_s;
	struct pose pose;
	double temperature_c;
};

/* A ring: frame n of a stream is frame n % count here. */
struct frames {
	uint32_t count;
	const uint8_t *iq;       /* NULL: a recording of Z16, which cannot be turned back into I and Q */
	struct live *live;       /* in place of both: frames are made when they are due */
	const uint8_t *z16;      /* made beforehand; NULL: made when sent, which takes 76,800 arctangents */
	unsigned int confidence; /* used to make z16 */
	double modulation_hz;
	const struct lens *lens;
	uint8_t *scratch;        /* room for one frame, where it has to be changed before it is sent */
};

/* Depths of a frame of I and Q, as the camera's Z16 has them. `out` may be `in`. */
void frames_to_z16(uint8_t *out, const uint8_t *in, const struct lens *lens, unsigned int confidence,
		   double modulation_hz);
/* The bytes of a frame in a format (DS325_FORMAT_*), with the amplitude scaled to `gain` per cent, exposed at `now_ns` if
 * it is live. They stay until the next call. */
const uint8_t *frames_get(const struct frames *frames, uint64_t sequence, unsigned int format, unsigned int gain,
			  unsigned int confidence, uint64_t now_ns);

#endif

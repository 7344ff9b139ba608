/* SPDX-License-Identifier: MIT */
/* What the published open driver (openni2ds325) does with a frame, rebuilt from a description of its behaviour. Each
 * waste has a switch of its own, so that a run shows what it costs. Its ranges are not those of decode.h: it sorts the
 * words' upper bytes into classes. docs/docking/lidar.md describes both.
 */
#ifndef DS325_BASELINE_H
#define DS325_BASELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "ds325/decode.h"

enum ds325_baseline_switch {
	DS325_BASELINE_DECODE = 1 << 0, /* word by word, with branches; else by the library's decoder */
	DS325_BASELINE_CLEAR = 1 << 1, /* the frame handed out is set to 0 before it is filled */
	DS325_BASELINE_COPY = 1 << 2, /* decoded elsewhere and copied there */
	DS325_BASELINE_SLEEP = 1 << 3, /* 33 ms after every frame */
	DS325_BASELINE_COMMAND = 1 << 4, /* before each of the first 82 frames, a command to the extension unit */
	DS325_BASELINE_STAMP = 1 << 5, /* frame n is stamped n * 33000 us */
	DS325_BASELINE_ALL = (1 << 6) - 1,
};

enum {
	DS325_BASELINE_COMMANDS = 82,
	DS325_BASELINE_SLEEP_NS = 33000000,
	DS325_BASELINE_STAMP_US = 33000,
	DS325_BASELINE_UNREAD = DS325_BLOCK, /* pixels at a frame's end that are never decoded */
};

struct ds325_baseline {
	unsigned int switches;
	bool contour; /* the upper byte of Q is the number of a contour */
	const struct ds325_method *method; /* without DS325_BASELINE_DECODE */
	const struct ds325_decoder *decoder;
	uint16_t depth[DS325_PIXELS];
	uint8_t infrared[DS325_PIXELS * 3]; /* red, green, blue; green and blue are 0 */
};

/* The names of the switches, joined by commas: "all", "none" or "decode,clear,copy,sleep,command,stamp"; -1 if wrong. */
int ds325_baseline_switches(const char *text);
/* Turns a frame of DS325_FRAME_BYTES into what is handed to the application. Returns how often ranges were copied. */
unsigned int ds325_baseline_frame(struct ds325_baseline *baseline, const void *raw, uint16_t *out);

#endif

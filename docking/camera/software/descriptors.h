/* SPDX-License-Identifier: MIT */
/* What the camera says it is: USB 2.0 or 3.0, UVC 1.1, one control and one streaming interface. */
#ifndef EMULATOR_DESCRIPTORS_H
#define EMULATOR_DESCRIPTORS_H

#include <stdint.h>

enum speed { SPEED_HIGH, SPEED_SUPER };

/* Descriptors as a broken or hostile device would send them. */
enum wrong {
	WRONG_NOTHING,
	WRONG_TRUNCATED,    /* the configuration ends in the middle of the streaming interface's descriptors */
	WRONG_TOTAL,        /* wTotalLength says more than there is */
	WRONG_ZERO_LENGTH,  /* a class descriptor says it is 0 bytes long */
	WRONG_LENGTH,       /* a frame descriptor says it is longer than the rest */
	WRONG_INTERVALS,    /* a frame descriptor announces 255 frame intervals and holds 4 */
	WRONG_INTERVAL,     /* all frame intervals are 0 */
	WRONG_SIZE,         /* a frame of 65535 x 65535 pixels */
	WRONG_FORMAT,       /* the format's GUID belongs to no format */
	WRONG_NO_FORMAT,    /* no format at all */
	WRONG_NO_ENDPOINT,  /* no bulk endpoint */
	WRONG_ENDPOINT,     /* the endpoint is isochronous, of 0 bytes */
	WRONG_NO_UNIT,      /* no extension unit, though the terminals say so */
	WRONG_LOOP,         /* the extension unit is its own source */
	WRONG_CLASS,        /* the interfaces are vendor-specific */
	WRONG_KINDS
};

extern const char *const wrong_names[WRONG_KINDS + 1]; /* the last is NULL */

/* In units of 100 ns, ascending: 60, 50, 30 and 25 frames/s. */
enum { INTERVALS = 4 };
extern const uint32_t frame_intervals[INTERVALS];

struct descriptors {
	uint8_t device[18];
	uint8_t qualifier[10]; /* high speed: the descriptor for full speed */
	uint8_t bos[22];
	uint8_t configuration[512];
	uint32_t device_size, qualifier_size, bos_size, configuration_size;
};

void descriptors_make(struct descriptors *all, enum speed speed, enum wrong wrong);
/* String descriptor `index`; returns its length, 0 if there is none. */
uint32_t descriptors_string(unsigned int index, uint8_t out[256]);

#endif

/* SPDX-License-Identifier: MIT */
/* The camera's control endpoint: standard requests, UVC's PROBE and COMMIT, the extension unit. No input, no output. */
#ifndef EMULATOR_CAMERA_H
#define EMULATOR_CAMERA_H

#include <stdbool.h>
#include <stdint.h>

#include "ds325/format.h"
#include "descriptors.h"

enum { PROBE_BYTES = 34, CONTROL_MOST = 4096 };

/* The unit's control reads and writes 16-bit registers. The real camera's are not documented: what the baseline driver
 * writes is kept and read back. These four, which it leaves alone, are the emulator's own. */
enum camera_register {
	REGISTER_MODE = 0x50, /* 0 close range; 1 long range: four times the exposure */
	REGISTER_CONFIDENCE = 0x51, /* least amplitude in counts of a valid Z16 pixel */
	REGISTER_EXPOSURE = 0x52, /* exposure and illumination, per cent */
	REGISTER_RATE = 0x53, /* frames/s: 25, 30, 50 or 60; 0: as committed */
	REGISTERS = 0x100
};

struct camera {
	struct descriptors descriptors;
	uint8_t probe[PROBE_BYTES], committed[PROBE_BYTES];
	uint8_t request[DS325_CONTROL_BYTES]; /* the unit's last SET_CUR */
	uint16_t registers[REGISTERS];
	uint8_t configuration;
	uint8_t error; /* UVC's request error code */
	bool streaming; /* from COMMIT until CLEAR_HALT, SET_INTERFACE or SET_CONFIGURATION */
	bool halted; /* the bulk endpoint: until CLEAR_HALT */
	uint64_t requests; /* of the control endpoint */
	uint64_t unit_requests;
};

void camera_start(struct camera *camera, enum speed speed, enum wrong wrong, unsigned int confidence);
/* Answers a control request. `data` has room for CONTROL_MOST bytes, of which `length` go in or out as the setup packet
 * says. Returns how many bytes came or went, or -EPIPE if the request is refused. */
int camera_control(struct camera *camera, const uint8_t setup[8], uint8_t *data, uint32_t length);

unsigned int camera_format(const struct camera *camera);
uint32_t camera_frame_bytes(const struct camera *camera);
uint64_t camera_interval_ns(const struct camera *camera);
/* Amplitude in per cent of that of the rendered scene. */
unsigned int camera_gain(const struct camera *camera);

#endif

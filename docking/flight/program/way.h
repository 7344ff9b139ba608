/* SPDX-License-Identifier: MIT */
/*
 * How the camera's frames come into the program: by the kernel's uvcvideo, or by the camera's own driver. The camera's
 * thread has modes, faults and poses (camera.c) and calls a way for all that differs; what each needs is its own.
 */
#ifndef FLIGHT_WAY_H
#define FLIGHT_WAY_H

#include "ds325/decode.h"
#include "flight/capture.h"
#include "packets.h"

/* A frame that has come. `bytes` are what TAKE_FRAME keeps of it. */
struct picture {
	const void *bytes;
	size_t octets; /* at most DS325_FRAME_BYTES */
	uint64_t time_ns; /* the sensor's, as near as is known; rising */
	uint64_t ended_ns; /* when its last byte had come: latencies and ages count from here */
};

struct way {
	const char *device; /* where --device names none */
	bool amplitudes; /* are they known, or ranges alone? */

	void (*ready)(const char *device); /* before threads run; dies with what is wrong */
	/* Confidence and calibration, from the next frame on. False: they cannot be had. */
	bool (*calibrate)(const int32_t parameter[PARAMETER_COUNT]);
	/* At this rate, and with this exposure in per cent, also when the camera was away; -1: left alone. */
	bool (*open)(int32_t rate, int32_t exposure);
	void (*close)(void);
	/* Until release() the picture stays as it is, or decode() says that it did not. */
	enum ds325_event (*next)(int timeout_ms, struct picture *picture);
	bool (*decode)(struct picture *picture, const struct ds325_planes *planes);
	bool (*release)(void);
	/* Frames since it was opened that are missing, and those of them that came damaged. */
	void (*count)(uint64_t *lost, uint32_t *refused);
};

extern const struct way way_uvcvideo, way_driver;

#endif

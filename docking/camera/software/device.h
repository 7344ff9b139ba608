/* SPDX-License-Identifier: MIT */
/* The camera as a USB device: URBs in, answers out, frames when they are due. Knows of no socket: `send` is given. */
#ifndef EMULATOR_DEVICE_H
#define EMULATOR_DEVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "camera.h"
#include "faults.h"
#include "frames.h"
#include "log.h"

enum { URBS = 256 }; /* bulk transfers a host may have waiting; uvcvideo has 5 */

struct settings {
	enum speed speed;
	enum wrong wrong;
	unsigned int confidence;
	bool unthrottled; /* send as fast as the host takes frames */
	bool stamp;
	uint32_t bus_mb_s; /* what the bus carries, in 10^6 bytes a second; 0: a frame at once */
	uint32_t line_rate; /* lines that the sensor reads out in a second; 0: all at once */
	uint64_t count; /* frames to send, 0: without end */
};

struct urb {
	uint32_t number, length;
};

/* A frame being sent: UVC's header, then the frame's bytes, of which the last may be replaced by the stamp. */
struct transfer {
	bool active;
	uint8_t header[DS325_PAYLOAD_HEADER];
	const uint8_t *body;
	uint32_t body_bytes;
	struct ds325_stamp stamp;
	uint32_t stamp_bytes; /* 0, or the size of the stamp */
	uint32_t sent;        /* bytes sent so far */
	uint32_t cut_at;      /* unplugged here; 0: never */
	uint64_t not_before_ns;
	uint64_t readout_ns;  /* when its first line begins to be read out */
	bool ends_open;       /* its last URB was full: the host needs an empty one to see the end */
	struct log_entry entry;
};

struct device {
	const struct settings *settings;
	const struct frames *frames;
	struct faults *faults;
	struct log *log;
	struct camera camera;
	struct urb waiting[URBS];
	unsigned int first, count;
	struct transfer transfer;
	bool running;     /* the stream was on at the last look */
	uint64_t due_ns;  /* of the next frame */
	uint8_t frame_id; /* UVC's toggling bit */
	uint8_t *scratch; /* room for a frame that is sent corrupted */
	int (*send)(void *with, const struct iovec *parts, int count); /* sends all of it, or returns -errno */
	void *with;
	bool leaving;     /* no more frames begin */
	bool gone;        /* sending failed */
	bool unplugged;
	uint32_t replug_ms;
	const char *why;  /* why a request ended the connection */
};

/* A new connection: nothing waits, nothing streams. The frames' sequence number, which is in the log, goes on. */
void device_plug(struct device *device);
/* Takes whole requests from the start of `bytes`. Returns how many bytes it took, or -errno: the connection is over. */
int device_receive(struct device *device, const uint8_t *bytes, uint32_t size);
/* Sends what is due at `now_ns` (CLOCK_MONOTONIC). Returns when to call again at the latest; UINT64_MAX: only when the
 * host asks. `clock` gives the time for stamps. */
uint64_t device_pump(struct device *device, uint64_t now_ns, uint64_t (*clock)(void));

#endif

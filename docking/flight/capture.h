/* SPDX-License-Identifier: MIT */
/* Frames from a V4L2 device in the camera's own framing. Memory is taken in ds325_capture_open(); afterwards only a
 * camera that was unplugged and came back has its driver's buffers mapped anew.
 */
#ifndef DS325_CAPTURE_H
#define DS325_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ds325/format.h"

enum ds325_io {
	DS325_READ, /* read(), where the driver offers it: one copy more, without the driver's time and number */
	DS325_MMAP, /* the driver's buffers, mapped */
	DS325_USERPTR, /* ours, which the driver fills */
	DS325_DMABUF, /* the driver's, exported as dma-bufs and mapped through these */
};

enum {
	DS325_BUFFERS_MOST = 8,
	DS325_LOSSES_MOST = 1024, /* kept one by one; beyond that only counted */
	DS325_FRAME_ROOM = 80 * 4096, /* room for a frame, in whole pages and with space for a frame that is too long */
};

enum ds325_event {
	DS325_FRAME, /* a frame; give it back by ds325_capture_release() */
	DS325_REFUSED, /* a frame came that was not whole: counted, given back */
	DS325_TIMEOUT, /* no frame came in the time given */
	DS325_GONE, /* the camera was unplugged; the next call waits for it to come back */
	DS325_BACK, /* it came back and streams */
	DS325_FAILED, /* anything else: capture->why */
};

struct ds325_frame {
	const uint8_t *raw; /* DS325_FRAME_BYTES */
	uint32_t number; /* the driver's number: a gap is a loss */
	uint64_t time_ns; /* CLOCK_MONOTONIC: the driver's stamp; of read() when it returned */
	uint64_t stamped_ns; /* the end of the frame by the emulator's stamp; 0 without a stamp */
	uint32_t stamped_number; /* the emulator's own count; 0 without a stamp */
	uint32_t index; /* of its buffer */
};

struct ds325_loss {
	uint32_t first, count; /* numbers of lost frames; `count` 0: frame `first` came and was refused */
	uint32_t bytes; /* how many bytes a refused frame had */
	bool by_stamp; /* the numbers are the emulator's: the driver saw no gap */
	bool estimated; /* estimated from the length of a silence; `first` continues the driver's numbers */
};

struct ds325_capture {
	char device[128];
	char card[32]; /* identifies the camera when it comes back as another device */
	enum ds325_io io;
	uint32_t buffers_wanted, rate; /* frames/s; 0: unchanged */
	int fd;
	uint32_t buffers;
	struct {
		uint8_t *start;
		size_t bytes;
		int dmabuf;
	} buffer[DS325_BUFFERS_MOST];
	uint8_t *own; /* for DS325_READ and DS325_USERPTR */
	bool numbered, stamped; /* has a frame been seen on this connection; has a stamp, on any? */
	uint32_t last_number, last_stamp;
	uint64_t interval_ns; /* between two frames by the driver; 0 if unknown */
	bool interrupted; /* since the last good frame the camera was unplugged or its endpoint stalled */
	uint64_t last_time_ns; /* the last good frame's time, */
	uint32_t last_good; /* its number, */
	uint64_t known_at_good; /* and the sum of lost, lost_unseen and refused then */
	uint64_t known_at_stamp; /* the sum of lost and refused when the last stamp was read */

	uint64_t frames, lost, refused, lost_unseen; /* lost_unseen: gaps in the stamps, not in the driver's numbers */
	uint64_t lost_estimated; /* further frames lost to silence, estimated by time; at least one an interruption */
	uint32_t disconnections;
	struct ds325_loss losses[DS325_LOSSES_MOST];
	uint32_t loss_count;
	char why[256];
};

/* Open, set the format, start streaming; false with capture->why. The caller sets the fields from device to rate except
 * card; all others are 0. */
bool ds325_capture_open(struct ds325_capture *capture);
enum ds325_event ds325_capture_next(struct ds325_capture *capture, int timeout_ms, struct ds325_frame *frame);
/* False with capture->why. If the camera has gone meanwhile, the next ds325_capture_next() reports it. */
bool ds325_capture_release(struct ds325_capture *capture, const struct ds325_frame *frame);
void ds325_capture_close(struct ds325_capture *capture);

/* Sets or gets the 7 bytes of a command to the extension unit. */
bool ds325_capture_command(struct ds325_capture *capture, bool get, uint8_t bytes[DS325_CONTROL_BYTES]);

/* capture_open.c, for capture.c: start on a device that is there; let go of a device that has gone. */
bool ds325_capture_start(struct ds325_capture *capture);
void ds325_capture_stop(struct ds325_capture *capture);
bool ds325_capture_fail(struct ds325_capture *capture, const char *what, int error);
int ds325_ioctl(int fd, unsigned long request, void *argument);

#endif

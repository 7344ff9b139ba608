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
	DS325_READ, /* read(), where the driver offers it: one copy more, and neither its time nor its number */
	DS325_MMAP, /* the driver's buffers, mapped */
	DS325_USERPTR, /* ours, which the driver fills */
	DS325_DMABUF, /* the driver's, exported as dma-bufs and mapped through these */
};

enum {
	DS325_BUFFERS_MOST = 8,
	DS325_LOSSES_MOST = 1024, /* kept one by one; all are counted */
	DS325_FRAME_ROOM = 80 * 4096, /* room for a frame, in whole pages with room for a long one */
};

enum ds325_event {
	DS325_FRAME, /* here it is; give it back by ds325_capture_release() */
	DS325_REFUSED, /* one came and was not a whole frame: counted, given back */
	DS325_TIMEOUT, /* none came in the time given */
	DS325_GONE, /* the camera was unplugged; the next call waits for it to come back */
	DS325_BACK, /* it came back and streams */
	DS325_FAILED, /* anything else: capture->why */
};

struct ds325_frame {
	const uint8_t *raw; /* DS325_FRAME_BYTES */
	uint32_t number; /* the driver's: a gap is a loss */
	uint64_t time_ns; /* CLOCK_MONOTONIC: the driver's stamp; of read() when it returned */
	uint64_t stamped_ns; /* the end of the frame by the emulator's stamp; 0 without */
	uint32_t stamped_number; /* and the emulator's own count; 0 without */
	uint32_t index; /* of its buffer */
};

struct ds325_loss {
	uint32_t first, count; /* numbers of lost frames; `count` 0: frame `first` came and was refused */
	uint32_t bytes; /* how many a refused frame had */
	bool by_stamp; /* numbers are the emulator's: the driver saw no gap */
	bool estimated; /* by time, a silence; `first` is as the driver would have numbered on */
};

struct ds325_capture {
	char device[128];
	char card[32]; /* by which it is known when it comes back under another name */
	enum ds325_io io;
	uint32_t buffers_wanted, rate; /* frames/s; 0 leaves the rate */
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
	uint64_t interval_ns; /* between two frames, as the driver says; 0 where it does not */
	bool interrupted; /* since the last good frame the camera went, or its endpoint stalled */
	uint64_t last_time_ns; /* that frame's, */
	uint32_t last_good; /* its number, */
	uint64_t known_at_good; /* and lost_unseen, lost and refused then */
	uint64_t known_at_stamp; /* lost and refused when the last stamp was read */

	uint64_t frames, lost, refused, lost_unseen; /* the last: gaps in the stamp that the driver did not number */
	uint64_t lost_estimated; /* frames that silence cost beside these, by time; of an interruption at least one */
	uint32_t disconnections;
	struct ds325_loss losses[DS325_LOSSES_MOST];
	uint32_t loss_count;
	char why[256];
};

/* Open, set the format, start streaming; false with capture->why. The fields from device to rate but card are set by
 * the caller, all others 0. */
bool ds325_capture_open(struct ds325_capture *capture);
enum ds325_event ds325_capture_next(struct ds325_capture *capture, int timeout_ms, struct ds325_frame *frame);
/* False with capture->why; a camera that has gone meanwhile is told by the next ds325_capture_next(). */
bool ds325_capture_release(struct ds325_capture *capture, const struct ds325_frame *frame);
void ds325_capture_close(struct ds325_capture *capture);

/* A command to the extension unit: its 7 bytes set, or got. */
bool ds325_capture_command(struct ds325_capture *capture, bool get, uint8_t bytes[DS325_CONTROL_BYTES]);

/* capture_open.c, for capture.c: start on a device that is there; let go of one that is not. */
bool ds325_capture_start(struct ds325_capture *capture);
void ds325_capture_stop(struct ds325_capture *capture);
bool ds325_capture_fail(struct ds325_capture *capture, const char *what, int error);
int ds325_ioctl(int fd, unsigned long request, void *argument);

#endif

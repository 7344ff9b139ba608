// SPDX-License-Identifier: MIT
/* Takes frame after frame, whatever the camera does. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/dma-buf.h>
#include <linux/videodev2.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "capture.h"

enum {
	RETRY_NS = 5000000, /* how long to wait before looking again for a camera that has gone */
	DEVICES = 64, /* /dev/video0 ... that are looked at */
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void note(struct ds325_capture *capture, struct ds325_loss loss)
{
	if (capture->loss_count < DS325_LOSSES_MOST)
		capture->losses[capture->loss_count] = loss;
	capture->loss_count++;
}

/* The driver counts the frames that it saw begin; it does not know the emulator's own count. */
static void number(struct ds325_capture *capture, uint32_t number)
{
	uint32_t gap = capture->numbered ? number - capture->last_number - 1 : 0;

	if (gap && gap < 1u << 31) {
		capture->lost += gap;
		note(capture, (struct ds325_loss){ .first = capture->last_number + 1, .count = gap });
	}
	capture->numbered = true;
	capture->last_number = number;
}

static void read_stamp(struct ds325_capture *capture, struct ds325_frame *frame)
{
	/* Frames lost or refused since the last good one, as the driver numbered them. */
	const uint64_t known = capture->lost + capture->refused - capture->known_at_stamp;
	struct ds325_stamp stamp;
	uint32_t gap;

	memcpy(&stamp, frame->raw + DS325_FRAME_BYTES - sizeof(stamp), sizeof(stamp));
	frame->stamped_ns = frame->stamped_number = 0;
	if (stamp.magic != DS325_STAMP_MAGIC)
		return;
	frame->stamped_ns = stamp.sent_ns;
	frame->stamped_number = stamp.sequence;
	gap = capture->stamped ? stamp.sequence - capture->last_stamp - 1 : 0;
	if (gap < 1u << 31 && gap > known) {
		capture->lost_unseen += gap - known;
		note(capture, (struct ds325_loss){ .first = capture->last_stamp + 1, .count = gap, .by_stamp = true });
	}
	capture->stamped = true;
	capture->last_stamp = stamp.sequence;
	capture->known_at_stamp = capture->lost + capture->refused;
}

/*
 * Counts the frames that a silence cost. A camera sends no numbers, and the driver's numbers end with a connection, so
 * they are estimated by time: the number of intervals without a frame, and after an interruption at least the frame in
 * flight. What gaps or stamps have counted is not counted again; while stamps come, only interruptions are estimated.
 * `frame` is a good frame, NULL if no more came.
 */
static void settle(struct ds325_capture *capture, const struct ds325_frame *frame)
{
	const uint64_t known = capture->lost + capture->lost_unseen + capture->refused;
	const uint64_t counted = known - capture->known_at_good;
	const bool by_time = frame && capture->interval_ns && capture->last_time_ns &&
			     frame->time_ns > capture->last_time_ns;
	uint64_t missing = capture->interrupted;

	if (by_time && (capture->interrupted || !frame->stamped_ns)) {
		uint64_t intervals = (frame->time_ns - capture->last_time_ns + capture->interval_ns / 2) /
				     capture->interval_ns;

		missing = intervals > missing + 1 ? intervals - 1 : missing;
	}
	if (missing > counted) {
		struct ds325_loss loss = { .first = capture->last_good + 1 + (uint32_t)counted,
					   .count = (uint32_t)(missing - counted),
					   .estimated = true };

		capture->lost_estimated += loss.count;
		note(capture, loss);
	}
	capture->interrupted = false;
	if (!frame)
		return;
	capture->last_time_ns = frame->time_ns;
	capture->last_good = frame->number;
	capture->known_at_good = known;
}

static enum ds325_event gone(struct ds325_capture *capture)
{
	ds325_capture_stop(capture);
	capture->disconnections++;
	capture->interrupted = capture->frames > 0;
	return DS325_GONE;
}

/* Looks at the old name or, if that was still taken, at all others for a card of the same name. */
static enum ds325_event look_for_it(struct ds325_capture *capture, int timeout_ms)
{
	const uint64_t until_ns = now_ns() + (uint64_t)timeout_ms * 1000000;
	const struct timespec pause = { .tv_nsec = RETRY_NS };
	char device[sizeof(capture->device)];

	memcpy(device, capture->device, sizeof(device));
	do {
		memcpy(capture->device, device, sizeof(device));
		if (ds325_capture_start(capture))
			return DS325_BACK;
		for (int name = 0; name < DEVICES; name++) {
			snprintf(capture->device, sizeof(capture->device), "/dev/video%d", name);
			if (!access(capture->device, F_OK) && ds325_capture_start(capture))
				return DS325_BACK;
		}
		memcpy(capture->device, device, sizeof(device));
		nanosleep(&pause, NULL);
	} while (now_ns() < until_ns);
	settle(capture, NULL);
	return DS325_TIMEOUT;
}

/* Before and after the processor reads what a device may have written past its cache. */
static bool sync_dmabuf(struct ds325_capture *capture, uint32_t index, uint64_t edge)
{
	struct dma_buf_sync sync = { .flags = edge | DMA_BUF_SYNC_READ };

	if (capture->io != DS325_DMABUF)
		return true;
	if (ds325_ioctl(capture->buffer[index].dmabuf, DMA_BUF_IOCTL_SYNC, &sync))
		return ds325_capture_fail(capture, "syncing a dma-buf", errno);
	return true;
}

static struct v4l2_buffer empty(const struct ds325_capture *capture)
{
	return (struct v4l2_buffer){ .type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
				     .memory = capture->io == DS325_USERPTR ? V4L2_MEMORY_USERPTR : V4L2_MEMORY_MMAP };
}

static bool queue(struct ds325_capture *capture, uint32_t index)
{
	struct v4l2_buffer buffer = empty(capture);

	buffer.index = index;
	if (capture->io == DS325_USERPTR) {
		buffer.m.userptr = (unsigned long)capture->buffer[index].start;
		buffer.length = (uint32_t)capture->buffer[index].bytes;
	}
	if (ds325_ioctl(capture->fd, VIDIOC_QBUF, &buffer) && errno != ENODEV)
		return ds325_capture_fail(capture, "queueing a buffer", errno);
	return true;
}

/* A frame's bytes, or how many came if it was not whole; false with errno. */
static bool fetch(struct ds325_capture *capture, struct ds325_frame *frame, size_t *bytes, bool *damaged)
{
	struct v4l2_buffer buffer = empty(capture);

	*damaged = false;
	if (capture->io == DS325_READ) {
		ssize_t got = read(capture->fd, capture->own, DS325_FRAME_ROOM);

		if (got < 0)
			return false;
		*bytes = (size_t)got;
		*frame = (struct ds325_frame){ .raw = capture->own,
					       .time_ns = now_ns(),
					       .number = capture->numbered ? capture->last_number + 1 : 0 };
		return true;
	}
	if (ds325_ioctl(capture->fd, VIDIOC_DQBUF, &buffer))
		return false;
	if (buffer.index >= capture->buffers) {
		errno = EPROTO;
		return false;
	}
	*bytes = buffer.bytesused;
	*damaged = buffer.flags & V4L2_BUF_FLAG_ERROR;
	*frame = (struct ds325_frame){ .raw = capture->buffer[buffer.index].start,
				       .number = buffer.sequence,
				       .index = buffer.index,
				       .time_ns = (uint64_t)buffer.timestamp.tv_sec * 1000000000 +
						  (uint64_t)buffer.timestamp.tv_usec * 1000 };
	return true;
}

static enum ds325_event take(struct ds325_capture *capture, struct ds325_frame *frame)
{
	bool damaged;
	size_t bytes;

	if (!fetch(capture, frame, &bytes, &damaged)) {
		if (errno == EAGAIN)
			return DS325_TIMEOUT;
		if (errno == ENODEV || errno == EIO)
			return gone(capture);
		ds325_capture_fail(capture, "fetching a frame", errno);
		return DS325_FAILED;
	}
	/* An endpoint that stalled: the driver gives every buffer back empty until the stream is started again. */
	if (damaged && !bytes)
		return gone(capture);
	number(capture, frame->number);
	if (bytes != DS325_FRAME_BYTES || damaged) {
		capture->refused++;
		note(capture, (struct ds325_loss){ .first = frame->number, .bytes = (uint32_t)bytes });
		if (capture->io != DS325_READ && !queue(capture, frame->index))
			return DS325_FAILED;
		return DS325_REFUSED;
	}
	if (!sync_dmabuf(capture, frame->index, DMA_BUF_SYNC_START))
		return DS325_FAILED;
	read_stamp(capture, frame);
	settle(capture, frame);
	capture->frames++;
	return DS325_FRAME;
}

enum ds325_event ds325_capture_next(struct ds325_capture *capture, int timeout_ms, struct ds325_frame *frame)
{
	struct pollfd poll_of = { .fd = capture->fd, .events = POLLIN };
	int ready;

	if (capture->fd < 0)
		return look_for_it(capture, timeout_ms);
	ready = poll(&poll_of, 1, timeout_ms);
	if (ready < 0 && errno != EINTR) {
		ds325_capture_fail(capture, "waiting for a frame", errno);
		return DS325_FAILED;
	}
	if (ready <= 0)
		return DS325_TIMEOUT;
	/* When a camera goes, poll() reports an error and the ioctl ENODEV. Any error of poll() counts as gone, since
	 * it would only be reported again. */
	if (!(poll_of.revents & POLLIN))
		return gone(capture);
	return take(capture, frame);
}

bool ds325_capture_release(struct ds325_capture *capture, const struct ds325_frame *frame)
{
	if (capture->io == DS325_READ || capture->fd < 0)
		return true;
	return sync_dmabuf(capture, frame->index, DMA_BUF_SYNC_END) && queue(capture, frame->index);
}

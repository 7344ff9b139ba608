// SPDX-License-Identifier: MIT
/* From a device's name to a stream, and back. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/usb/video.h>
#include <linux/uvcvideo.h>
#include <linux/videodev2.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture.h"

int ds325_ioctl(int fd, unsigned long request, void *argument)
{
	int result;

	do
		result = ioctl(fd, request, argument);
	while (result < 0 && errno == EINTR);
	return result;
}

bool ds325_capture_fail(struct ds325_capture *capture, const char *what, int error)
{
	snprintf(capture->why, sizeof(capture->why), "%s: %s%s%s", capture->device, what, error ? ": " : "",
		 error ? strerror(error) : "");
	return false;
}

static bool check(struct ds325_capture *capture)
{
	struct v4l2_capability capability = { 0 };
	uint32_t can;

	if (ds325_ioctl(capture->fd, VIDIOC_QUERYCAP, &capability))
		return ds325_capture_fail(capture, "it is no video device", errno);
	can = capability.capabilities & V4L2_CAP_DEVICE_CAPS ? capability.device_caps : capability.capabilities;
	if (!(can & V4L2_CAP_VIDEO_CAPTURE))
		return ds325_capture_fail(capture, "it captures no video", 0);
	if (capture->io == DS325_READ && !(can & V4L2_CAP_READWRITE))
		return ds325_capture_fail(capture, "its driver does not offer read()", 0);
	if (capture->io != DS325_READ && !(can & V4L2_CAP_STREAMING))
		return ds325_capture_fail(capture, "its driver does not offer streaming", 0);
	if (capture->card[0] && strncmp(capture->card, (const char *)capability.card, sizeof(capture->card) - 1))
		return ds325_capture_fail(capture, "it is another camera", 0);
	memcpy(capture->card, capability.card, sizeof(capture->card) - 1);
	return true;
}

static uint64_t interval_ns(const struct v4l2_streamparm *parameters)
{
	const struct v4l2_fract *interval = &parameters->parm.capture.timeperframe;

	return interval->denominator ? (uint64_t)interval->numerator * 1000000000 / interval->denominator : 0;
}

static bool set_format(struct ds325_capture *capture)
{
	struct v4l2_format format = { .type = V4L2_BUF_TYPE_VIDEO_CAPTURE };
	struct v4l2_streamparm parameters = { .type = V4L2_BUF_TYPE_VIDEO_CAPTURE };

	format.fmt.pix.width = DS325_RAW_WIDTH;
	format.fmt.pix.height = DS325_RAW_HEIGHT;
	format.fmt.pix.pixelformat = V4L2_PIX_FMT_YUYV;
	format.fmt.pix.field = V4L2_FIELD_NONE;
	if (ds325_ioctl(capture->fd, VIDIOC_S_FMT, &format))
		return ds325_capture_fail(capture, "setting its format", errno);
	if (format.fmt.pix.width != DS325_RAW_WIDTH || format.fmt.pix.height != DS325_RAW_HEIGHT ||
	    format.fmt.pix.pixelformat != V4L2_PIX_FMT_YUYV || format.fmt.pix.bytesperline != 2 * DS325_RAW_WIDTH)
		return ds325_capture_fail(capture, "it has no YUYV of 640 x 240, so it is no DS325", 0);
	if (!capture->rate) {
		capture->interval_ns = ds325_ioctl(capture->fd, VIDIOC_G_PARM, &parameters) ? 0 :
											      interval_ns(&parameters);
		return true;
	}
	parameters.parm.capture.timeperframe = (struct v4l2_fract){ 1, capture->rate };
	if (ds325_ioctl(capture->fd, VIDIOC_S_PARM, &parameters))
		return ds325_capture_fail(capture, "setting its frame rate", errno);
	if (parameters.parm.capture.timeperframe.numerator * (uint64_t)capture->rate !=
	    parameters.parm.capture.timeperframe.denominator)
		return ds325_capture_fail(capture, "it does not offer the frame rate asked for", 0);
	capture->interval_ns = interval_ns(&parameters);
	return true;
}

/* Takes the memory of buffer `index` as `io` asks; afterwards its descriptor in `buffer` is ready to be queued. */
static bool map(struct ds325_capture *capture, uint32_t index, struct v4l2_buffer *buffer)
{
	struct v4l2_exportbuffer export = { .type = V4L2_BUF_TYPE_VIDEO_CAPTURE,
					    .index = index,
					    .flags = O_RDWR | O_CLOEXEC };
	uint8_t *start;

	if (ds325_ioctl(capture->fd, VIDIOC_QUERYBUF, buffer))
		return ds325_capture_fail(capture, "asking for a buffer", errno);
	capture->buffer[index].dmabuf = -1;
	if (capture->io == DS325_USERPTR) {
		start = capture->own + (size_t)index * DS325_FRAME_ROOM;
		buffer->length = DS325_FRAME_ROOM;
		buffer->m.userptr = (unsigned long)start;
	} else if (capture->io == DS325_DMABUF) {
		if (ds325_ioctl(capture->fd, VIDIOC_EXPBUF, &export))
			return ds325_capture_fail(capture, "exporting a buffer as a dma-buf", errno);
		capture->buffer[index].dmabuf = export.fd;
		start = mmap(NULL, buffer->length, PROT_READ, MAP_SHARED, export.fd, 0);
	} else {
		start = mmap(NULL, buffer->length, PROT_READ, MAP_SHARED, capture->fd, (off_t)buffer->m.offset);
	}
	if (start == MAP_FAILED)
		return ds325_capture_fail(capture, "mapping a buffer", errno);
	capture->buffer[index].start = start;
	capture->buffer[index].bytes = buffer->length;
	return true;
}

static bool stream(struct ds325_capture *capture)
{
	enum v4l2_buf_type type = V4L2_BUF_TYPE_VIDEO_CAPTURE;
	uint32_t memory = capture->io == DS325_USERPTR ? V4L2_MEMORY_USERPTR : V4L2_MEMORY_MMAP;
	struct v4l2_requestbuffers request = { .count = capture->buffers_wanted, .type = type, .memory = memory };

	if (ds325_ioctl(capture->fd, VIDIOC_REQBUFS, &request))
		return ds325_capture_fail(capture, "asking for buffers of this kind", errno);
	if (request.count < 2 || request.count > DS325_BUFFERS_MOST)
		return ds325_capture_fail(capture, "it gives too few buffers, or too many", 0);
	for (; capture->buffers < request.count; capture->buffers++) {
		struct v4l2_buffer buffer = { .type = type, .memory = memory, .index = capture->buffers };

		if (!map(capture, capture->buffers, &buffer))
			return false;
		if (ds325_ioctl(capture->fd, VIDIOC_QBUF, &buffer))
			return ds325_capture_fail(capture, "queueing a buffer", errno);
	}
	if (ds325_ioctl(capture->fd, VIDIOC_STREAMON, &type))
		return ds325_capture_fail(capture, "starting the stream", errno);
	return true;
}

bool ds325_capture_start(struct ds325_capture *capture)
{
	capture->buffers = 0;
	capture->numbered = false; /* a new connection is numbered anew; the emulator's stamps count on */
	capture->fd = open(capture->device, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (capture->fd < 0)
		return ds325_capture_fail(capture, "opening it", errno);
	if (check(capture) && set_format(capture) && (capture->io == DS325_READ || stream(capture)))
		return true;
	ds325_capture_stop(capture);
	return false;
}

void ds325_capture_stop(struct ds325_capture *capture)
{
	enum v4l2_buf_type type = V4L2_BUF_TYPE_VIDEO_CAPTURE;

	if (capture->fd < 0)
		return;
	if (capture->io != DS325_READ)
		ds325_ioctl(capture->fd, VIDIOC_STREAMOFF, &type); /* fails if the camera has gone, as it should */
	for (uint32_t index = 0; index < DS325_BUFFERS_MOST; index++) {
		if (capture->buffer[index].start && capture->io != DS325_USERPTR)
			munmap(capture->buffer[index].start, capture->buffer[index].bytes);
		if (capture->buffer[index].start && capture->buffer[index].dmabuf >= 0)
			close(capture->buffer[index].dmabuf);
		capture->buffer[index].start = NULL;
	}
	close(capture->fd);
	capture->fd = -1;
}

bool ds325_capture_open(struct ds325_capture *capture)
{
	capture->fd = -1;
	if (capture->io == DS325_READ || capture->io == DS325_USERPTR) {
		capture->own = mmap(NULL, DS325_BUFFERS_MOST * (size_t)DS325_FRAME_ROOM, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		if (capture->own == MAP_FAILED) {
			capture->own = NULL;
			return ds325_capture_fail(capture, "memory for its frames", errno);
		}
	}
	return ds325_capture_start(capture);
}

void ds325_capture_close(struct ds325_capture *capture)
{
	ds325_capture_stop(capture);
	if (capture->own)
		munmap(capture->own, DS325_BUFFERS_MOST * (size_t)DS325_FRAME_ROOM);
	capture->own = NULL;
}

bool ds325_capture_command(struct ds325_capture *capture, bool get, uint8_t bytes[DS325_CONTROL_BYTES])
{
	struct uvc_xu_control_query query = { .unit = DS325_UNIT,
					      .selector = DS325_SELECTOR,
					      .query = get ? UVC_GET_CUR : UVC_SET_CUR,
					      .size = DS325_CONTROL_BYTES,
					      .data = bytes };

	if (ds325_ioctl(capture->fd, UVCIOC_CTRL_QUERY, &query))
		return ds325_capture_fail(capture, "a command to its extension unit", errno);
	return true;
}

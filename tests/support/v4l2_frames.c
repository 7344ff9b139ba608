// SPDX-License-Identifier: MIT
/* Streams N frames by V4L2 mmap, or until that is over, and prints of each what a test needs to know.
 *
 * v4l2_frames DEVICE yuyv|z16 RATE N [--again]: lines `frame N sequence bytes error crc32 stamp_sequence latency_us`, then
 * `end REASON`. With --again an error or an unplug is followed by another attempt, until N frames have come. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <linux/videodev2.h>

#include "../../docking/camera/ds325/format.h"

enum { BUFFERS = 4, TIMEOUT_MS = 2000, LINE = 96 };

struct stream {
	int file;
	uint8_t *buffers[BUFFERS];
	size_t lengths[BUFFERS];
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static uint32_t crc32(const uint8_t *bytes, size_t size)
{
	static uint32_t table[256];
	uint32_t crc = ~0u;

	for (uint32_t i = 0; i < 256 && !table[255]; i++) {
		table[i] = i;
		for (int bit = 0; bit < 8; bit++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320 : 0);
	}
	for (size_t i = 0; i < size; i++)
		crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 255];
	return ~crc;
}

static const char *start(struct stream *s, const char *device, uint32_t format, uint32_t width, uint32_t rate)
{
	struct v4l2_format f = { .type = V4L2_BUF_TYPE_VIDEO_CAPTURE };
	struct v4l2_streamparm parm = { .type = V4L2_BUF_TYPE_VIDEO_CAPTURE };
	struct v4l2_requestbuffers request = { BUFFERS, V4L2_BUF_TYPE_VIDEO_CAPTURE, V4L2_MEMORY_MMAP, 0, 0, { 0 } };
	int type = V4L2_BUF_TYPE_VIDEO_CAPTURE;

	s->file = open(device, O_RDWR | O_CLOEXEC);
	if (s->file < 0)
		return "open";
	f.fmt.pix.width = width;
	f.fmt.pix.height = DS325_HEIGHT;
	f.fmt.pix.pixelformat = format;
	if (ioctl(s->file, VIDIOC_S_FMT, &f) || f.fmt.pix.pixelformat != format || f.fmt.pix.width != width)
		return "S_FMT";
	parm.parm.capture.timeperframe.numerator = 1;
	parm.parm.capture.timeperframe.denominator = rate;
	if (ioctl(s->file, VIDIOC_S_PARM, &parm) || ioctl(s->file, VIDIOC_REQBUFS, &request))
		return "S_PARM or REQBUFS";
	for (uint32_t i = 0; i < BUFFERS; i++) {
		struct v4l2_buffer b = { .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP, .index = i };

		if (ioctl(s->file, VIDIOC_QUERYBUF, &b))
			return "QUERYBUF";
		s->lengths[i] = b.length;
		s->buffers[i] = mmap(NULL, b.length, PROT_READ, MAP_SHARED, s->file, b.m.offset);
		if (s->buffers[i] == MAP_FAILED || ioctl(s->file, VIDIOC_QBUF, &b))
			return "mmap or QBUF";
	}
	return ioctl(s->file, VIDIOC_STREAMON, &type) ? "STREAMON" : NULL;
}

static void stop(struct stream *s)
{
	for (int i = 0; i < BUFFERS; i++)
		if (s->buffers[i] && s->buffers[i] != MAP_FAILED)
			munmap(s->buffers[i], s->lengths[i]);
	if (s->file >= 0)
		close(s->file);
	memset(s, 0, sizeof(*s));
}

static const char *next(struct stream *s, uint32_t number, char line[LINE])
{
	struct v4l2_buffer b = { .type = V4L2_BUF_TYPE_VIDEO_CAPTURE, .memory = V4L2_MEMORY_MMAP };
	struct pollfd wait = { .fd = s->file, .events = POLLIN };
	struct ds325_stamp stamp = { 0 };
	uint64_t got_ns;

	if (poll(&wait, 1, TIMEOUT_MS) <= 0)
		return "timeout";
	if (ioctl(s->file, VIDIOC_DQBUF, &b))
		return errno == ENODEV ? "unplugged" : "DQBUF";
	got_ns = now_ns();
	if (b.bytesused >= sizeof(stamp))
		memcpy(&stamp, s->buffers[b.index] + b.bytesused - sizeof(stamp), sizeof(stamp));
	if (stamp.magic != DS325_STAMP_MAGIC)
		stamp = (struct ds325_stamp){ .sequence = ~0u, .sent_ns = got_ns };
	snprintf(line, LINE, "frame %u %u %u %d %08x %d %lld\n", number, b.sequence, b.bytesused,
		 !!(b.flags & V4L2_BUF_FLAG_ERROR), getenv("NO_CRC") ? 0 : crc32(s->buffers[b.index], b.bytesused),
		 (int)stamp.sequence, (long long)(got_ns - stamp.sent_ns) / 1000);
	return ioctl(s->file, VIDIOC_QBUF, &b) && errno != ENODEV ? "QBUF" : NULL;
}

int main(int argc, char **argv)
{
	uint32_t count = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 0, got = 0;
	bool again = argc > 5;
	const char *reason = "done";
	struct timespec pause = { 0, 10000000 };
	char *lines;

	if (argc < 5 || !(lines = calloc(count + 1, LINE)))
		return 2;
	for (int tries = 0; got < count && tries < 300; tries++) {
		bool z16 = !strcmp(argv[2], "z16");
		struct stream stream = { .file = -1 };

		reason = start(&stream, argv[1], z16 ? V4L2_PIX_FMT_Z16 : V4L2_PIX_FMT_YUYV,
			       z16 ? DS325_WIDTH : DS325_RAW_WIDTH, (uint32_t)strtoul(argv[3], NULL, 10));
		while (!reason && got < count) {
			reason = next(&stream, got, lines + (size_t)got * LINE);
			got += !reason;
		}
		stop(&stream);
		if (!again)
			break;
		nanosleep(&pause, NULL);
	}
	for (uint32_t i = 0; i < got; i++)
		fputs(lines + (size_t)i * LINE, stdout);
	printf("end %s\n", reason ? reason : "done");
	return 0;
}

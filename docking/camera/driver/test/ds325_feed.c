// SPDX-License-Identifier: MIT
/*
 * Keeps uvcvideo's queue going and has each frame decoded by ds325-dmabuf.ko, until the given number of frames has been
 * decoded: ds325_feed VIDEO_DEVICE NODE FRAMES RATE [PRIORITY]. Waits for a camera that was unplugged.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "flight/capture.h"
#include "ds325/dmabuf.h"

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "ds325_feed: %s: %s\n", what, why);
	exit(3);
}

static void attach(int node, const struct ds325_capture *capture)
{
	struct ds325_dmabuf_attach request = { .count = capture->buffers };

	for (uint32_t one = 0; one < capture->buffers; one++)
		request.fds[one] = capture->buffer[one].dmabuf;
	if (ioctl(node, DS325_DMABUF_ATTACH, &request))
		fail("DS325_DMABUF_ATTACH", strerror(errno));
}

static void become_realtime(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	/* The system call itself: musl has no sched_setscheduler(). */
	if (priority && (syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &param) || mlockall(MCL_CURRENT | MCL_FUTURE)))
		fail("real time", strerror(errno));
}

int main(int argc, char **argv)
{
	static struct ds325_capture capture = { .io = DS325_DMABUF, .buffers_wanted = 4 };
	struct ds325_frame frame;
	unsigned long done = 0, wanted;
	struct timespec cpu;
	int node;

	if (argc < 5)
		fail("usage", "ds325_feed VIDEO_DEVICE NODE FRAMES RATE [PRIORITY]");
	snprintf(capture.device, sizeof(capture.device), "%s", argv[1]);
	wanted = strtoul(argv[3], NULL, 10);
	capture.rate = (uint32_t)strtoul(argv[4], NULL, 10);
	become_realtime(argc > 5 ? atoi(argv[5]) : 0);
	node = open(argv[2], O_RDWR | O_CLOEXEC);
	if (node < 0)
		fail(argv[2], strerror(errno));
	if (!ds325_capture_open(&capture))
		fail(argv[1], capture.why);
	attach(node, &capture);
	while (done < wanted) {
		struct ds325_dmabuf_decode request = { .bytes = DS325_FRAME_BYTES };

		switch (ds325_capture_next(&capture, 5000, &frame)) {
		case DS325_FRAME:
			request.index = frame.index;
			request.sequence = frame.number;
			if (ioctl(node, DS325_DMABUF_DECODE, &request))
				fail("DS325_DMABUF_DECODE", strerror(errno));
			done++;
			if (!ds325_capture_release(&capture, &frame))
				fail("release", capture.why);
			break;
		case DS325_BACK:
			attach(node, &capture);
			break;
		case DS325_GONE: /* buffers are not freed while they are attached */
			if (ioctl(node, DS325_DMABUF_ATTACH, &(struct ds325_dmabuf_attach){ 0 }))
				fail("detaching", strerror(errno));
			break;
		case DS325_REFUSED:
			break;
		case DS325_TIMEOUT:
			fail(argv[1], "no frame came in time");
			break;
		case DS325_FAILED:
			fail(argv[1], capture.why);
		}
	}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
	printf("fed=%lu lost=%" PRIu64 " refused=%" PRIu64 " disconnections=%u cpu_ns=%lld\n", done, capture.lost,
	       capture.refused, capture.disconnections, (long long)cpu.tv_sec * 1000000000 + cpu.tv_nsec);
	return 0;
}

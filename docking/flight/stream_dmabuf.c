// SPDX-License-Identifier: MIT
/* Has ds325-dmabuf.ko decode a video node's buffers where they are (dmabuf.h), and reads its ring. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ds325/dmabuf.h"
#include "stream.h"

void feed_open(struct feed *feed, const struct options *options)
{
	const char *wrong;

	feed->fd = -1;
	if (options->decoding != DECODE_KERNEL)
		return;
	feed->fd = open(options->node, O_RDWR | O_CLOEXEC);
	if (feed->fd < 0)
		die(RUN_FAILED, "%s: opening it (is ds325-dmabuf loaded?): %s", options->node, strerror(errno));
	wrong = ds325_ring_map(&feed->ring, feed->fd);
	if (wrong)
		die(RUN_FAILED, "%s: %s", options->node, wrong);
	if (options->pose && feed->ring.header->format != DS325_RING_RANGE_U16)
		die(RUN_FAILED, "%s: --pose needs ranges along each pixel's ray: load ds325-ring without depth=1",
		    options->node);
}

bool feed_attach(struct feed *feed, const struct ds325_capture *capture)
{
	struct ds325_dmabuf_attach request = { 0 };

	if (feed->fd < 0)
		return true;
	if (capture->fd >= 0)
		request.count = capture->buffers;
	for (uint32_t one = 0; one < request.count; one++)
		request.fds[one] = capture->buffer[one].dmabuf;
	return !ds325_ioctl(feed->fd, DS325_DMABUF_ATTACH, &request);
}

const uint16_t *feed_decode(struct feed *feed, const struct ds325_frame *frame)
{
	struct ds325_dmabuf_decode request = { .index = frame->index,
					       .bytes = DS325_FRAME_BYTES,
					       .sequence = frame->number,
					       .frame_end_ns = frame->stamped_ns };
	struct ds325_ring_frame decoded;

	if (ds325_ioctl(feed->fd, DS325_DMABUF_DECODE, &request))
		return NULL;
	/* Nobody else may feed the node, so the last published frame stays until the next call. */
	return ds325_ring_take(&feed->ring, DS325_RING_NEWEST, &decoded) ? decoded.ranges : NULL;
}

void feed_close(struct feed *feed)
{
	if (feed->fd < 0)
		return;
	ds325_ring_unmap(&feed->ring);
	close(feed->fd);
}

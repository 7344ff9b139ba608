/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/*
 * How a program has /dev/ds325-dmabuf-N, opened for writing, decode the frames that another driver captures: ATTACH
 * once with the dma-bufs of its buffers (VIDIOC_EXPBUF), then DECODE for each frame between VIDIOC_DQBUF and
 * VIDIOC_QBUF. The ranges appear in the node's ring (docking/camera/ds325/ring.h), for this program and all others.
 */
#ifndef DS325_DMABUF_H
#define DS325_DMABUF_H

#ifdef __KERNEL__
#include <linux/ioctl.h>
#include <linux/types.h>
#else
#include <stdint.h>
#include <sys/ioctl.h>
#endif

#define DS325_DMABUF_MOST 8

/*
 * Replaces what this file had attached; count 0 only detaches. EBUSY: another file feeds the ring. EINVAL: a buffer is
 * too small for a frame, or is not in the processor's memory.
 */
struct ds325_dmabuf_attach {
	uint32_t count;
	int32_t fds[DS325_DMABUF_MOST];
};

/*
 * EINVAL: no such buffer. EBADMSG: `bytes` is not a frame's size, or `damaged` is set; the frame is counted as refused.
 * A gap in `sequence` is counted as loss.
 */
struct ds325_dmabuf_decode {
	uint32_t index;
	uint32_t bytes; /* v4l2_buffer.bytesused */
	uint32_t sequence;
	uint32_t damaged; /* V4L2_BUF_FLAG_ERROR */
	uint64_t frame_end_ns; /* CLOCK_MONOTONIC; 0: now */
};

#define DS325_DMABUF_ATTACH _IOW('D', 0x10, struct ds325_dmabuf_attach)
#define DS325_DMABUF_DECODE _IOW('D', 0x11, struct ds325_dmabuf_decode)

#endif

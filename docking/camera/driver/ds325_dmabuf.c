// SPDX-License-Identifier: GPL-2.0
/* Decodes frames where another driver, such as uvcvideo, has put them, by dma-buf. The interface is in dmabuf.h.
 */
#include <linux/dma-buf.h>
#include <linux/iosys-map.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>

#include "ds325/dmabuf.h"
#include "node.h"

static unsigned int slots = 8;
module_param(slots, uint, 0444);
MODULE_PARM_DESC(slots, "frames in the ring, a power of two");

struct buffer {
	struct dma_buf *shared;
	struct iosys_map map;
};

struct feed {
	struct ds325_node node;
	struct mutex lock; /* protects the fields below and writing to the ring */
	struct file *feeder;
	struct buffer buffers[DS325_DMABUF_MOST];
	unsigned int count;
	bool numbered;
	u32 last; /* sequence of the previous frame */
	u32 unpublished; /* frames since the last that was published */
};

static struct feed *feed;

/* From 6.2 on the function of this name expects the buffer's lock to be held, and another function takes it. */
static int map_buffer(struct buffer *buffer)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	return dma_buf_vmap_unlocked(buffer->shared, &buffer->map);
#else
	return dma_buf_vmap(buffer->shared, &buffer->map);
#endif
}

static void unmap_buffer(struct buffer *buffer)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	dma_buf_vunmap_unlocked(buffer->shared, &buffer->map);
#else
	dma_buf_vunmap(buffer->shared, &buffer->map);
#endif
}

static void let_go(struct buffer *buffer)
{
	unmap_buffer(buffer);
	dma_buf_put(buffer->shared);
}

static int take_hold(struct buffer *buffer, int fd)
{
	int error;

	buffer->shared = dma_buf_get(fd);
	if (IS_ERR(buffer->shared))
		return PTR_ERR(buffer->shared);
	error = buffer->shared->size < DS325_FRAME_BYTES ? -EINVAL : map_buffer(buffer);
	if (error) {
		dma_buf_put(buffer->shared);
		return error;
	}
	if (!buffer->map.is_iomem)
		return 0;
	let_go(buffer);
	return -EINVAL;
}

static void detach(struct feed *from)
{
	while (from->count)
		let_go(&from->buffers[--from->count]);
	from->feeder = NULL;
	WRITE_ONCE(from->node.ring->state, DS325_RING_NO_CAMERA);
}

static int attach(struct feed *to, struct file *file, const struct ds325_dmabuf_attach *wanted)
{
	int error = 0;

	if (to->feeder && to->feeder != file)
		return -EBUSY;
	if (wanted->count > DS325_DMABUF_MOST)
		return -EINVAL;
	detach(to);
	for (; to->count < wanted->count && !error; to->count += !error)
		error = take_hold(&to->buffers[to->count], wanted->fds[to->count]);
	if (error || !to->count) {
		detach(to);
		return error;
	}
	to->feeder = file;
	to->numbered = false;
	to->node.ring->connections++;
	WRITE_ONCE(to->node.ring->state, DS325_RING_STREAMING);
	return 0;
}

/* The number of frames that are missing before this one, by its sequence number. */
static void count_losses(struct feed *to, u32 sequence)
{
	u32 lost = to->numbered ? sequence - to->last - 1 : 0;

	if (lost > S32_MAX) /* the number fell: numbering began anew */
		lost = 0;
	to->numbered = true;
	to->last = sequence;
	to->unpublished += lost;
	WRITE_ONCE(to->node.ring->lost, to->node.ring->lost + lost);
}

static int decode(struct feed *to, struct file *file, const struct ds325_dmabuf_decode *wanted)
{
	struct ds325_ring_header *ring = to->node.ring;
	struct ds325_ring_slot *slot;
	struct buffer *buffer;
	int error;

	if (to->feeder != file || wanted->index >= to->count)
		return -EINVAL;
	buffer = &to->buffers[wanted->index];
	count_losses(to, wanted->sequence);
	error = wanted->bytes != DS325_FRAME_BYTES || wanted->damaged ? -EBADMSG : 0;
	if (!error)
		error = dma_buf_begin_cpu_access(buffer->shared, DMA_FROM_DEVICE);
	if (error) {
		to->unpublished++;
		WRITE_ONCE(ring->refused, ring->refused + 1);
		return error;
	}
	slot = ds325_ring_begin(ring);
	slot->frame_end_ns = wanted->frame_end_ns ? wanted->frame_end_ns : ktime_get_ns();
	slot->sequence = wanted->sequence;
	slot->lost_before = to->unpublished;
	ds325_node_blocks(ds325_node_decoder(), buffer->map.vaddr, 0, DS325_PIXELS / DS325_BLOCK,
			  ds325_ring_ranges(ring, slot));
	dma_buf_end_cpu_access(buffer->shared, DMA_FROM_DEVICE);
	slot->published_ns = ktime_get_ns();
	to->unpublished = 0;
	ds325_ring_publish(ring, slot);
	ds325_node_published(&to->node);
	return 0;
}

static long feed_ioctl(struct ds325_node *node, struct file *file, unsigned int command, unsigned long argument)
{
	struct feed *to = container_of(node, struct feed, node);
	union {
		struct ds325_dmabuf_attach attach;
		struct ds325_dmabuf_decode decode;
	} wanted;
	long result;

	if (command != DS325_DMABUF_ATTACH && command != DS325_DMABUF_DECODE)
		return -ENOTTY;
	if (!(file->f_mode & FMODE_WRITE))
		return -EBADF;
	if (copy_from_user(&wanted, (const void __user *)argument, _IOC_SIZE(command)))
		return -EFAULT;
	if (mutex_lock_interruptible(&to->lock))
		return -ERESTARTSYS;
	if (command == DS325_DMABUF_ATTACH)
		result = attach(to, file, &wanted.attach);
	else
		result = decode(to, file, &wanted.decode);
	mutex_unlock(&to->lock);
	return result;
}

static void feed_release(struct ds325_node *node, struct file *file)
{
	struct feed *from = container_of(node, struct feed, node);

	mutex_lock(&from->lock);
	if (from->feeder == file)
		detach(from);
	mutex_unlock(&from->lock);
}

static const struct ds325_node_extra feed_extra = { .ioctl = feed_ioctl, .release = feed_release };

static int __init ds325_dmabuf_init(void)
{
	int error;

	feed = kzalloc(sizeof(*feed), GFP_KERNEL);
	if (!feed)
		return -ENOMEM;
	mutex_init(&feed->lock);
	error = ds325_node_make(&feed->node, "ds325-dmabuf-0", slots, THIS_MODULE, &feed_extra);
	if (error) {
		pr_err("ds325-dmabuf: no node with slots=%u: %d\n", slots, error);
		kfree(feed);
	}
	return error;
}

static void __exit ds325_dmabuf_exit(void)
{
	ds325_node_remove(&feed->node);
	kfree(feed);
}

module_init(ds325_dmabuf_init);
module_exit(ds325_dmabuf_exit);
MODULE_DESCRIPTION("DS325 depth frames decoded out of other drivers' dma-bufs");
MODULE_LICENSE("GPL");
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
MODULE_IMPORT_NS("DMA_BUF");
#else
MODULE_IMPORT_NS(DMA_BUF);
#endif

// SPDX-License-Identifier: GPL-2.0
/* Device nodes of rings. docking/camera/ds325/ring.h has the rules for waiting. */
#include <linux/compat.h>
#include <linux/eventfd.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/version.h>
#include <linux/vmalloc.h>

#include "node.h"

/* An open file of a node. */
struct reader {
	struct ds325_node *node;
	u64 told; /* header.published as last read */
	struct eventfd_ctx *event; /* under node->signals */
	struct list_head among; /* node->files, as long as there is an event */
};

static u64 published(const struct ds325_node *node)
{
	/* Whoever sees the new count also sees the frame: pairs with ds325_ring_publish(). */
	return smp_load_acquire(&node->ring->published);
}

static int node_open(struct inode *inode, struct file *file)
{
	struct ds325_node *node = container_of(file->private_data, struct ds325_node, misc);
	struct reader *reader = kzalloc(sizeof(*reader), GFP_KERNEL);

	if (!reader)
		return -ENOMEM;
	reader->node = node;
	INIT_LIST_HEAD(&reader->among);
	file->private_data = reader;
	mutex_lock(&node->lock);
	if (!node->opened) {
		WRITE_ONCE(node->openings, node->openings + 1 ?: 1);
		WRITE_ONCE(node->opened, 1);
		if (node->source)
			wake_up_process(node->source);
	} else {
		node->opened++;
	}
	mutex_unlock(&node->lock);
	return nonseekable_open(inode, file);
}

/* Signals this reader's eventfd from now on, or none. */
static void set_event(struct reader *reader, struct eventfd_ctx *event)
{
	struct ds325_node *node = reader->node;
	struct eventfd_ctx *before;
	unsigned long flags;

	spin_lock_irqsave(&node->signals, flags);
	before = reader->event;
	reader->event = event;
	list_del_init(&reader->among);
	if (event)
		list_add(&reader->among, &node->files);
	spin_unlock_irqrestore(&node->signals, flags);
	if (before)
		eventfd_ctx_put(before);
}

static int node_release(struct inode *inode, struct file *file)
{
	struct reader *reader = file->private_data;
	struct ds325_node *node = reader->node;

	if (node->extra && node->extra->release)
		node->extra->release(node, file);
	set_event(reader, NULL);
	mutex_lock(&node->lock);
	if (!--node->opened && node->source)
		wake_up_process(node->source);
	mutex_unlock(&node->lock);
	kfree(reader);
	return 0;
}

static ssize_t node_read(struct file *file, char __user *to, size_t count, loff_t *position)
{
	struct reader *reader = file->private_data;
	struct ds325_node *node = reader->node;
	u64 now = published(node);

	if (count < sizeof(now))
		return -EINVAL;
	if (now == READ_ONCE(reader->told)) {
		if (file->f_flags & O_NONBLOCK)
			return -EAGAIN;
		if (wait_event_interruptible(node->readers, published(node) != READ_ONCE(reader->told)))
			return -ERESTARTSYS;
		now = published(node);
	}
	if (copy_to_user(to, &now, sizeof(now)))
		return -EFAULT;
	WRITE_ONCE(reader->told, now);
	return sizeof(now);
}

static __poll_t node_poll(struct file *file, poll_table *wait)
{
	struct reader *reader = file->private_data;

	poll_wait(file, &reader->node->readers, wait);
	return published(reader->node) == READ_ONCE(reader->told) ? 0 : EPOLLIN | EPOLLRDNORM;
}

static int node_mmap(struct file *file, struct vm_area_struct *area)
{
	struct reader *reader = file->private_data;

	/* The writer relies on the header, so nobody else may write it. */
	if (area->vm_flags & VM_WRITE)
		return -EACCES;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	vm_flags_clear(area, VM_MAYWRITE);
#else
	area->vm_flags &= ~VM_MAYWRITE;
#endif
	return remap_vmalloc_range(area, reader->node->ring, area->vm_pgoff);
}

static long node_eventfd(struct reader *reader, const s32 __user *from)
{
	struct eventfd_ctx *event = NULL;
	s32 fd;

	if (get_user(fd, from))
		return -EFAULT;
	if (fd >= 0) {
		event = eventfd_ctx_fdget(fd);
		if (IS_ERR(event))
			return PTR_ERR(event);
	}
	set_event(reader, event);
	return 0;
}

static long node_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct reader *reader = file->private_data;
	struct ds325_node *node = reader->node;

	if (command == DS325_RING_EVENTFD)
		return node_eventfd(reader, (const s32 __user *)argument);
	if (node->extra && node->extra->ioctl)
		return node->extra->ioctl(node, file, command, argument);
	return -ENOTTY;
}

void ds325_node_published(struct ds325_node *node)
{
	struct reader *reader;
	unsigned long flags;

	wake_up_interruptible_poll(&node->readers, EPOLLIN | EPOLLRDNORM);
	spin_lock_irqsave(&node->signals, flags);
	list_for_each_entry(reader, &node->files, among) {
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
		eventfd_signal(reader->event);
#else
		eventfd_signal(reader->event, 1);
#endif
	}
	spin_unlock_irqrestore(&node->signals, flags);
}
EXPORT_SYMBOL_GPL(ds325_node_published);

int ds325_node_make(struct ds325_node *node, const char *name, unsigned int slots, struct module *owner,
		    const struct ds325_node_extra *extra)
{
	int error;

	if (slots < 2 || slots > DS325_RING_SLOTS_MOST || !is_power_of_2(slots))
		return -EINVAL;
	BUILD_BUG_ON(DS325_RING_PAGE % 4096);
	node->bytes = PAGE_ALIGN(ds325_ring_bytes(slots));
	node->ring = vmalloc_user(node->bytes);
	if (!node->ring)
		return -ENOMEM;
	ds325_ring_make(node->ring, slots, ds325_decoder_depth() ? DS325_RING_DEPTH_U16 : DS325_RING_RANGE_U16);
	init_waitqueue_head(&node->readers);
	spin_lock_init(&node->signals);
	INIT_LIST_HEAD(&node->files);
	mutex_init(&node->lock);
	node->extra = extra;
	node->operations = (struct file_operations){
		.owner = owner,
		.open = node_open,
		.release = node_release,
		.read = node_read,
		.poll = node_poll,
		.mmap = node_mmap,
		.unlocked_ioctl = node_ioctl,
		.compat_ioctl = compat_ptr_ioctl,
	};
	strscpy(node->name, name, sizeof(node->name));
	node->misc = (struct miscdevice){
		.minor = MISC_DYNAMIC_MINOR,
		.name = node->name,
		.fops = &node->operations,
		.mode = 0660, /* whoever opens it makes the camera stream; 60-ds325.rules gives it a group */
	};
	error = misc_register(&node->misc);
	if (error)
		vfree(node->ring);
	return error;
}
EXPORT_SYMBOL_GPL(ds325_node_make);

void ds325_node_remove(struct ds325_node *node)
{
	misc_deregister(&node->misc);
	vfree(node->ring);
}
EXPORT_SYMBOL_GPL(ds325_node_remove);

bool ds325_node_attach(struct ds325_node *node, struct task_struct *source)
{
	bool good;

	mutex_lock(&node->lock);
	good = !source || !node->source;
	if (good)
		node->source = source;
	mutex_unlock(&node->lock);
	return good;
}
EXPORT_SYMBOL_GPL(ds325_node_attach);

unsigned int ds325_node_wanted(struct ds325_node *node)
{
	return READ_ONCE(node->opened) ? READ_ONCE(node->openings) : 0;
}
EXPORT_SYMBOL_GPL(ds325_node_wanted);

static int __init ds325_ring_init(void)
{
	return ds325_decoder_make();
}

static void __exit ds325_ring_exit(void)
{
	ds325_decoder_remove();
}

module_init(ds325_ring_init);
module_exit(ds325_ring_exit);
MODULE_DESCRIPTION("Rings of DS325 depth frames: device nodes and decoder");
MODULE_LICENSE("GPL");

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A ring of ranges and its device node, between one source of frames and any number of readers. Nodes are made when
 * their module is loaded and stay until it is unloaded: cameras come and go behind them.
 */
#ifndef DS325_NODE_H
#define DS325_NODE_H

#include <linux/fs.h>
#include <linux/list.h>
#include <linux/miscdevice.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "decoder.h"
#include "ds325/ring.h"

struct ds325_node;

/* What a module offers beyond reading; called with no lock held. Either may be NULL. */
struct ds325_node_extra {
	long (*ioctl)(struct ds325_node *node, struct file *file, unsigned int command, unsigned long argument);
	void (*release)(struct ds325_node *node, struct file *file);
};

struct ds325_node {
	struct miscdevice misc;
	struct file_operations operations;
	char name[24];
	const struct ds325_node_extra *extra;
	struct ds325_ring_header *ring;
	size_t bytes;
	wait_queue_head_t readers;
	spinlock_t signals; /* protects the list and the eventfds in it */
	struct list_head files;

	struct mutex lock; /* protects the fields below */
	struct task_struct *source; /* woken when `opened` changes to or from 0 */
	unsigned int opened;
	unsigned int openings; /* how often it was opened while nobody had it open; never 0 afterwards */
};

/* /dev/NAME; the node is the caller's memory, all 0. `owner` cannot be unloaded while the node is open or mapped. */
int ds325_node_make(struct ds325_node *node, const char *name, unsigned int slots, struct module *owner,
		    const struct ds325_node_extra *extra);
void ds325_node_remove(struct ds325_node *node);

/* Attaches a source, or detaches it with NULL; false if the node has another source. */
bool ds325_node_attach(struct ds325_node *node, struct task_struct *source);
/* 0: nobody has it open. Otherwise another number than before it was last closed by all, however briefly. */
unsigned int ds325_node_wanted(struct ds325_node *node);

/* After frames were published: wakes readers, signals eventfds. From any context. */
void ds325_node_published(struct ds325_node *node);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel port's objects; see port.h. */
#ifndef RTQUAL_KERNEL_PORT_TYPES_H
#define RTQUAL_KERNEL_PORT_TYPES_H

#include <linux/completion.h>
#include <linux/hrtimer.h>
#include <linux/kfifo.h>
#include <linux/limits.h>
#include <linux/math64.h>
#include <linux/rtmutex.h>
#include <linux/sched.h>
#include <linux/semaphore.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#ifndef UINT32_MAX
#define UINT32_MAX U32_MAX
#endif

struct port_thread {
	struct task_struct *task;
	void (*entry)(void *argument);
	void *argument;
	struct completion ended;
};

struct port_semaphore {
	struct semaphore semaphore;
};

struct port_mutex {
	struct rt_mutex mutex;
};

/* Bytes in a kfifo, threads that wait for some or for room. */
struct port_pipe {
	spinlock_t lock;
	wait_queue_head_t changed;
	unsigned int room; /* bytes it may hold; the kfifo's size is a power of two */
	DECLARE_KFIFO(bytes, unsigned char, 512);
};

struct port_queue {
	struct port_pipe messages;
	size_t message_bytes;
};

struct port_event {
	wait_queue_head_t changed;
	int signalled;
};

struct port_timer {
	int path; /* enum port_path */
	struct hrtimer timer;
	struct task_struct *sleeper;
	bool expired;
	/* Of PORT_PATH_FUTEX: the thread that wakes this one. */
	struct port_thread helper;
	struct semaphore asked;
	struct semaphore woken;
	u64 due_ns;
	bool stop;
};

static inline uint64_t port_divide(uint64_t dividend, uint32_t divisor)
{
	return div_u64(dividend, divisor);
}

#endif

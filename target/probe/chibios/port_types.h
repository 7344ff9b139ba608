/* SPDX-License-Identifier: MIT */
/* ChibiOS's objects, all of them in the caller's memory. */
#ifndef RTQUAL_CHIBIOS_PORT_TYPES_H
#define RTQUAL_CHIBIOS_PORT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ch.h"

enum { STACK_BYTES = 4096 };

struct port_thread {
	stkline_t area[THD_WORKING_AREA_SIZE(STACK_BYTES) / sizeof(stkline_t)];
	thread_t *id;
	void (*entry)(void *argument);
	void *argument;
};

struct port_semaphore {
	semaphore_t semaphore;
};

struct port_mutex {
	mutex_t mutex;
};

/* ChibiOS's queue of messages by copy: a mailbox of pointers, and a pool of buffers that they point to. */
struct port_queue {
	objects_fifo_t fifo;
	size_t message_bytes;
	uint32_t buffers[128]; /* PORT_DEPTH of PORT_MESSAGE_BYTES; channel.c checks it */
	msg_t pointers[8];
};

struct port_pipe {
	pipe_t pipe;
	uint8_t storage[512]; /* PORT_PIPE_BYTES */
};

struct port_event {
	binary_semaphore_t signalled;
};

struct port_timer {
	int path; /* enum port_path */
	virtual_timer_t timer;
	struct port_semaphore expired;
};

static inline uint64_t port_divide(uint64_t dividend, uint32_t divisor)
{
	return dividend / divisor;
}

#endif

/* SPDX-License-Identifier: MIT */
/* NuttX's objects; see port.h. Queue, pipe and event have the fields that channel.c of the Linux port uses. */
#ifndef RTQUAL_NUTTX_PORT_TYPES_H
#define RTQUAL_NUTTX_PORT_TYPES_H

#include <mqueue.h>
#include <nuttx/wdog.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { STACK_BYTES = 8192 };

struct port_semaphore {
	sem_t semaphore;
};

struct port_thread {
	_Alignas(16) unsigned char stack[STACK_BYTES];
	pthread_t id;
	int priority; /* of SCHED_FIFO */
	void (*entry)(void *argument);
	void *argument;
	struct port_semaphore checked;
	int status; /* enum port_status of its start */
};

struct port_mutex {
	pthread_mutex_t mutex;
};

struct port_queue {
	mqd_t id;
	size_t message_bytes;
};

struct port_pipe {
	int ends[2]; /* read, write */
};

struct port_event {
	int fd;
};

struct port_timer {
	int path; /* enum port_path */
	struct port_semaphore expired; /* hard and soft timer */
	struct wdog_s watchdog;
	timer_t soft;
};

static inline uint64_t port_divide(uint64_t dividend, uint32_t divisor)
{
	return dividend / divisor;
}

#endif

/* SPDX-License-Identifier: MIT */
/* RTEMS's objects, by the Classic API: the kernel keeps them, a benchmark holds their ids. */
#ifndef RTQUAL_RTEMS_PORT_TYPES_H
#define RTQUAL_RTEMS_PORT_TYPES_H

#include <rtems.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct port_semaphore {
	rtems_id id;
};

struct port_thread {
	rtems_id id;
	void (*entry)(void *argument);
	void *argument;
	struct port_semaphore ended;
};

struct port_mutex {
	rtems_id id;
};

struct port_queue {
	rtems_id id;
	size_t message_bytes;
};

struct port_pipe {
	int unused;
};

struct port_event {
	rtems_id id;
};

struct port_timer {
	int path; /* enum port_path */
	rtems_id id;
	struct port_semaphore expired;
};

static inline uint64_t port_divide(uint64_t dividend, uint32_t divisor)
{
	return dividend / divisor;
}

#endif

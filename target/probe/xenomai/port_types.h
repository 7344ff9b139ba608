/* SPDX-License-Identifier: MIT */
/* The Xenomai port's objects; see port.h. The objects behind Alchemy's descriptors lie in Xenomai's own heap. */
#ifndef RTQUAL_XENOMAI_PORT_TYPES_H
#define RTQUAL_XENOMAI_PORT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <alchemy/buffer.h>
#include <alchemy/event.h>
#include <alchemy/mutex.h>
#include <alchemy/queue.h>
#include <alchemy/sem.h>
#include <alchemy/task.h>
#include <alchemy/timer.h>
#ifdef __COBALT__
#include <alchemy/pipe.h>
#endif

struct port_thread {
	RT_TASK task;
	const char *name;
	int priority; /* of SCHED_FIFO, which is Alchemy's too */
	int cpu;
	void (*entry)(void *argument);
	void *argument;
	int status; /* enum port_status of its start */
	uint32_t ended;
};

struct port_semaphore {
	RT_SEM sem;
};

struct port_mutex {
	RT_MUTEX mutex;
};

struct port_queue {
	RT_QUEUE queue;
	size_t message_bytes;
};

struct port_pipe {
#ifdef __COBALT__
	RT_PIPE pipe;
	int fd; /* of its Linux end */
#else
	RT_BUFFER buffer;
#endif
};

struct port_event {
	RT_EVENT event;
};

struct port_timer {
	int path; /* enum port_path */
};

static inline uint64_t port_divide(uint64_t dividend, uint32_t divisor)
{
	return dividend / divisor;
}

#endif

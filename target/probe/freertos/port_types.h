/* SPDX-License-Identifier: MIT */
/* FreeRTOS's objects, all of them in the caller's memory (configSUPPORT_STATIC_ALLOCATION). */
#ifndef RTQUAL_PORT_TYPES_H
#define RTQUAL_PORT_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "FreeRTOS.h"
#include "event_groups.h"
#include "queue.h"
#include "semphr.h"
#include "stream_buffer.h"
#include "task.h"
#include "timers.h"

static inline uint64_t port_divide(uint64_t dividend, uint32_t divisor)
{
	return dividend / divisor;
}

struct port_thread {
	StaticTask_t task;
	StackType_t stack[MACHINE_STACK_WORDS];
	StaticSemaphore_t ended;
	TaskHandle_t handle;
	void (*entry)(void *argument);
	void *argument;
};

struct port_semaphore {
	StaticSemaphore_t memory;
};

struct port_mutex {
	StaticSemaphore_t memory;
};

struct port_queue {
	StaticQueue_t memory;
	uint8_t storage[512]; /* PORT_DEPTH messages of PORT_MESSAGE_BYTES; port.c checks it */
};

struct port_pipe {
	StaticStreamBuffer_t memory;
	uint8_t storage[513]; /* PORT_PIPE_BYTES, and the byte that FreeRTOS keeps free */
};

struct port_event {
	StaticEventGroup_t memory;
};

struct port_timer {
	int path; /* enum port_path */
	TaskHandle_t waiter;
	StaticTimer_t software;
};

#endif

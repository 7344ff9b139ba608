/* SPDX-License-Identifier: MIT */
/* The EVL port's objects; see port.h. */
#ifndef RTQUAL_EVL_PORT_TYPES_H
#define RTQUAL_EVL_PORT_TYPES_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <evl/atomic.h>
#include <evl/evl.h>
#include <evl/flags.h>
#include <evl/sem.h>
/* Where libevl's headers would have the names of the kernel's, some who package it rename them. */
#if __has_include(<evl/thread-evl.h>)
#include <evl/clock-evl.h>
#include <evl/mutex-evl.h>
#include <evl/sched-evl.h>
#include <evl/syscall-evl.h>
#include <evl/thread-evl.h>
#include <evl/timer-evl.h>
#include <evl/xbuf-evl.h>
#else
#include <evl/syscall.h>
#include <evl/timer.h>
#endif

enum { STACK_KIB = 128 };

struct port_thread {
	_Alignas(64) unsigned char stack[STACK_KIB * 1024];
	pthread_t id;
	const char *name;
	int priority; /* of SCHED_FIFO, which is EVL's too */
	int cpu;
	void (*entry)(void *argument);
	void *argument;
	int status; /* enum port_status of its start */
	uint32_t ended;
};

struct port_semaphore {
	struct evl_sem sem;
};

struct port_mutex {
	struct evl_mutex mutex;
};

struct port_queue {
	int none; /* EVL has none */
};

struct port_pipe {
	int fd; /* of a cross-buffer */
};

struct port_event {
	struct evl_flags flags;
};

struct port_timer {
	int path; /* enum port_path */
	int fd; /* of the core's timer, or -1 */
};

static inline uint64_t port_divide(uint64_t dividend, uint32_t divisor)
{
	return dividend / divisor;
}

#endif

/* SPDX-License-Identifier: MIT */
/* The Linux port's objects; see port.h. */
#ifndef RTQUAL_LINUX_PORT_TYPES_H
#define RTQUAL_LINUX_PORT_TYPES_H

#include <mqueue.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* glibc's least on arm64. ThreadSanitizer needs more; its build says so. */
#ifndef STACK_KIB
#define STACK_KIB 128
#endif

/* A counter and a futex; see semaphore.c. */
struct port_semaphore {
	uint32_t count;
	uint32_t waiters;
};

struct port_thread {
	_Alignas(64) unsigned char stack[STACK_KIB * 1024];
	pthread_t id;
	const char *name;
	int priority; /* of SCHED_FIFO */
	int cpu;
	void (*entry)(void *argument);
	void *argument;
	struct port_semaphore checked;
	int status; /* enum port_status of its start */
	uint32_t ended;
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
	int fd; /* a timerfd or a socket, or -1 */
};

static inline uint64_t port_divide(uint64_t dividend, uint32_t divisor)
{
	return dividend / divisor;
}

#endif

// SPDX-License-Identifier: MIT
/*
 * What this system is, its clock, and what must be ready before anything is measured. Memory, the result's way out and
 * the command line are Linux's, from ../linux; the linker puts the __wrap_ functions here in place of Linux's own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "evl_port.h"

enum { NS_PER_S = 1000000000, HEAP_BYTES = 1 << 20 };

enum port_status __real_linux_setup(const struct settings *settings);
enum port_status __wrap_linux_setup(const struct settings *settings);
const char *__real_port_system(void);
const char *__wrap_port_system(void);
uint64_t __wrap_port_now_ns(void);

enum port_status evl_status(int result, const char *what)
{
	return result < 0 ? linux_fail(PORT_FAILED, what, -result) : PORT_OK;
}

struct timespec evl_timespec(uint64_t time_ns)
{
	return (struct timespec){ .tv_sec = (time_t)(time_ns / NS_PER_S), .tv_nsec = (long)(time_ns % NS_PER_S) };
}

uint64_t __wrap_port_now_ns(void)
{
	struct timespec now = { 0 };

	evl_read_clock(EVL_CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists and the address is good */
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* libevl takes memory for each thread that it attaches: of one heap, which keeps what it has. */
static void settle_heap(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_MMAP_MAX, 0);
	mallopt(M_TRIM_THRESHOLD, -1);
}

enum port_status __wrap_linux_setup(const struct settings *settings)
{
	enum port_status status;
	int result = evl_init();

	if (result)
		return linux_fail(result == -EPERM || result == -EACCES ? PORT_DENIED : PORT_FAILED,
				  "the EVL core (a kernel with CONFIG_EVL is needed)", -result);
	settle_heap();
	status = __real_linux_setup(settings);
	free(malloc(HEAP_BYTES));
	return status;
}

const char *__wrap_port_system(void)
{
	static char name[320];
	struct evl_version version = evl_get_version();

	snprintf(name, sizeof(name), "Xenomai 4 EVL, libevl %s, ABI %d, on %s", version.version_string,
		 version.abi_level, __real_port_system());
	return name;
}

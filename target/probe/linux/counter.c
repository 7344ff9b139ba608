// SPDX-License-Identifier: MIT
/*
 * The finest counter that user code can read: the time-stamp counter, the generic timer's virtual count, or the clock
 * where there is neither. The fences keep a reading from moving past the operation that it times.
 */
#include <setjmp.h>
#include <signal.h>

#include "linux.h"

#if defined(__x86_64__)
uint64_t port_cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high)::"memory");
	return (uint64_t)high << 32 | low;
}

uint64_t linux_counter_open(void)
{
	return 0;
}
#elif defined(__aarch64__)
uint64_t port_cycles(void)
{
	uint64_t count;

	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(count)::"memory");
	return count;
}

uint64_t linux_counter_open(void)
{
	uint64_t frequency;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
	return frequency;
}
#elif defined(__arm__) && __ARM_ARCH >= 7
/* Cortex-A8 and A9 have no generic timer, and a kernel may keep it from user space: this is tried once. */
static bool has_counter;
static sigjmp_buf no_counter;

static uint64_t read_counter(void)
{
	uint64_t count;

	__asm__ volatile("isb; mrrc p15, 1, %Q0, %R0, c14; isb" : "=r"(count)::"memory");
	return count;
}

uint64_t port_cycles(void)
{
	return has_counter ? read_counter() : port_now_ns();
}

static void give_up(int signal)
{
	(void)signal;
	siglongjmp(no_counter, 1);
}

uint64_t linux_counter_open(void)
{
	struct sigaction before, during = { .sa_handler = give_up };
	uint32_t frequency = 1000000000; /* of port_now_ns() */

	sigaction(SIGILL, &during, &before);
	if (!sigsetjmp(no_counter, 1)) {
		read_counter();
		__asm__ volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency));
		has_counter = true;
	}
	sigaction(SIGILL, &before, NULL);
	return frequency;
}
#else
uint64_t port_cycles(void)
{
	return port_now_ns();
}

uint64_t linux_counter_open(void)
{
	return 1000000000;
}
#endif

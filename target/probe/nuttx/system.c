// SPDX-License-Identifier: MIT
/* Clock, counter, memory, the result's way out, failures, and what this system is. */
#include <errno.h>
#include <nuttx/config.h>
#include <nuttx/version.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <termios.h>
#include <unistd.h>

#include "mark.h"
#include "nuttx.h"

#ifndef CONFIG_PRIORITY_INHERITANCE
#error "the probe needs CONFIG_PRIORITY_INHERITANCE=y (docs/rtos.md)"
#endif
#if CONFIG_RR_INTERVAL > 0
#error "equal priorities must take turns by yielding only: CONFIG_RR_INTERVAL=0 (docs/rtos.md)"
#endif

enum { NS_PER_S = 1000000000, SAMPLES_BYTES = 64 << 20, READINGS_MOST = 1000 };

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#ifdef CONFIG_SCHED_TICKLESS
#define TICK RTQUAL_TICKLESS_US(TEXT(CONFIG_USEC_PER_TICK))
#else
#define TICK RTQUAL_TICK_US(TEXT(CONFIG_USEC_PER_TICK))
#endif

/* Its protected build is for other processors. */
RTQUAL_MARK("NuttX", CONFIG_VERSION_STRING " (" CONFIG_VERSION_BUILD ")", TICK, RTQUAL_VIRT_A15, "128",
	    RTQUAL_LICENCE("Apache 2") RTQUAL_USB("sources") RTQUAL_WIFI("sources") RTQUAL_PROTECTION("sources"));

static struct {
	uint32_t *samples;
	uint64_t step_ns;
	char failure[160];
} system_ = { .failure = "none" };

/* Named as the Linux port's, whose files we share. */
enum port_status linux_fail(enum port_status status, const char *what, int error)
{
	if (error)
		snprintf(system_.failure, sizeof(system_.failure), "%s: error %d", what, error);
	else
		snprintf(system_.failure, sizeof(system_.failure), "%s", what);
	return status;
}

enum port_status port_fail(enum port_status status, const char *what)
{
	return linux_fail(status, what, 0);
}

const char *port_failure(void)
{
	return system_.failure;
}

/* --- clocks -------------------------------------------------------------------------------------- */

struct timespec nuttx_timespec(uint64_t time_ns)
{
	return (struct timespec){ .tv_sec = (time_t)(time_ns / NS_PER_S), .tv_nsec = (long)(time_ns % NS_PER_S) };
}

uint64_t port_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists and the address is good */
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t port_cycles(void)
{
	uint64_t count;

	/* The barrier keeps the processor from reading ahead of what is measured, as on FreeRTOS. */
	__asm__ volatile("isb\n\tmrrc p15, 1, %Q0, %R0, c14" : "=r"(count) : : "memory");
	return count;
}

uint64_t port_cycles_per_s(void)
{
	uint32_t frequency;

	__asm__ volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency)); /* CNTFRQ */
	return frequency;
}

uint64_t port_clock_step_ns(void)
{
	return system_.step_ns;
}

/* NuttX states its tick, though its clock may read the counter: then the clock moves in less than a tick. */
static uint64_t find_step_ns(void)
{
	const uint64_t stated_ns = CONFIG_USEC_PER_TICK * 1000ull;
	const uint64_t from_ns = port_now_ns();

	for (int i = 0; i < READINGS_MOST; i++) {
		uint64_t now_ns = port_now_ns();

		if (now_ns != from_ns)
			return now_ns - from_ns < stated_ns ?
				       (NS_PER_S + port_cycles_per_s() - 1) / port_cycles_per_s() :
				       stated_ns;
	}
	return stated_ns;
}

/* --- memory and results -------------------------------------------------------------------------- */

enum port_status nuttx_setup(void)
{
	struct sched_param main = { .sched_priority = NUTTX_PRIORITY_MAIN };
	struct termios console;

	if (sched_setscheduler(0, SCHED_FIFO, &main) < 0)
		return linux_fail(PORT_DENIED, "main's priority", errno);
	if (tcgetattr(STDOUT_FILENO, &console) == 0) { /* a port that changes no line ends needs nothing */
		console.c_oflag &= (tcflag_t)~OPOST;
		tcsetattr(STDOUT_FILENO, TCSANOW, &console);
	}
	system_.step_ns = find_step_ns();
	system_.samples = malloc(SAMPLES_BYTES); /* a flat build maps all memory from the start: nothing faults in */
	if (!system_.samples)
		return linux_fail(PORT_FAILED, "memory for the samples: CONFIG_RAM_SIZE is to be the board's 128 MiB",
				  0);
	return PORT_OK;
}

enum port_status port_disturbance_now(struct port_disturbance *disturbance)
{
	(void)disturbance; /* no page faults, and no thread but the benchmark's */
	return PORT_NOT_OFFERED;
}

uint32_t *port_sample_memory(size_t *capacity)
{
	*capacity = SAMPLES_BYTES / sizeof(uint32_t);
	return system_.samples;
}

/* The console's driver sends by interrupts: these are over before anything is measured. */
enum port_status port_write(const char *bytes, size_t count)
{
	while (count) {
		ssize_t written = write(STDOUT_FILENO, bytes, count);

		if (written < 0 && errno != EINTR)
			return linux_fail(PORT_FAILED, "writing the result", errno);
		if (written > 0) {
			bytes += written;
			count -= (size_t)written;
		}
	}
	return tcdrain(STDOUT_FILENO) ? linux_fail(PORT_FAILED, "writing the result", errno) : PORT_OK;
}

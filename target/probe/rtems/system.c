// SPDX-License-Identifier: MIT
/* Clock, counter, memory, the result's way out, failures, and what this system is. */
#include <rtems/score/cpuopts.h>
#include <stdlib.h>

#include "mark.h"
#include "rtems_port.h"
#include "virt_devices.h"

/* RTEMS has USB and Wi-Fi in a library of its own. */
RTQUAL_MARK("RTEMS", RTEMS_VERSION, RTQUAL_TICK_US("1000"), RTQUAL_VIRT_A15, "128",
	    RTQUAL_LICENCE("BSD 2") RTQUAL_USB("none") RTQUAL_WIFI("none") RTQUAL_PROTECTION("none"));

static struct {
	const char *failure;
	uint32_t *samples;
	uint64_t start; /* the counter where RTEMS began to count ticks */
} state = { .failure = "none" };

enum port_status port_fail(enum port_status status, const char *what)
{
	state.failure = what;
	return status;
}

const char *port_failure(void)
{
	return state.failure;
}

uint64_t port_now_ns(void)
{
	return read_counter() - state.start;
}

uint64_t port_cycles(void)
{
	return read_counter();
}

uint64_t port_cycles_per_s(void)
{
	return COUNTER_HZ;
}

uint64_t port_clock_step_ns(void)
{
	return 1;
}

/*
 * RTEMS's own uptime is the same counter, but starts a fraction of a microsecond after its ticks: lateness after a tick
 * would lack that. The BSP's tick is the physical timer's, and the next one is set when a task runs.
 */
static uint64_t start_of_ticks(void)
{
	uint64_t next;

	rtems_task_wake_after(1); /* so that no tick comes between the two readings */
	__asm__ volatile("mrrc p15, 2, %Q0, %R0, c14" : "=r"(next)); /* CNTP_CVAL */
	return next - (uint64_t)RTEMS_PORT_TICK_NS * (rtems_clock_get_ticks_since_boot() + 1);
}

enum port_status rtems_port_setup(void)
{
	if (read_counter_hz() != COUNTER_HZ)
		return port_fail(PORT_FAILED, "the board's counter does not run at 1 GHz: start QEMU with -cpu "
					      "cortex-a15,cntfrq=1000000000");
	state.start = start_of_ticks();
	state.samples = malloc(SAMPLES_BYTES);
	return state.samples ? PORT_OK : port_fail(PORT_FAILED, "memory for the samples: the board has 128 MiB");
}

enum port_status port_disturbance_now(struct port_disturbance *disturbance)
{
	(void)disturbance; /* no pages, and no thread but the benchmark's */
	return PORT_NOT_OFFERED;
}

uint32_t *port_sample_memory(size_t *capacity)
{
	*capacity = SAMPLES_BYTES / sizeof(uint32_t);
	return state.samples;
}

enum port_status port_write(const char *bytes, size_t count)
{
	write_uart(bytes, count);
	return PORT_OK;
}

// SPDX-License-Identifier: MIT
/* Clock, counter, memory, the result's way out, failures, and what this system is. */
#include "mark.h"
#include "threadx.h"
#include "virt_devices.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)
#define VERSION TEXT(THREADX_MAJOR_VERSION) "." TEXT(THREADX_MINOR_VERSION) "." TEXT(THREADX_PATCH_VERSION)

#ifdef TX_TIMER_PROCESS_IN_ISR
#define TIMERS " (timers in the interrupt)"
#else
#define TIMERS
#endif

/* Its modules, which have memory protection, are other ports. USB and the network are products of their own. */
RTQUAL_MARK("ThreadX", VERSION TIMERS, RTQUAL_TICK_US("1000"), RTQUAL_VIRT_A15, "128",
	    RTQUAL_LICENCE("MIT") RTQUAL_USB("none") RTQUAL_WIFI("none") RTQUAL_PROTECTION("sources"));

static const char *failure = "none";

enum port_status port_fail(enum port_status status, const char *what)
{
	failure = what;
	return status;
}

const char *port_failure(void)
{
	return failure;
}

uint64_t port_now_ns(void)
{
	return read_counter();
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

enum port_status port_disturbance_now(struct port_disturbance *disturbance)
{
	(void)disturbance; /* no pages, and no thread but the benchmark's */
	return PORT_NOT_OFFERED;
}

uint32_t *port_sample_memory(size_t *capacity)
{
	*capacity = SAMPLES_BYTES / sizeof(uint32_t);
	return (uint32_t *)SAMPLES;
}

enum port_status port_write(const char *bytes, size_t count)
{
	write_uart(bytes, count);
	return PORT_OK;
}

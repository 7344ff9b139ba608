// SPDX-License-Identifier: MIT
/* Clock, counter, memory, the result's way out, failures, what this system is, and the run itself. */
#include "zephyr_port.h"

#include <zephyr/fatal.h>
#include <zephyr/version.h>

#include "mark.h"
#include "virt_devices.h"

#ifdef CONFIG_TICKLESS_KERNEL
#define TICK RTQUAL_TICKLESS_US("1")
BUILD_ASSERT(ZEPHYR_TICK_NS == 1000, "as the mark says");
#else
#define TICK RTQUAL_TICK_US("1000")
BUILD_ASSERT(ZEPHYR_TICK_NS == 1000000, "as the mark says");
#endif

/* Its user mode is for other processors. */
RTQUAL_MARK("Zephyr", KERNEL_VERSION_STRING, TICK, RTQUAL_VIRT_A15, "128",
	    RTQUAL_LICENCE("Apache 2") RTQUAL_USB("sources") RTQUAL_WIFI("sources") RTQUAL_PROTECTION("sources"));

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
	ARG_UNUSED(disturbance); /* no pages come and go here */
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

void k_sys_fatal_error_handler(unsigned int reason, const struct arch_esf *where)
{
	ARG_UNUSED(reason);
	ARG_UNUSED(where);
	rtos_complain("Zephyr ended by a fatal error", "");
	switch_off();
}

int main(void)
{
	const char *words[RTOS_WORDS_MOST];

	if (read_counter_hz() != COUNTER_HZ) {
		rtos_complain("the board's counter does not run at 1 GHz: start QEMU with ",
			      "-cpu cortex-a15,cntfrq=1000000000");
		switch_off();
	}
	zephyr_timer_setup();
	rtos_run(words, read_words(words, RTOS_WORDS_MOST));
	switch_off();
}

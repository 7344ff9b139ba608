// SPDX-License-Identifier: MIT
/* Clock, counter, interrupts, memory, the result's way out, failures, and what this system is. */
#include "chibios.h"
#include "mark.h"
#include "virt_devices.h"

/* Its sandboxes are for other processors. */
RTQUAL_MARK("ChibiOS/RT", CH_KERNEL_VERSION, RTQUAL_TICKLESS, RTQUAL_VIRT_A15, "128",
	    RTQUAL_LICENCE("GPL 3") RTQUAL_USB("sources") RTQUAL_WIFI("none") RTQUAL_PROTECTION("sources"));

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

/* ChibiOS's Irq_Handler jumps to what stands here, and switches threads where it returns true. */
bool chibios_interrupt(void);
bool (*const chibios_irq_vector)(void) = chibios_interrupt;

bool chibios_interrupt(void)
{
	uint32_t acknowledged = *reg32(GIC_CPU + 0x0c);

	CH_IRQ_PROLOGUE();
	if ((acknowledged & 0x3ff) == PPI_VIRTUAL_TIMER) {
		chSysLockFromISR();
		chVTDoTickI();
		chSysUnlockFromISR();
	}
	*reg32(GIC_CPU + 0x10) = acknowledged;
	CH_IRQ_EPILOGUE();
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

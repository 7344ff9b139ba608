// SPDX-License-Identifier: MIT
/*
 * QEMU's board `virt` with a Cortex-A15: clock, tick and alarm from the architecture's timers, interrupts through the
 * GICv2, output by the PL011, the command line from QEMU's fw_cfg device, the end by PSCI. Addresses and interrupt
 * numbers are those of QEMU's hw/arm/virt.c.
 */
#include "machine.h"
#include "mark.h"
#include "virt_devices.h"

enum {
	PRIORITY_TICK = 240,
	PRIORITY_ALARM = 208, /* more urgent than the tick, and may still call FreeRTOS */

	TIMER_ENABLED = 1,
	NS_PER_TICK = 1000000000 / configTICK_RATE_HZ,
};

/* Its ports with a memory protection unit are for other processors. */
_Static_assert(configTICK_RATE_HZ == 1000, "as the mark says");
RTQUAL_MARK("FreeRTOS", tskKERNEL_VERSION_NUMBER, RTQUAL_TICK_US("1000"), RTQUAL_VIRT_A15, "128",
	    RTQUAL_LICENCE("MIT") RTQUAL_USB("none") RTQUAL_WIFI("none") RTQUAL_PROTECTION("sources"));

/* --- clock, tick, alarm -------------------------------------------------------------------------- */

uint64_t machine_cycles(void)
{
	return read_counter();
}

uint64_t machine_now_ns(void)
{
	return machine_cycles();
}

uint64_t machine_cycles_per_s(void)
{
	return COUNTER_HZ;
}

uint64_t machine_clock_step_ns(void)
{
	return 1;
}

static uint64_t tick_due(void)
{
	uint64_t due;

	__asm__ volatile("mrrc p15, 3, %Q0, %R0, c14" : "=r"(due)); /* CNTV_CVAL */
	return due;
}

static void tick_set(uint64_t due)
{
	__asm__ volatile("mcrr p15, 3, %Q0, %R0, c14\n\tisb" : : "r"(due));
}

void machine_tick_start(void)
{
	uint64_t now = machine_cycles();

	tick_set(now - now % NS_PER_TICK + NS_PER_TICK); /* ticks come at whole milliseconds of the clock */
	__asm__ volatile("mcr p15, 0, %0, c14, c3, 1\n\tisb" : : "r"(TIMER_ENABLED)); /* CNTV_CTL */
}

void machine_tick_next(void)
{
	tick_set(tick_due() + NS_PER_TICK);
}

uint64_t machine_tick_from(uint64_t from_ns)
{
	return (from_ns + NS_PER_TICK - 1) / NS_PER_TICK * NS_PER_TICK;
}

TickType_t machine_ticks_until(uint64_t due_ns)
{
	uint64_t next_ns = tick_due();

	return due_ns <= next_ns ? 1 : 1 + (TickType_t)((due_ns - next_ns + NS_PER_TICK - 1) / NS_PER_TICK);
}

bool machine_alarm_offered(void)
{
	return true;
}

static void alarm_control(uint32_t value)
{
	__asm__ volatile("mcr p15, 0, %0, c14, c2, 1\n\tisb" : : "r"(value)); /* CNTP_CTL */
}

void machine_alarm_set(uint64_t due_ns)
{
	__asm__ volatile("mcrr p15, 2, %Q0, %R0, c14" : : "r"(due_ns)); /* CNTP_CVAL */
	alarm_control(TIMER_ENABLED);
}

/* --- interrupts ---------------------------------------------------------------------------------- */

/* Called by FreeRTOS's FreeRTOS_IRQ_Handler, without the floating-point registers, which nothing here uses. */
void vApplicationIRQHandler(uint32_t acknowledged);
void vApplicationIRQHandler(uint32_t acknowledged)
{
	switch (acknowledged & 0x3ff) {
	case PPI_VIRTUAL_TIMER:
		FreeRTOS_Tick_Handler();
		break;
	case PPI_PHYSICAL_TIMER:
		alarm_control(0);
		port_alarm_expired();
		break;
	default:
		break;
	}
}

void vApplicationIdleHook(void);
void vApplicationIdleHook(void)
{
	__asm__ volatile("wfi");
}

/* --- output, command line, end ------------------------------------------------------------------- */

enum port_status machine_write(const char *bytes, size_t count)
{
	write_uart(bytes, count);
	return PORT_OK;
}

int machine_arguments(const char **words, int most)
{
	return read_words(words, most);
}

const char *machine_start(int count, char **words)
{
	(void)count; /* there are none: fw_cfg has them */
	(void)words;
	if (read_counter_hz() != COUNTER_HZ)
		return "the board's counter does not run at 1 GHz: start QEMU with -cpu cortex-a15,cntfrq=1000000000";
	start_interrupts();
	enable_interrupt(PPI_VIRTUAL_TIMER, PRIORITY_TICK);
	enable_interrupt(PPI_PHYSICAL_TIMER, PRIORITY_ALARM);
	return NULL;
}

void machine_exit(int code)
{
	(void)code; /* QEMU's exit code is 0: the output says what happened */
	switch_off();
}

enum port_status machine_disturbance(struct port_disturbance *disturbance)
{
	(void)disturbance; /* no pages, and no thread but the benchmark's */
	return PORT_NOT_OFFERED;
}

uint32_t *machine_sample_memory(size_t *capacity)
{
	*capacity = SAMPLES_BYTES / sizeof(uint32_t);
	return (uint32_t *)SAMPLES;
}

/* SPDX-License-Identifier: MIT */
/*
 * QEMU's ARM board `virt` for the ports that are its whole machine code: the counter, interrupts through the GICv2, output
 * by the PL011, the end by PSCI. Addresses and interrupt numbers are those of QEMU's hw/arm/virt.c.
 */
#ifndef RTQUAL_VIRT_DEVICES_H
#define RTQUAL_VIRT_DEVICES_H

#include "virt.h"

enum {
	GIC_DISTRIBUTOR = 0x08000000,
	GIC_CPU = 0x08010000,
	PPI_VIRTUAL_TIMER = 27,
	PPI_PHYSICAL_TIMER = 30,
	UART = 0x09000000,

	SAMPLES = 0x41000000,
	SAMPLES_BYTES = 64 << 20, /* the board has at least 128 MiB from 0x40000000 */
};

/* One count a nanosecond, which the board sets with -cpu ...,cntfrq=1000000000: no division to read the clock. */
enum { COUNTER_HZ = 1000000000 };

static inline uint64_t read_counter(void)
{
	uint64_t count;

	/* The barrier keeps the processor from reading ahead of what is measured; Linux's own read has it too. */
	__asm__ volatile("isb\n\tmrrc p15, 1, %Q0, %R0, c14" : "=r"(count) : : "memory"); /* CNTVCT */
	return count;
}

static inline uint32_t read_counter_hz(void)
{
	uint32_t frequency;

	__asm__ volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency)); /* CNTFRQ */
	return frequency;
}

static inline void start_interrupts(void)
{
	*reg32(GIC_DISTRIBUTOR) = 1;
	*reg32(GIC_CPU + 0x04) = 0xff; /* every priority may come */
	*reg32(GIC_CPU + 0x08) = 0; /* all bits of a priority count */
	*reg32(GIC_CPU) = 1;
}

static inline void enable_interrupt(unsigned int number, uint8_t priority)
{
	*reg8(GIC_DISTRIBUTOR + 0x400 + number) = priority;
	*reg32(GIC_DISTRIBUTOR + 0x100 + number / 32 * 4) = 1u << number % 32;
}

static inline void write_uart(const char *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		while (*reg32(UART + 0x18) & 1 << 5) /* the transmit FIFO is full */
			;
		*reg32(UART) = (uint8_t)bytes[i];
	}
}

static inline void __attribute__((noreturn)) switch_off(void)
{
	register uint32_t function __asm__("r0") = 0x84000008; /* PSCI SYSTEM_OFF */

	__asm__ volatile(".arch_extension virt\n\thvc #0" : "+r"(function) : : "memory");
	for (;;)
		;
}

#endif

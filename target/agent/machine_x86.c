// SPDX-License-Identifier: MIT
/* The PC's devices, at x86 ports (QEMU's docs/specs/pvpanic, fw_cfg; isa-debug-exit as machine.py places it). */
#include <errno.h>
#include <string.h>
#include <sys/io.h>

#include "machine.h"

enum {
	PORT_PVPANIC = 0x505,
	PORT_FW_SELECT = 0x510,
	PORT_FW_DATA = 0x511,
	PORT_EXIT = 0xf4,
};

static void open_ports(void)
{
	if (iopl(3))
		die("cannot reach the I/O ports: %s", strerror(errno));
}

void machine_fw_select(uint16_t item)
{
	open_ports();
	outw(item, PORT_FW_SELECT);
}

uint8_t machine_fw_byte(void)
{
	return inb(PORT_FW_DATA);
}

void machine_pause(void)
{
	open_ports();
	outb(1, PORT_PVPANIC);
	__asm__ volatile(".byte 0x0f, 0x1f, 0x80, 'R', 'T', 'Q', 'U'"); /* clock.c holds the guest here */
}

/* Under QEMU's instruction clock the time-stamp counter counts its ns. */
uint64_t machine_now_ns(void)
{
	return __builtin_ia32_rdtsc();
}

void machine_leave(int code)
{
	open_ports();
	outb((uint8_t)code, PORT_EXIT); /* QEMU ends with 2 * code + 1 */
	die("the board did not end");
}

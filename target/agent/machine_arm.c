// SPDX-License-Identifier: MIT
/*
 * QEMU's ARM board `virt` with a 32- or 64-bit processor: fw_cfg in its memory map (hw/arm/virt.c), pvpanic on PCI as
 * engine/boards/machine.py places it.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/reboot.h>
#include <unistd.h>

#include "machine.h"

enum { FW_CFG = 0x09020000, PAGE = 4096 };
#define PVPANIC "/sys/bus/pci/devices/0000:00:04.0/"

/* An unassigned hint, at which clock.c holds the guest; and the virtual counter. */
#ifdef __aarch64__
#define MARK "hint #90"
#define READ_COUNTER "mrs %0, cntvct_el0"
#else
#define MARK ".inst.w 0xf3af805a"
#define READ_COUNTER "mrrc p15, 1, %Q0, %R0, c14"
#endif

static volatile uint8_t *map(const char *path, off_t offset)
{
	int fd = open(path, O_RDWR | O_SYNC | O_CLOEXEC);
	void *memory = fd < 0 ? MAP_FAILED : mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);

	if (memory == MAP_FAILED)
		die("cannot reach a device through %s: %s", path, strerror(errno));
	close(fd);
	return memory;
}

static volatile uint8_t *fw_cfg(void)
{
	static volatile uint8_t *mapped;

	if (!mapped)
		mapped = map("/dev/mem", FW_CFG);
	return mapped;
}

void machine_fw_select(uint16_t item)
{
	*(volatile uint16_t *)(fw_cfg() + 8) = (uint16_t)(item << 8 | item >> 8); /* big endian */
}

uint8_t machine_fw_byte(void)
{
	return *fw_cfg();
}

/* No driver has switched the device on. */
static void enable(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, "1", 1) != 1)
		die("cannot switch a device on through %s: %s", path, strerror(errno));
	close(fd);
}

void machine_pause(void)
{
	volatile uint8_t *pvpanic;

	enable(PVPANIC "enable");
	pvpanic = map(PVPANIC "resource0", 0);
	*pvpanic = 1;
	__asm__ volatile(MARK);
}

/* The board's counter runs at 1 GHz (engine/boards/machine.py). */
uint64_t machine_now_ns(void)
{
	uint64_t count;

	__asm__ volatile(READ_COUNTER : "=r"(count));
	return count;
}

void machine_leave(int code)
{
	(void)code; /* QEMU ends with 0 */
	reboot(RB_POWER_OFF);
	die("the board did not end: %s", strerror(errno));
}

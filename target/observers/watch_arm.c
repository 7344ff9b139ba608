// SPDX-License-Identifier: MIT
/* Which instructions of 64- and 32-bit ARM (A64, A32, T32) are watched, and whether interrupts are on. */
#include <string.h>

#include "qemu.h"
#include "watch.h"

enum { PSTATE = 33, CPSR = 25, MASKS_INTERRUPTS = 0x80, IS_THUMB = 0x20 };
/* Linux's vectors: they go on with an instruction that elsewhere returns from an interrupt. */
static const uint64_t vectors_32 = 0xffff0000;

/*
 * A store of 4 bytes at `offset` from a register (64 bits: or 8 bytes further, where it may lie too), or, with offset 0,
 * any of them.
 */
static bool stores(uint32_t insn, bool wide, uint64_t offset)
{
	uint64_t at = (insn >> 10 & 0xfff) * 4;

	if (wide)
		return (insn & 0xffc00000) == 0xb9000000 && (!offset || at == offset || at == offset + 8);
	return (insn & 0x0e500000) == 0x04000000 && (!offset || (insn & 0xfff) == offset);
}

static char kind_64(uint32_t insn, bool kernel)
{
	if ((insn & 0xffffffe0) == 0xd53be040) /* mrs, of cntvct_el0 */
		return READING;
	if (!kernel)
		return 0;
	return insn == 0xd69f03e0 ? LEAVE : insn == 0xd503207f ? HALT : 0;
}

static bool returns_32(uint32_t insn)
{
	return insn == 0xe1b0f00e || (insn & 0xffffff00) == 0xe25ef000 || /* movs, subs: pc, lr */
	       (insn & 0xfe50ffff) == 0xf8100a00 || (insn & 0xfe508000) == 0xe8508000; /* rfe, ldm with the mode */
}

static char kind_a32(uint32_t insn, uint64_t address, bool kernel)
{
	if ((insn & 0x0ff00fff) == 0x0c500f1e) /* mrrc, of cntvct */
		return READING;
	if (!kernel)
		return 0;
	if (returns_32(insn))
		return address >= vectors_32 ? 0 : LEAVE;
	return insn == 0xe320f003 ? HALT : 0;
}

/* `insn`: of a long one, its first half is the lower one here. */
static char kind_t32(uint32_t insn, size_t size, const struct arm *arm, bool kernel)
{
	if (size == 4 && (insn & 0x0ffffff0) == 0x0f1eec50)
		return READING;
	if (!kernel)
		return 0;
	if (size == 2 && insn == 0xbf30)
		return HALT;
	/* str: short, and with 12 bits */
	return !arm->count && (size == 2 ? (insn & 0xf800) == 0x6000 : (insn & 0xfff0) == 0xf8c0) ? STORE : 0;
}

char arm_kind_of(const uint8_t *bytes, size_t size, uint64_t address, const struct arm *arm)
{
	bool kernel = address >= arm->kernel;
	uint32_t insn = 0;
	char kind;

	if (size != 2 && size != 4)
		return 0;
	memcpy(&insn, bytes, size);
	if (arm->thumb)
		return kind_t32(insn, size, arm, kernel);
	kind = arm->wide ? kind_64(insn, kernel) : kind_a32(insn, address, kernel);
	return kind || !kernel || !stores(insn, arm->wide, arm->count) ? kind : STORE;
}

bool arm_is_call(const uint8_t *bytes, size_t size, const struct arm *arm)
{
	uint32_t insn = 0;

	if (size != 2 && size != 4)
		return false;
	memcpy(&insn, bytes, size);
	if (arm->thumb) /* blx of a register, bl */
		return size == 2 ? (insn & 0xff87) == 0x4780 : (insn & 0xd000f800) == 0xd000f000;
	if (arm->wide) /* bl, blr */
		return (insn & 0xfc000000) == 0x94000000 || (insn & 0xfffffc1f) == 0xd63f0000;
	return insn >> 28 != 0xf && ((insn & 0x0f000000) == 0x0b000000 || (insn & 0x0ffffff0) == 0x012fff30);
}

bool arm_masks(const uint8_t *bytes, const struct arm *arm)
{
	uint32_t insn;

	memcpy(&insn, bytes, sizeof(insn));
	if (arm->thumb)
		return true; /* FreeRTOS, which is small */
	if (arm->wide) /* msr, of daif, daifset and daifclr */
		return (insn & 0xffffffe0) == 0xd51b4220 || (insn & 0xfffff0df) == 0xd50340df;
	return (insn & 0xfff1fe20) == 0xf1000000 || (insn & 0x0ff0f000) == 0x0120f000; /* cps; msr, of cpsr */
}

bool arm_is_offered(bool wide)
{
	return wide ? aarch64_cpu_gdb_read_register : arm_cpu_gdb_read_register;
}

static uint64_t register_of(struct CPUState *cpu, bool wide, int number)
{
	static GByteArray *held;
	uint64_t value = 0;
	int size;

	if (!held)
		held = g_byte_array_new();
	g_byte_array_set_size(held, 0);
	size = wide ? aarch64_cpu_gdb_read_register(cpu, held, number) : arm_cpu_gdb_read_register(cpu, held, number);
	if (size > 0 && (size_t)size <= sizeof(value))
		memcpy(&value, held->data, (size_t)size);
	return value;
}

/* The mask is written at once, and a block ends with what changes it: at a block's begin it is as it is told here. */
bool arm_interrupts_on(struct CPUState *cpu, bool wide)
{
	return !(register_of(cpu, wide, wide ? PSTATE : CPSR) & MASKS_INTERRUPTS);
}

bool arm_is_thumb(struct CPUState *cpu)
{
	return register_of(cpu, false, CPSR) & IS_THUMB;
}

/* The second one, a task_struct, or the third, a thread_info, with which a task_struct begins. */
uint64_t arm_argument(struct CPUState *cpu, bool wide)
{
	return register_of(cpu, wide, wide ? 1 : 2);
}

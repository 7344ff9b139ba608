/* SPDX-License-Identifier: MIT */
/* Instructions of the guest that the clock's plugins look for. */
#ifndef INSNS_H
#define INSNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "plugin.h"

/* How the processors of our guests halt: x86, ARM, Thumb, 64-bit ARM. */
static const uint8_t x86_hlt[] = { 0xf4 };
static const uint8_t arm_wfi[] = { 0x03, 0xf0, 0x20, 0xe3 };
static const uint8_t thumb_wfi[] = { 0x30, 0xbf };
static const uint8_t a64_wfi[] = { 0x7f, 0x20, 0x03, 0xd5 };

/* No-ops that no other code contains: one with an odd displacement, and an unassigned hint. machine_*.c have them too.
 */
static const uint8_t x86_mark[] = { 0x0f, 0x1f, 0x80, 'R', 'T', 'Q', 'U' };
static const uint8_t thumb_mark[] = { 0xaf, 0xf3, 0x5a, 0x80 };
static const uint8_t a64_mark[] = { 0x5f, 0x2b, 0x03, 0xd5 };

static inline bool is(const struct qemu_plugin_insn *insn, const uint8_t *bytes, size_t size)
{
	return qemu_plugin_insn_size(insn) == size && !memcmp(insn_bytes(insn), bytes, size);
}

/* None of these is the start of an instruction of the same size on another processor. */
static inline bool is_halt(const struct qemu_plugin_insn *insn)
{
	return is(insn, x86_hlt, sizeof(x86_hlt)) || is(insn, arm_wfi, sizeof(arm_wfi)) ||
	       is(insn, thumb_wfi, sizeof(thumb_wfi)) || is(insn, a64_wfi, sizeof(a64_wfi));
}

static inline bool is_mark(const struct qemu_plugin_insn *insn)
{
	return is(insn, x86_mark, sizeof(x86_mark)) || is(insn, thumb_mark, sizeof(thumb_mark)) ||
	       is(insn, a64_mark, sizeof(a64_mark));
}

#endif

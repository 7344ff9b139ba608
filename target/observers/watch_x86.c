// SPDX-License-Identifier: MIT
/* Which x86-64 instructions switch interrupts and preemption, enter and leave. */
#include <string.h>

#include "watch.h"

static bool is(const uint8_t *bytes, size_t size, const char *wanted, size_t wanted_size)
{
	return size == wanted_size && !memcmp(bytes, wanted, wanted_size);
}
#define IS(wanted) is(bytes, size, wanted, sizeof(wanted) - 1)

/* Whether it works on gs:count(%rip). */
static bool is_on_count(const uint8_t *bytes, size_t size, uint64_t address, uint64_t count)
{
	int32_t at;

	if (!count || size < 7 || bytes[0] != 0x65 || (bytes[2] & 0xc7) != 0x05)
		return false;
	memcpy(&at, bytes + 3, sizeof(at));
	return address + size + (uint64_t)(int64_t)at == count;
}

/* inc, dec, add and sub of a number. */
int32_t count_change(const uint8_t *bytes, size_t size, uint64_t address, uint64_t count)
{
	int32_t imm32;

	if (!is_on_count(bytes, size, address, count))
		return 0;
	if (size == 7 && bytes[1] == 0xff)
		return bytes[2] == 0x05 ? 1 : bytes[2] == 0x0d ? -1 : 0;
	if (bytes[2] != 0x05 && bytes[2] != 0x2d)
		return 0;
	if (size == 8 && bytes[1] == 0x83)
		imm32 = (int8_t)bytes[7];
	else if (size == 11 && bytes[1] == 0x81)
		memcpy(&imm32, bytes + 7, sizeof(imm32));
	else
		return 0;
	return bytes[2] == 0x05 ? imm32 : -imm32;
}

char kind_of(const uint8_t *bytes, size_t size, uint64_t address, uint64_t count)
{
	if (!(address >> 63)) /* the kernel lies in the upper half */
		return IS("\x0f\x31") || IS("\x0f\x01\xf9") ? READING : 0;
	if (IS("\xfa"))
		return CLI;
	if (IS("\xfb"))
		return STI;
	if (IS("\xf4"))
		return HALT;
	if (IS("\x48\xcf") || IS("\x48\x0f\x07"))
		return LEAVE;
	if (count_change(bytes, size, address, count))
		return COUNT;
	/* add, sub, mov of a register, or the mov of a number */
	if (is_on_count(bytes, size, address, count) &&
	    (bytes[1] == 0x01 || bytes[1] == 0x29 || bytes[1] == 0x89 || bytes[1] == 0xc7))
		return RECOUNT;
	return 0;
}

bool is_call(const uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (at < size && (bytes[at] == 0x2e || bytes[at] == 0x3e || (bytes[at] & 0xf0) == 0x40))
		at++; /* prefixes */
	return at + 1 < size && (bytes[at] == 0xe8 || (bytes[at] == 0xff && (bytes[at + 1] >> 3 & 7) == 2));
}

// SPDX-License-Identifier: MIT
/* Seen in Debian's QEMU 7.2 (x86 and ARM) and 10.0, built for x86-64. */
#include "icount.h"

#include <string.h>

#ifdef __x86_64__
/* An instruction with a field of the CPU in it. */
struct use {
	uint8_t code[3];
	size_t at; /* from where the first begins */
};

/* executed = budget - (low + extra), as GCC writes it: mov budget(%rdi),%rax; movzwl low(%rdi),%edx; ...; add
 * extra(%rdi),%rdx. */
static const struct use budget = { { 0x48, 0x8b, 0x87 }, 0 }, low = { { 0x0f, 0xb7, 0x97 }, 7 },
			extra = { { 0x48, 0x03, 0x97 }, 21 };

enum { FIELD = 3, USE_BYTES = 7, SEARCHED = 128 };

static bool is(const uint8_t *code, const struct use *use, int32_t *field)
{
	memcpy(field, code + use->at + FIELD, sizeof(*field));
	return !memcmp(code + use->at, use->code, sizeof(use->code)) && *field > 0;
}

bool icount_find(struct icount *at)
{
	const uint8_t *code = (const uint8_t *)icount_update;

	for (size_t i = 0; i < SEARCHED; i++)
		if (is(code + i, &budget, &at->budget) && is(code + i, &low, &at->low) &&
		    is(code + i, &extra, &at->extra))
			return at->extra == at->budget + (int32_t)sizeof(int64_t);
	return false;
}
#else
bool icount_find(struct icount *at)
{
	(void)at;
	return false;
}
#endif

int64_t icount_left(const struct icount *at, const struct CPUState *cpu)
{
	const char *of = (const char *)cpu;

	return *(const int64_t *)(of + at->extra) + *(const uint16_t *)(of + at->low);
}

void icount_charge(const struct icount *at, struct CPUState *cpu, int64_t insns)
{
	char *of = (char *)cpu;
	int64_t *of_budget = (int64_t *)(of + at->budget), *of_extra = (int64_t *)(of + at->extra), taken;
	uint16_t *of_low = (uint16_t *)(of + at->low);

	taken = insns < *of_extra ? insns : *of_extra;
	*of_extra -= taken;
	insns -= taken;
	if (!insns)
		return;
	taken = insns < *of_low ? insns : *of_low;
	*of_low -= (uint16_t)taken;
	*of_budget += insns - taken;
}

// SPDX-License-Identifier: MIT
/* Does with a frame what the published driver does. Slow on purpose: do not improve. */
#include <string.h>

#include "baseline.h"

static const char *const switch_names[] = { "decode", "clear", "copy", "sleep", "command", "stamp" };

int ds325_baseline_switches(const char *text)
{
	int switches = 0;

	if (!strcmp(text, "all"))
		return DS325_BASELINE_ALL;
	if (!strcmp(text, "none"))
		return 0;
	for (;;) {
		size_t length = strcspn(text, ",");
		unsigned int one = 0;

		while (one < sizeof(switch_names) / sizeof(*switch_names) &&
		       (strlen(switch_names[one]) != length || strncmp(text, switch_names[one], length)))
			one++;
		if (one == sizeof(switch_names) / sizeof(*switch_names))
			return -1;
		switches |= 1 << one;
		if (!text[length])
			return switches;
		text += length + 1;
	}
}

/* For the nearest pixels: 0 to 1023 steps become 255 to 0, in eight bits. */
static uint8_t mirrored(uint8_t low, unsigned int high)
{
	return (uint8_t)(255 - 255 * (int)(low + 255 * high) / 1023);
}

/*
 * A pixel's class, and its place within the class. `i_high` and `q_high` are the words' upper bytes, which for words of
 * 12 bits are sign and size. The classes are those of the description: 1 to 7 from near to far; 0, 0xd, 0xe and 0xf for
 * out of range.
 */
static uint16_t classified(uint8_t i_high, uint8_t q_low, uint8_t q_high, bool contour)
{
	if (i_high == 0 && q_high == 0)
		return 0x0f00 | q_low;
	if (i_high == 0xff && q_high == 0)
		return q_low < 0xf0 ? 0x0700 | q_low : 0x07ff;
	if (i_high == 0xff && q_high == 0xff) {
		if (q_low > 0xc0)
			return 0x0600 | q_low;
		if (q_low > 0x80)
			return 0x0500 | q_low;
		if (q_low > 0x40)
			return 0x0400 | q_low;
		return 0x0300 | q_low;
	}
	if (i_high == 0 && q_high == 0xff && q_low >= 0xf0)
		return 0x0e00 | q_low;
	if (i_high < 8) {
		uint16_t class = i_high <= 4 ? 0x0200 : 0x0100;

		q_low = mirrored(q_low, i_high <= 4 ? i_high : i_high - 4u);
		return contour ? (uint16_t)(0x0100 | q_high << 12 | q_low) : class | q_low;
	}
	return contour ? (uint16_t)(q_high << 12 | q_low) : q_low;
}

/* Word after word: a word of I gives a pixel together with the Q 16 bytes on, a word of Q is skipped. */
static void decode(struct ds325_baseline *baseline, const uint8_t *raw, uint16_t *depth)
{
	uint8_t *infrared = baseline->infrared;
	unsigned int run = 0;

	for (int word = 0; word < DS325_RAW_WIDTH * DS325_RAW_HEIGHT - 2 * DS325_BASELINE_UNREAD; word++) {
		if (word % DS325_BLOCK == 0)
			run++;
		if (run % 2) {
			*depth++ = classified(raw[1], raw[2 * DS325_BLOCK], raw[2 * DS325_BLOCK + 1],
					      baseline->contour);
			*infrared++ = raw[0];
			*infrared++ = 0;
			*infrared++ = 0;
		}
		raw += 2;
	}
}

unsigned int ds325_baseline_frame(struct ds325_baseline *baseline, const void *raw, uint16_t *out)
{
	bool copies = baseline->switches & DS325_BASELINE_COPY;
	uint16_t *to = copies ? baseline->depth : out;

	if (baseline->switches & DS325_BASELINE_CLEAR) {
		memset(out, 0, DS325_PIXELS * sizeof(*out));
		__asm__ volatile("" : : "r"(out) : "memory"); /* the compiler sees that all is written over */
	}
	if (baseline->switches & DS325_BASELINE_DECODE)
		decode(baseline, raw, to);
	else
		baseline->method->blocks(baseline->decoder, raw, 0, DS325_PIXELS / DS325_BLOCK, to);
	if (copies)
		memcpy(out, baseline->depth, sizeof(baseline->depth));
	return copies ? 1 : 0;
}

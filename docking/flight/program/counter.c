// SPDX-License-Identifier: MIT
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "common/crc32.h"
#include "counter.h"

void counter_set(struct counter copy[COUNTER_COPIES], uint64_t count)
{
	for (int one = 0; one < COUNTER_COPIES; one++) {
		copy[one].high = (uint32_t)(count >> 32);
		copy[one].low = (uint32_t)count;
		copy[one].crc = crc32_add(0, &copy[one], offsetof(struct counter, crc)); /* of zeros it is none */
	}
}

enum counter_found counter_get(struct counter copy[COUNTER_COPIES], uint64_t *count)
{
	struct counter right[COUNTER_COPIES];
	bool found = false;

	*count = 0;
	for (int one = 0; one < COUNTER_COPIES; one++) {
		const uint64_t said = (uint64_t)copy[one].high << 32 | copy[one].low;

		if (copy[one].crc != crc32_add(0, &copy[one], offsetof(struct counter, crc)))
			continue;
		*count = said > *count ? said : *count;
		found = true;
	}
	if (!found)
		return COUNTER_LOST;
	counter_set(right, *count);
	if (!memcmp(copy, right, sizeof(right)))
		return COUNTER_SOUND;
	memcpy(copy, right, sizeof(right));
	return COUNTER_MENDED;
}

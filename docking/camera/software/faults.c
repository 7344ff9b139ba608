// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <string.h>

#include "faults.h"

const char *const fault_names[FAULT_KINDS] = {
	[FAULT_NONE] = "none",       [FAULT_DROP] = "drop",   [FAULT_SHORT] = "short",
	[FAULT_CORRUPT] = "corrupt", [FAULT_ERROR] = "error", [FAULT_HEADER] = "header",
	[FAULT_LATE] = "late",       [FAULT_STALL] = "stall", [FAULT_UNPLUG] = "unplug",
};

/* What a fault without an argument means: bytes or ms. */
static const uint32_t usual[FAULT_KINDS] = {
	[FAULT_SHORT] = 1000,
	[FAULT_CORRUPT] = 64,
	[FAULT_LATE] = 20,
	[FAULT_UNPLUG] = 500,
};

static bool number(const char **text, uint64_t most, uint64_t *value)
{
	const char *digit = *text;

	for (*value = 0; *digit >= '0' && *digit <= '9'; digit++) {
		*value = *value * 10 + (uint64_t)(*digit - '0');
		if (*value > most)
			return false;
	}
	if (digit == *text)
		return false;
	*text = digit;
	return true;
}

bool fault_parse(const char *text, const uint64_t *next, struct fault *fault)
{
	size_t length = strcspn(text, "@:");
	uint64_t argument;

	fault->kind = FAULT_NONE;
	for (int kind = FAULT_DROP; kind < FAULT_KINDS; kind++)
		if (strlen(fault_names[kind]) == length && !strncmp(text, fault_names[kind], length))
			fault->kind = kind;
	if (fault->kind == FAULT_NONE)
		return false;
	fault->argument = usual[fault->kind];
	text += length;
	if (*text == '@') {
		text++;
		if (!number(&text, UINT32_MAX, &fault->frame))
			return false;
	} else if (next) {
		fault->frame = *next;
	} else {
		return false;
	}
	if (*text == ':') {
		text++;
		if (!number(&text, 3600000, &argument))
			return false;
		fault->argument = (uint32_t)argument;
	}
	return !*text;
}

bool faults_add(struct faults *faults, const struct fault *fault)
{
	if (faults->count == FAULTS)
		return false;
	faults->list[faults->count++] = *fault;
	return true;
}

struct fault faults_take(struct faults *faults, uint64_t frame)
{
	for (unsigned int i = 0; i < faults->count; i++) {
		if (faults->list[i].frame == frame) {
			struct fault found = faults->list[i];

			faults->count--;
			memmove(faults->list + i, faults->list + i + 1, (faults->count - i) * sizeof(found));
			return found;
		}
	}
	return (struct fault){ .kind = FAULT_NONE };
}

// SPDX-License-Identifier: MIT
/* The file that a restart reads, as octets: what wrote it, how long it is, a checksum, the state. */
#include <string.h>

#include "common/crc32.h"
#include "world.h"

static const char magic[8] = "DS325FL1"; /* another layout, another number */

size_t keep_make(uint8_t *file, const struct kept *kept)
{
	const uint32_t octets = sizeof(*kept), crc = crc32_add(0, kept, sizeof(*kept));

	memcpy(file, magic, sizeof(magic));
	memcpy(file + 8, &octets, 4);
	memcpy(file + 12, &crc, 4);
	memcpy(file + KEEP_HEAD, kept, sizeof(*kept));
	return KEEP_OCTETS;
}

/* A right checksum says that nothing was damaged, not that every value has a meaning. */
static bool plausible(const struct kept *kept)
{
	const struct settings *settings = &kept->settings;

	if (settings->mode >= MODE_COUNT || settings->pose > 1 || settings->schedule_on > 1 ||
	    settings->time_rate > 8 || kept->scheduled > PACKET_SCHEDULE_MOST || !parameters_fit(settings->parameter))
		return false;
	for (uint32_t one = STRUCTURE_FIRST; one <= STRUCTURE_LAST; one++)
		if (settings->interval_ms[one] < 10 || settings->interval_ms[one] > 3600000)
			return false;
	for (uint32_t one = 0; one < kept->scheduled; one++)
		if (kept->schedule[one].octets < PUS_LEAST || kept->schedule[one].octets > PACKET_SCHEDULED_OCTETS)
			return false;
	return true;
}

bool keep_sound(const uint8_t *file, size_t octets, struct kept *kept)
{
	uint32_t said[2];

	if (octets != KEEP_OCTETS || memcmp(file, magic, sizeof(magic)))
		return false;
	memcpy(said, file + 8, sizeof(said));
	memcpy(kept, file + KEEP_HEAD, sizeof(*kept));
	return said[0] == sizeof(*kept) && said[1] == crc32_add(0, kept, sizeof(*kept)) && plausible(kept);
}

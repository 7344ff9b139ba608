// SPDX-License-Identifier: MIT
/* Service 11: telecommands for later. */
#include <string.h>

#include "flight.h"

enum failure command_schedule_on(struct flight *flight, const struct request *request)
{
	(void)request;
	flight->kept.settings.schedule_on = true;
	flight_changed(flight);
	return FAILURE_NONE;
}

enum failure command_schedule_off(struct flight *flight, const struct request *request)
{
	(void)request;
	flight->kept.settings.schedule_on = false;
	flight_changed(flight);
	return FAILURE_NONE;
}

enum failure command_schedule_reset(struct flight *flight, const struct request *request)
{
	flight->kept.scheduled = 0;
	return command_schedule_off(flight, request);
}

/* Is this a telecommand that may be run later? */
static enum failure admissible(const struct flight *flight, const uint8_t *packet, size_t octets, uint64_t at_ns)
{
	struct telecommand telecommand;
	struct request request;

	if (octets > PACKET_SCHEDULED_OCTETS || pus_parse(packet, octets, &telecommand) ||
	    pus_understand(&telecommand, &request) || telecommand.service == 11)
		return FAILURE_BAD_ARGUMENT;
	return at_ns <= flight->tai_ns ? FAILURE_IN_PAST : FAILURE_NONE;
}

enum failure command_schedule_insert(struct flight *flight, const struct request *request)
{
	struct kept *kept = &flight->kept;
	int64_t values[PUS_ARGUMENTS_MOST];
	size_t at = request->entries;

	for (uint32_t one = 0; one < request->count; one++) { /* all or none */
		const uint8_t *packet;
		enum failure failure;

		pus_entry(request, &at, values);
		packet = request->telecommand.data + values[1];
		failure = admissible(flight, packet, pus_length(packet), (uint64_t)values[0]);
		if (failure)
			return failure;
	}
	if (kept->scheduled + request->count > PACKET_SCHEDULE_MOST)
		return FAILURE_FULL;
	at = request->entries;
	for (uint32_t one = 0; one < request->count; one++) {
		struct scheduled *to = &kept->schedule[kept->scheduled++];
		const uint8_t *packet;

		pus_entry(request, &at, values);
		packet = request->telecommand.data + values[1];
		to->at_ns = (uint64_t)values[0];
		to->octets = (uint32_t)pus_length(packet);
		memcpy(to->packet, packet, to->octets);
	}
	flight_changed(flight);
	return FAILURE_NONE;
}

static bool same(const struct scheduled *scheduled, const int64_t values[PUS_ARGUMENTS_MOST])
{
	return pus_get(scheduled->packet + 9, 2) == values[0] && (pus_get(scheduled->packet, 2) & 0x7ff) == values[1] &&
	       (pus_get(scheduled->packet + 2, 2) & 0x3fff) == values[2];
}

/* The first that has this source, process and sequence count; as many as there are where none has. */
static uint32_t find(const struct kept *kept, const int64_t values[PUS_ARGUMENTS_MOST])
{
	uint32_t one = 0;

	while (one < kept->scheduled && !same(&kept->schedule[one], values))
		one++;
	return one;
}

static void take_out(struct kept *kept, uint32_t one)
{
	kept->scheduled--;
	memmove(&kept->schedule[one], &kept->schedule[one + 1], (kept->scheduled - one) * sizeof(*kept->schedule));
}

enum failure command_schedule_delete(struct flight *flight, const struct request *request)
{
	struct kept *kept = &flight->kept;
	int64_t values[PUS_ARGUMENTS_MOST];
	size_t at = request->entries;

	for (uint32_t one = 0; one < request->count; one++) { /* all or none */
		pus_entry(request, &at, values);
		if (find(kept, values) == kept->scheduled)
			return FAILURE_NOT_THERE;
	}
	at = request->entries;
	for (uint32_t one = 0; one < request->count; one++) {
		uint32_t found;

		pus_entry(request, &at, values);
		found = find(kept, values);
		if (found < kept->scheduled) /* else it was named twice */
			take_out(kept, found);
	}
	flight_changed(flight);
	return FAILURE_NONE;
}

enum failure command_schedule_report(struct flight *flight, const struct request *request)
{
	const struct kept *kept = &flight->kept;
	uint8_t data[PACKET_LARGEST - PUS_REPORT_HEADER - PUS_CRC];
	uint32_t one = 0;

	(void)request;
	do { /* as many packets as it takes; one without entries where there is nothing */
		uint8_t *at = data + 1;

		for (*data = 0; one < kept->scheduled; one++, ++*data) {
			const struct scheduled *scheduled = &kept->schedule[one];

			if ((size_t)(at - data) + PUS_TIME + scheduled->octets > sizeof(data))
				break;
			at = pus_put_time(at, scheduled->at_ns);
			memcpy(at, scheduled->packet, scheduled->octets);
			at += scheduled->octets;
		}
		flight_report(flight, REPORT_SCHEDULED, data, (size_t)(at - data));
	} while (one < kept->scheduled);
	return FAILURE_NONE;
}

/* The one whose time comes first; in the order in which they came where they are for the same time. */
static uint32_t first(const struct kept *kept)
{
	uint32_t found = 0;

	for (uint32_t one = 1; one < kept->scheduled; one++)
		if (kept->schedule[one].at_ns < kept->schedule[found].at_ns)
			found = one;
	return found;
}

void schedule_due(struct flight *flight)
{
	struct kept *kept = &flight->kept;

	/* Bounded: what is released inserts nothing. */
	while (kept->scheduled) {
		const uint32_t one = first(kept);
		struct scheduled due = kept->schedule[one];

		if (due.at_ns > flight->tai_ns)
			break;
		take_out(kept, one);
		flight_changed(flight);
		if (kept->settings.schedule_on)
			flight_released(flight, due.packet, due.octets);
	}
}

uint64_t schedule_next_ns(const struct flight *flight)
{
	const struct kept *kept = &flight->kept;
	uint64_t at_ns;

	if (!kept->scheduled)
		return UINT64_MAX;
	at_ns = kept->schedule[first(kept)].at_ns;
	return at_ns <= flight->tai_ns ? flight->now_ns : flight->now_ns + (at_ns - flight->tai_ns);
}

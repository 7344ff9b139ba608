// SPDX-License-Identifier: MIT
/* Services 3 (housekeeping), 5 (events), 9 (time), 17 (test) and 20 (parameters). */
#include <string.h>

#include "flight.h"

static void report_structure(struct flight *flight, uint32_t structure)
{
	struct seen seen = { 0 };
	const struct settings *settings = &flight->kept.settings;

	flight->outside.look(flight->outside.world, &seen);
	switch ((enum structure)structure) {
	case STRUCTURE_CAMERA:
		seen.camera.mode = settings->mode;
		seen.camera.rate = (uint32_t)settings->parameter[PARAMETER_RATE];
		seen.camera.disconnections = flight->times_gone;
		flight_report_fields(flight, REPORT_HK_CAMERA, &seen.camera);
		break;
	case STRUCTURE_POSE:
		seen.pose.pose = settings->pose;
		flight_report_fields(flight, REPORT_HK_POSE, &seen.pose);
		break;
	case STRUCTURE_CONTROL:
		flight_report_fields(flight, REPORT_HK_CONTROL, &seen.control);
		break;
	case STRUCTURE_LINK:
		seen.link.accepted = flight->accepted;
		seen.link.rejected = flight->rejected;
		seen.link.duplicates = flight->duplicates;
		flight_report_fields(flight, REPORT_HK_LINK, &seen.link);
		break;
	default:
		seen.system.uptime_ms = (uint32_t)((flight->now_ns - flight->started_ns) / 1000000);
		seen.system.boots = settings->boots;
		seen.system.boot_cause = flight->cause;
		seen.system.camera_faults = flight->faults;
		seen.system.scheduled = flight->kept.scheduled;
		seen.system.schedule = settings->schedule_on;
		seen.system.state_mended = flight->mended;
		flight_report_fields(flight, REPORT_HK_SYSTEM, &seen.system);
	}
}

static uint64_t interval_ns(const struct flight *flight, uint32_t structure)
{
	return flight->kept.settings.interval_ms[structure] * 1000000ull;
}

/* Does what a list of structures is for, to each. */
static enum failure structures(struct flight *flight, const struct request *request)
{
	struct settings *settings = &flight->kept.settings;
	int64_t values[PUS_ARGUMENTS_MOST];
	size_t at = request->entries;
	uint32_t reported = 0; /* bits by number: one that is named twice is reported once */

	for (uint32_t one = 0; one < request->count; one++) {
		uint32_t structure;

		pus_entry(request, &at, values);
		structure = (uint32_t)values[0];
		if (request->command->run == command_hk_once) {
			if (!(reported >> structure & 1))
				report_structure(flight, structure);
			reported |= 1u << structure;
			continue;
		}
		if (request->command->run == command_hk_off) {
			settings->structures_on &= ~(1u << structure);
			continue;
		}
		if (request->command->run == command_hk_on)
			settings->structures_on |= 1u << structure;
		else
			settings->interval_ms[structure] = (uint32_t)values[1];
		flight->structure_due_ns[structure] = flight->now_ns + interval_ns(flight, structure);
	}
	flight_changed(flight);
	return FAILURE_NONE;
}

enum failure command_hk_on(struct flight *flight, const struct request *request)
{
	return structures(flight, request);
}

enum failure command_hk_off(struct flight *flight, const struct request *request)
{
	return structures(flight, request);
}

enum failure command_hk_once(struct flight *flight, const struct request *request)
{
	return structures(flight, request);
}

enum failure command_hk_interval(struct flight *flight, const struct request *request)
{
	return structures(flight, request);
}

static enum failure events(struct flight *flight, const struct request *request, bool off)
{
	int64_t values[PUS_ARGUMENTS_MOST];
	size_t at = request->entries;

	for (uint32_t one = 0; one < request->count; one++) {
		pus_entry(request, &at, values);
		if (off)
			flight->kept.settings.events_off |= 1u << values[0];
		else
			flight->kept.settings.events_off &= ~(1u << values[0]);
	}
	flight_changed(flight);
	return FAILURE_NONE;
}

enum failure command_events_on(struct flight *flight, const struct request *request)
{
	return events(flight, request, false);
}

enum failure command_events_off(struct flight *flight, const struct request *request)
{
	return events(flight, request, true);
}

static void report_time(struct flight *flight)
{
	uint8_t data[1 + PUS_TIME] = { (uint8_t)flight->kept.settings.time_rate };

	pus_put_time(data + 1, flight->tai_ns);
	flight_report(flight, REPORT_TIME, data, sizeof(data));
}

enum failure command_time_rate(struct flight *flight, const struct request *request)
{
	flight->kept.settings.time_rate = (uint32_t)request->argument[0];
	flight->time_due_ns = flight->now_ns + (1000000000ull << request->argument[0]);
	flight_changed(flight);
	report_time(flight);
	return FAILURE_NONE;
}

enum failure command_ping(struct flight *flight, const struct request *request)
{
	(void)request;
	flight_report(flight, REPORT_PONG, NULL, 0);
	return FAILURE_NONE;
}

/* The next after now of those that follow `due` at this interval: none is made up for. */
static void next(uint64_t *due_ns, uint64_t now_ns, uint64_t interval_ns)
{
	*due_ns += interval_ns;
	if (*due_ns <= now_ns)
		*due_ns = now_ns + interval_ns;
}

void housekeeping_due(struct flight *flight)
{
	const struct settings *settings = &flight->kept.settings;

	for (uint32_t one = STRUCTURE_FIRST; one <= STRUCTURE_LAST; one++)
		if (settings->structures_on >> one & 1 && flight->structure_due_ns[one] <= flight->now_ns) {
			next(&flight->structure_due_ns[one], flight->now_ns, interval_ns(flight, one));
			report_structure(flight, one);
		}
	if (settings->time_rate && flight->time_due_ns <= flight->now_ns) {
		next(&flight->time_due_ns, flight->now_ns, 1000000000ull << settings->time_rate);
		report_time(flight);
	}
}

uint64_t housekeeping_next_ns(const struct flight *flight)
{
	const struct settings *settings = &flight->kept.settings;
	uint64_t next_ns = settings->time_rate ? flight->time_due_ns : UINT64_MAX;

	for (uint32_t one = STRUCTURE_FIRST; one <= STRUCTURE_LAST; one++)
		if (settings->structures_on >> one & 1 && flight->structure_due_ns[one] < next_ns)
			next_ns = flight->structure_due_ns[one];
	return next_ns;
}

static bool fits(const struct parameter_row *parameter, int64_t value)
{
	for (int one = 0; one < parameter->choices; one++)
		if (parameter->choice[one] == value)
			return true;
	return !parameter->choices && value >= parameter->least && value <= parameter->most;
}

bool parameters_fit(const int32_t parameter[PARAMETER_COUNT])
{
	for (uint32_t one = 0; one < PARAMETER_COUNT; one++)
		if (!fits(pus_parameter(one), parameter[one]))
			return false;

	/* No decoder takes off more than a metre. */
	const int64_t warmer_mc = (int64_t)parameter[PARAMETER_TEMPERATURE_MC] -
				  pus_parameter(PARAMETER_TEMPERATURE_MC)->at_first;
	const int64_t off_um = parameter[PARAMETER_OFFSET_UM] + parameter[PARAMETER_DRIFT_UM_PER_K] * warmer_mc / 1000;

	return off_um >= -pus_parameter(PARAMETER_OFFSET_UM)->most &&
	       off_um <= pus_parameter(PARAMETER_OFFSET_UM)->most;
}

enum failure command_set_parameters(struct flight *flight, const struct request *request)
{
	int32_t parameter[PARAMETER_COUNT];
	int64_t values[PUS_ARGUMENTS_MOST];
	size_t at = request->entries;

	memcpy(parameter, flight->kept.settings.parameter, sizeof(parameter));
	for (uint32_t one = 0; one < request->count; one++) { /* all or none */
		pus_entry(request, &at, values);
		if (!fits(pus_parameter((uint32_t)values[0]), values[1]))
			return FAILURE_BAD_ARGUMENT;
		parameter[values[0]] = (int32_t)values[1];
	}
	if (!parameters_fit(parameter))
		return FAILURE_BAD_ARGUMENT;
	memcpy(flight->kept.settings.parameter, parameter, sizeof(parameter));
	flight_changed(flight);
	mode_order(flight);
	return FAILURE_NONE;
}

enum failure command_get_parameters(struct flight *flight, const struct request *request)
{
	enum { ROOM = PACKET_LARGEST - PUS_REPORT_HEADER - PUS_CRC, EACH = 5 };
	uint8_t data[ROOM] = { (uint8_t)request->count }, *to = data + 1;
	int64_t values[PUS_ARGUMENTS_MOST];
	size_t at = request->entries;

	if (1 + request->count * EACH > ROOM)
		return FAILURE_BAD_ARGUMENT;
	for (uint32_t one = 0; one < request->count; one++) {
		pus_entry(request, &at, values);
		*to++ = (uint8_t)values[0];
		to = pus_put(to, (uint32_t)flight->kept.settings.parameter[values[0]], 4);
	}
	flight_report(flight, REPORT_PARAMETERS, data, (size_t)(to - data));
	return FAILURE_NONE;
}

// SPDX-License-Identifier: MIT
/* Service 12: values that are to stay within limits. */
#include "flight.h"

enum { BELOW = -1, WITHIN, ABOVE };

static enum failure turn(struct flight *flight, const struct request *request, bool on)
{
	int64_t values[PUS_ARGUMENTS_MOST];
	size_t at = request->entries;

	for (uint32_t one = 0; one < request->count; one++) {
		pus_entry(request, &at, values);
		flight->kept.settings.monitor[values[0]].on = on;
		flight->limit[values[0]].state = WITHIN;
		flight->limit[values[0]].row = 0;
	}
	flight_changed(flight);
	return FAILURE_NONE;
}

enum failure command_monitor_on(struct flight *flight, const struct request *request)
{
	return turn(flight, request, true);
}

enum failure command_monitor_off(struct flight *flight, const struct request *request)
{
	return turn(flight, request, false);
}

enum failure command_monitor_limits(struct flight *flight, const struct request *request)
{
	int64_t values[PUS_ARGUMENTS_MOST];
	size_t at = request->entries;

	for (uint32_t one = 0; one < request->count; one++) { /* all or none */
		pus_entry(request, &at, values);
		if (values[1] > values[2])
			return FAILURE_BAD_ARGUMENT;
	}
	at = request->entries;
	for (uint32_t one = 0; one < request->count; one++) {
		struct monitoring *monitor;

		pus_entry(request, &at, values);
		monitor = &flight->kept.settings.monitor[values[0]];
		monitor->low = (int32_t)values[1];
		monitor->high = (int32_t)values[2];
		monitor->checks = (uint32_t)values[3];
		flight->limit[values[0]].row = 0;
	}
	flight_changed(flight);
	return FAILURE_NONE;
}

enum failure command_monitor_report(struct flight *flight, const struct request *request)
{
	uint8_t data[1 + MONITOR_COUNT * 11] = { MONITOR_COUNT }, *at = data + 1;

	(void)request;
	for (uint8_t one = 0; one < MONITOR_COUNT; one++) {
		const struct monitoring *monitor = &flight->kept.settings.monitor[one];

		*at++ = one;
		*at++ = (uint8_t)monitor->on;
		at = pus_put(pus_put(at, (uint32_t)monitor->low, 4), (uint32_t)monitor->high, 4);
		*at++ = (uint8_t)monitor->checks;
	}
	flight_report(flight, REPORT_MONITORS, data, sizeof(data));
	return FAILURE_NONE;
}

static int32_t bounded(uint32_t value)
{
	return value > INT32_MAX ? INT32_MAX : (int32_t)value;
}

/* False where there is nothing to judge. */
static bool measured(const struct flight *flight, const struct seen *seen, enum monitor monitor, int32_t *value)
{
	const struct settings *settings = &flight->kept.settings;
	const bool streams = settings->mode == MODE_STREAM || settings->mode == MODE_DEGRADED;

	switch (monitor) {
	case MONITOR_RANGE:
		*value = seen->pose.range_mm > 0 && seen->pose.range_mm < 1e6f ? (int32_t)seen->pose.range_mm : 0;
		return streams && seen->pose.pose_status == POSE_STATE_VALID;
	case MONITOR_TEMPERATURE:
		*value = seen->system.temperature_mc;
		return seen->temperature;
	case MONITOR_FRAME_AGE:
		*value = bounded(seen->camera.frame_age_us);
		return streams;
	case MONITOR_POSE_AGE:
		*value = bounded(seen->pose.pose_age_us);
		return streams && settings->pose;
	default:
		*value = bounded(seen->control_late_us);
		return true;
	}
}

static void check(struct flight *flight, enum monitor one, int32_t value)
{
	static const enum event events[] = { EVENT_BELOW_LIMIT, EVENT_WITHIN_LIMITS, EVENT_ABOVE_LIMIT };
	const struct monitoring *monitor = &flight->kept.settings.monitor[one];
	const int32_t state = value < monitor->low ? BELOW : value > monitor->high ? ABOVE : WITHIN;

	if (state != flight->limit[one].last)
		flight->limit[one].row = 0;
	flight->limit[one].last = state;
	if (flight->limit[one].row < monitor->checks)
		flight->limit[one].row++;
	if (flight->limit[one].row == monitor->checks && state != flight->limit[one].state) {
		flight->limit[one].state = state;
		flight_event(flight, events[state + 1], one, (uint32_t)value);
	}
}

void monitor_due(struct flight *flight)
{
	struct seen seen = { 0 };
	int32_t value;

	flight->outside.look(flight->outside.world, &seen);
	for (int one = 0; one < MONITOR_COUNT; one++)
		if (flight->kept.settings.monitor[one].on && measured(flight, &seen, one, &value))
			check(flight, one, value);
}

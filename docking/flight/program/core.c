// SPDX-License-Identifier: MIT
/* From a packet to its command, with everything that has to be said on the way. */
#include <string.h>

#include "common/crc32.h"
#include "flight.h"
#include "sabotage.h"

void flight_report(struct flight *flight, enum report report, const uint8_t *data, size_t octets)
{
	const struct report_row *row = pus_report_row(report);
	uint8_t packet[PACKET_LARGEST];

	flight->outside.send(flight->outside.world, packet,
			     pus_report(packet, &flight->counts, row->service, row->subtype, flight->tai_ns, data,
					octets));
}

void flight_report_fields(struct flight *flight, enum report report, const void *fields)
{
	const struct report_row *row = pus_report_row(report);
	uint8_t data[1 + 4 * PUS_FIELDS_MOST], *at = data;

	if (row->id >= 0)
		*at++ = (uint8_t)row->id;
	for (int one = 0; one < row->fields; one++) {
		uint32_t value;

		memcpy(&value, (const char *)fields + (size_t)one * sizeof(value), sizeof(value));
		at = pus_put(at, value, row->octets[one]);
	}
	flight_report(flight, report, data, (size_t)(at - data));
}

void flight_event(struct flight *flight, enum event event, uint32_t value, uint32_t detail)
{
	const struct report_event_info fields = { event, value, detail };

	if (event == EVENT_COUNTER_LOST || !(flight->kept.settings.events_off >> event & 1))
		flight_report_fields(flight, REPORT_EVENT_INFO + pus_severity(event) - 1, &fields);
}

/* Successes as asked for, failures always. */
static void verify(struct flight *flight, uint32_t request_id, uint32_t acks, uint32_t flag, enum report success,
		   enum failure failure)
{
	uint8_t data[6];

	pus_put(pus_put(data, request_id, 4), failure, 2);
	if (failure)
		flight_report(flight, success + 1, data, 6);
	else if (acks & flag)
		flight_report(flight, success, data, 4);
}

void flight_step(struct flight *flight, const struct telecommand *telecommand, uint8_t step)
{
	uint8_t data[5];

	*pus_put(data, telecommand->request_id, 4) = step;
	if (telecommand->acks & ACK_PROGRESS)
		flight_report(flight, REPORT_STEP, data, sizeof(data));
}

enum failure mode_begin(struct flight *flight, enum pending pending, const struct request *request)
{
	struct waiting *waiting = &flight->waiting[pending];

	if (waiting->active)
		return FAILURE_BUSY;
	*waiting = (struct waiting){ .request_id = request->telecommand.request_id,
				     .acks = request->telecommand.acks,
				     .active = true,
				     .until_ns = flight->now_ns + CAMERA_PATIENCE_MS * 1000000ull };
	return FAILURE_PENDING;
}

void mode_finish(struct flight *flight, enum pending pending, enum failure failure)
{
	struct waiting *waiting = &flight->waiting[pending];

	if (!waiting->active)
		return;
	waiting->active = false;
	verify(flight, waiting->request_id, waiting->acks, ACK_COMPLETE, REPORT_COMPLETED, failure);
}

/* The settings as they are now are those that are meant. */
static void seal(struct flight *flight)
{
	flight->sound = flight->kept.settings;
	flight->sound_crc = crc32_add(0, &flight->sound, sizeof(flight->sound));
}

void flight_changed(struct flight *flight)
{
	seal(flight);
	flight->changed = true;
}

static void settings_at_first(struct settings *settings)
{
	memset(settings, 0, sizeof(*settings)); /* compared octet by octet */
	settings->mode = MODE_SAFE;
	settings->pose = true;
	settings->schedule_on = true;
	for (uint32_t one = 0; one < PARAMETER_COUNT; one++)
		settings->parameter[one] = pus_parameter(one)->at_first;
	for (uint32_t one = 0; one <= STRUCTURE_LAST; one++)
		settings->interval_ms[one] = 1000;
	for (uint32_t one = 0; one < MONITOR_COUNT; one++)
		settings->monitor[one] = (struct monitoring){ false, pus_limits(one)->low, pus_limits(one)->high, 3 };
}

/* With a lost counter anything that was recorded could run again. Who has the key answers the challenge; nobody's record does. */
static void tell_counter_lost(struct flight *flight)
{
	if (flight->challenge)
		flight_event(flight, EVENT_COUNTER_LOST, (uint32_t)(flight->challenge >> 32),
			     (uint32_t)flight->challenge);
}

/* The counter of the last telecommand; false: it is lost, and everybody has been told. */
static bool counter(struct flight *flight, uint64_t *count)
{
	switch (counter_get(flight->outside.counter, count)) {
	case COUNTER_MENDED:
		flight->outside.keep_counter(flight->outside.world, *count);
		flight_event(flight, EVENT_STATE_MENDED, ++flight->mended, 0);
		break;
	case COUNTER_LOST:
		if (!flight->challenge) {
			flight->challenge = flight->outside.draw(flight->outside.world);
			tell_counter_lost(flight);
		}
		return false;
	case COUNTER_SOUND:
		break;
	}
	return true;
}

/* A bit may flip in space. Two copies of the settings and a checksum of one tell which is sound. */
void flight_mend(struct flight *flight)
{
	uint64_t unused;

	if (flight->outside.tag)
		counter(flight, &unused);
	if (!memcmp(&flight->kept.settings, &flight->sound, sizeof(flight->sound)))
		return;
	if (crc32_add(0, &flight->kept.settings, sizeof(flight->sound)) == flight->sound_crc) {
		flight->sound = flight->kept.settings;
	} else if (crc32_add(0, &flight->sound, sizeof(flight->sound)) == flight->sound_crc) {
		flight->kept.settings = flight->sound;
	} else { /* neither is */
		settings_at_first(&flight->kept.settings);
		seal(flight);
	}
	mode_order(flight);
	flight_event(flight, EVENT_STATE_MENDED, ++flight->mended, 0);
}

static uint32_t second(const struct flight *flight)
{
	return (uint32_t)(flight->now_ns / 1000000000) + 1;
}

/* Is this packet one that came already? Else it takes the place of the oldest. */
static bool came_before(struct flight *flight, const struct telecommand *telecommand)
{
	struct kept *kept = &flight->kept;
	const struct came new = { .whose = (uint32_t)telecommand->source << 16 | (telecommand->request_id & 0x3fff),
				  .at_s = second(flight),
				  .crc = telecommand->crc };

	for (const struct came *one = kept->came; one < kept->came + CAME_MOST; one++)
		if (one->whose == new.whose && one->crc == new.crc && one->at_s && new.at_s - one->at_s < CAME_KEPT_S)
			return !SABOTAGE_DUPLICATES;
	kept->came[kept->next_came++ % CAME_MOST] = new;
	flight->changed = true;
	return false;
}

/* Another boot has another clock, by which a telecommand never looks older than it is. None is remembered for longer than
 * if it had come now; and those stay forgotten that were so when the last one came. */
static void came_last_run(struct flight *flight)
{
	struct kept *kept = &flight->kept;
	const uint32_t last_s = kept->came[(kept->next_came - 1) % CAME_MOST].at_s, now_s = second(flight);

	for (struct came *one = kept->came; one < kept->came + CAME_MOST; one++) {
		if (last_s - one->at_s >= CAME_KEPT_S)
			*one = (struct came){ 0 };
		else if (one->at_s > now_s)
			one->at_s = now_s;
	}
}

/* Is it the one that is taken though the counter is lost? */
static bool sets_counter(const struct flight *flight, const struct telecommand *telecommand)
{
	struct request request;

	return flight->challenge && !pus_understand(telecommand, &request) &&
	       request.command->run == command_set_counter &&
	       flight->challenge == ((uint64_t)request.argument[0] << 32 | (uint64_t)request.argument[1]);
}

/* With a key, counter and tag end the data: they are checked and taken off. */
static enum failure authentic(struct flight *flight, const uint8_t *packet, struct telecommand *telecommand)
{
	uint8_t tag[PUS_TAG], differs = 0;
	const uint8_t *end;
	uint64_t count, last;

	if (!flight->outside.tag)
		return came_before(flight, telecommand) ? FAILURE_DUPLICATE : FAILURE_NONE;
	if (telecommand->octets < PUS_COUNTER + PUS_TAG)
		return FAILURE_BAD_TAG;
	telecommand->octets -= PUS_COUNTER + PUS_TAG;
	end = telecommand->data + telecommand->octets;
	flight->outside.tag(flight->outside.world, packet, (size_t)(end + PUS_COUNTER - packet), tag);
	for (int one = 0; one < PUS_TAG; one++) /* in the same time, wherever they differ */
		differs |= tag[one] ^ end[PUS_COUNTER + one];
	if (differs && !SABOTAGE_CREDULOUS)
		return FAILURE_BAD_TAG;
	count = (uint64_t)pus_get(end, 4) << 32 | pus_get(end + 4, 4);
	if (!counter(flight, &last) && !sets_counter(flight, telecommand))
		return FAILURE_NO_COUNTER;
	if (count <= last)
		return FAILURE_DUPLICATE;
	flight->challenge = 0;
	counter_set(flight->outside.counter, count);
	flight->outside.keep_counter(flight->outside.world, count);
	return FAILURE_NONE;
}

enum failure command_set_counter(struct flight *flight, const struct request *request)
{
	(void)request; /* its own counter has been taken already */
	return flight->outside.tag ? FAILURE_NONE : FAILURE_NOT_THERE;
}

static void run(struct flight *flight, const struct request *request)
{
	const struct telecommand *telecommand = &request->telecommand;
	enum failure failure = request->command->refused[flight->kept.settings.mode];

	verify(flight, telecommand->request_id, telecommand->acks, ACK_START, REPORT_STARTED, failure);
	if (failure)
		return;
	failure = SABOTAGE_ACKNOWLEDGES ? FAILURE_NONE : request->command->run(flight, request);
	if (failure != FAILURE_PENDING)
		verify(flight, telecommand->request_id, telecommand->acks, ACK_COMPLETE, REPORT_COMPLETED, failure);
}

static void take(struct flight *flight, const uint8_t *packet, size_t octets, bool released)
{
	struct request request = { 0 };
	struct telecommand telecommand;
	enum failure failure = pus_parse(packet, octets, &telecommand);

	flight_mend(flight);
	if (!failure && !released)
		failure = authentic(flight, packet, &telecommand);
	if (!failure)
		failure = pus_understand(&telecommand, &request);
	flight->accepted += !failure;
	flight->rejected += !!failure;
	flight->duplicates += failure == FAILURE_DUPLICATE;
	if (octets >= 4)
		verify(flight, telecommand.request_id, telecommand.acks, ACK_ACCEPT, REPORT_ACCEPTED, failure);
	if (!failure)
		run(flight, &request);
}

void flight_telecommand(struct flight *flight, const uint8_t *packet, size_t octets)
{
	if (!file_take(flight, packet, octets))
		take(flight, packet, octets, false);
}

void flight_released(struct flight *flight, const uint8_t *packet, size_t octets)
{
	take(flight, packet, octets, true);
}

void flight_told(struct flight *flight, const struct told *told)
{
	switch ((enum word)told->word) {
	case WORD_CAMERA:
		mode_camera(flight, told->value);
		break;
	case WORD_CAMERA_FAILED:
		mode_camera_failed(flight);
		break;
	case WORD_LOST:
		flight->lost += told->value;
		flight_event(flight, EVENT_FRAMES_LOST, told->value, flight->lost);
		break;
	case WORD_CLOSED:
		mode_finish(flight, PENDING_STOP, FAILURE_NONE);
		break;
	case WORD_FRAME_KEPT:
		mode_finish(flight, PENDING_FRAME, told->value ? FAILURE_NONE : FAILURE_NOT_KEPT);
		break;
	case WORD_MISS:
		flight_event(flight, EVENT_DEADLINE_MISS, told->value, told->detail);
		break;
	case WORD_SILENT:
		flight_event(flight, EVENT_WATCHDOG, told->value, told->detail);
		break;
	case WORD_SIGN:
		flight_event(flight, EVENT_THREAD_BACK, told->value, told->detail);
		break;
	case WORD_STATE_FAILED:
		flight_event(flight, EVENT_STATE_NOT_KEPT, told->value, told->detail);
		break;
	case WORD_FILE:
		file_read(flight, flight->outside.file, told->value, told->detail);
		break;
	case WORD_NO_FILE:
		file_read(flight, NULL, 0, 0);
		break;
	case WORD_GROUND:
		flight_event(flight, EVENT_BOOTED, flight->cause, flight->kept.settings.boots);
		tell_counter_lost(flight);
		break;
	}
}

void flight_now(struct flight *flight, uint64_t tai_ns, uint64_t now_ns)
{
	flight->tai_ns = tai_ns;
	flight->now_ns = now_ns;
}

void flight_due(struct flight *flight)
{
	struct settings *settings = &flight->kept.settings;

	flight_mend(flight);
	if (flight->now_ns >= flight->check_due_ns) {
		flight->check_due_ns = flight->now_ns + CHECK_MS * 1000000ull;
		monitor_due(flight);
		if (settings->unclean && flight->now_ns - flight->started_ns > QUIET_MS * 1000000ull) {
			settings->unclean = 0;
			flight_changed(flight);
		}
		if (flight->changed) {
			flight->changed = false;
			flight->outside.keep(flight->outside.world, &flight->kept);
		}
	}
	mode_due(flight);
	schedule_due(flight);
	housekeeping_due(flight);
	file_due(flight);
}

uint64_t flight_next_ns(const struct flight *flight)
{
	uint64_t next = flight->check_due_ns, other = housekeeping_next_ns(flight);

	next = other < next ? other : next;
	other = file_next_ns(flight);
	next = other < next ? other : next;
	other = schedule_next_ns(flight);
	return other < next ? other : next;
}

void flight_start(struct flight *flight, const struct outside *outside, const struct kept *kept, enum cause cause,
		  enum mode mode, uint64_t tai_ns, uint64_t now_ns)
{
	struct settings *settings = &flight->kept.settings;

	if (kept)
		flight->kept = *kept; /* they may be one */
	else
		memset(&flight->kept, 0, sizeof(flight->kept));
	memset((char *)flight + sizeof(flight->kept), 0, sizeof(*flight) - sizeof(flight->kept));
	flight->outside = *outside;
	flight->cause = cause;
	flight->started_ns = now_ns;
	flight_now(flight, tai_ns, now_ns);
	if (kept) {
		came_last_run(flight);
	} else {
		settings_at_first(settings);
		settings->mode = cause == CAUSE_STATE_LOST ? MODE_SAFE : mode;
	}
	settings->boots++;
	settings->unclean = cause == CAUSE_CRASHED || cause == CAUSE_WATCHDOG || cause == CAUSE_RESET ?
				    settings->unclean + 1 :
				    0;
	settings->orderly = false;
	flight_changed(flight);
	flight_event(flight, EVENT_BOOTED, cause, settings->boots);
	if (cause == CAUSE_STATE_LOST)
		flight_event(flight, EVENT_STATE_LOST, sizeof(*kept), 0);
	mode_start(flight);
}

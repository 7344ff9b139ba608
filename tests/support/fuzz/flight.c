// SPDX-License-Identifier: MIT
/*
 * The flight program's decisions: telecommands of every kind, sound, damaged and out of their ranges, between words of
 * other threads, jumps of the time, flipped bits, and restarts from what was kept, sound or not. What must hold: every
 * report is a sound packet; nothing lies outside of its table; a frame on the serial line comes back; the counter that is
 * kept never falls while it is known.
 */
#include <string.h>

#include "flight/program/cobs.h"
#include "flight/program/world.h"
#include "fuzz.h"

enum { STEPS = 50, ROOM = 1200 };
enum { REPORTS, ACCEPTED, FAILED, RESTARTS, STATES, LOST, SET };

const char *const reaches[] = { "reports",         "accepted",      "failed", "restarts",
				"states taken up", "counters lost", "set",    NULL };

static struct flight flight;
static struct kept kept;
static struct counter counter[COUNTER_COPIES]; /* as files would hold it */
static bool with_tag;
static uint8_t file_down[FILE_MOST];

void prepare(void)
{
}

void die(int code, const char *format, ...)
{
	(void)format;
	broken("died with %d", code);
}

static void send_packet(void *world, const uint8_t *packet, size_t octets)
{
	(void)world;
	if (octets < PUS_REPORT_HEADER + PUS_CRC || octets > PACKET_LARGEST || pus_length(packet) != octets ||
	    pus_crc(packet, octets))
		broken("a report that is no packet");
	reached(REPORTS);
	if (packet[7] == 1 && packet[8] == 1)
		reached(ACCEPTED);
	if (packet[7] == 1 && packet[8] == 8)
		reached(FAILED);
}

static void order(void *world, const struct orders *orders)
{
	(void)world;
	if (orders->on > 1)
		broken("an order that is none");
}

static void look(void *world, struct seen *seen)
{
	(void)world;
	for (size_t at = 0; at < sizeof(*seen); at += sizeof(uint32_t)) {
		uint32_t value = draw(3) ? draw(1000) : draw(UINT32_MAX);

		memcpy((char *)seen + at, &value, sizeof(value));
	}
	seen->pose.pose_status = draw(POSE_STATE_COUNT);
	seen->temperature = draw(2);
}

static void keep(void *world, const struct kept *now)
{
	(void)world;
	kept = *now;
}

static void restart(void *world)
{
	(void)world;
}

static void load(void *world, uint32_t which)
{
	(void)world;
	if (which >= FILE_COUNT)
		broken("a file that is none");
}

static bool send_file(void *world, const uint8_t *packet, size_t octets)
{
	(void)world;
	if (octets > PACKET_LARGEST || pus_length(packet) != octets || pus_crc(packet, octets))
		broken("a PDU in no packet");
	return draw(8);
}

static void tag(void *world, const uint8_t *data, size_t octets, uint8_t tag[PUS_TAG])
{
	(void)world;
	memset(tag, pus_crc(data, octets) & 0xff, PUS_TAG);
}

static void keep_counter(void *world, uint64_t count)
{
	uint64_t before;

	(void)world;
	if (counter_get(counter, &before) == COUNTER_LOST)
		reached(SET);
	else if (count < before)
		broken("a counter that falls");
	counter_set(counter, count);
}

static uint64_t draw_challenge(void *world)
{
	(void)world;
	reached(LOST);
	memset(counter, 0, sizeof(counter));
	return draw(4) ? (uint64_t)draw(UINT32_MAX) << 32 | draw(UINT32_MAX) : 0;
}

static void start(enum cause cause, const struct kept *from)
{
	struct outside outside = { .send = send_packet,
				   .order = order,
				   .look = look,
				   .keep = keep,
				   .restart = restart,
				   .load = load,
				   .send_file = send_file,
				   .file = file_down,
				   .tag = with_tag ? tag : NULL,
				   .keep_counter = keep_counter,
				   .draw = draw_challenge };

	memcpy(outside.counter, counter, sizeof(counter));
	flight_start(&flight, &outside, from, cause, draw(TARGET_COUNT), flight.tai_ns, flight.now_ns);
}

/* Kept in a file, perhaps damaged there, and taken up again if it is sound. */
static void start_again(void)
{
	static uint8_t file[KEEP_OCTETS];
	static struct kept back;
	size_t octets = keep_make(file, &flight.kept);

	if (draw(4) == 0)
		((uint8_t *)counter)[draw(sizeof(counter))] ^= (uint8_t)(1 << draw(8));
	if (draw(3) == 0)
		octets = mutate(file, octets, sizeof(file));
	reached(RESTARTS);
	if (keep_sound(file, octets, &back)) {
		reached(STATES);
		start(draw(CAUSE_COUNT), &back);
	} else {
		start(CAUSE_STATE_LOST, NULL);
	}
}

static uint8_t *put_value(uint8_t *at, const struct argument *argument)
{
	static uint16_t sequence;
	const bool edge = draw(4) == 0;

	switch ((enum argument_kind)argument->kind) {
	case ARGUMENT_TIME:
		at = pus_put_time(at, flight.tai_ns + (draw(8) ? draw(2000000000) : 0) - (draw(8) ? 0 : 1000));
		at[-PUS_TIME] ^= draw(40) == 0;
		return at;
	case ARGUMENT_TELECOMMAND:
		at[0] = 0x18, at[1] = PACKET_APID, at[2] = 0xc0 | (uint8_t)draw(2), at[3] = (uint8_t)sequence++;
		at[4] = 0, at[5] = 6, at[6] = 0x2f, at[7] = draw(4) ? 17 : 11, at[8] = 1, at[9] = at[10] = 0;
		pus_put(at + 11, pus_crc(at, 11), 2);
		return at + 13;
	default:
		return pus_put(
			at,
			edge ? (uint32_t)(draw(2) ? argument->least : argument->most) + draw(3) - 1 :
			       (uint32_t)(argument->least + draw((uint32_t)(argument->most - argument->least) | 1)),
			argument->octets);
	}
}

/* A parameter and a value that it may have, alone. */
static uint8_t *put_parameter(uint8_t *at)
{
	const uint32_t number = draw(PARAMETER_COUNT);
	const struct parameter_row *row = pus_parameter(number);
	const struct argument range = { .octets = 4, .least = row->least, .most = row->most };

	at = pus_put(at, number, 1);
	return row->choices ? pus_put(at, (uint32_t)row->choice[draw((uint32_t)row->choices)], 4) :
			      put_value(at, &range);
}

static uint8_t *put_entry(uint8_t *at, const struct command_row *command)
{
	const uint8_t *packet = flight.kept.schedule[draw(flight.kept.scheduled | 1)].packet;

	if (command->run == command_schedule_delete && draw(2)) {
		at = pus_put(at, pus_get(packet + 9, 2), 2);
		at = pus_put(at, pus_get(packet, 2) & 0x7ff, 2);
		return pus_put(at, pus_get(packet + 2, 2) & 0x3fff, 2);
	}
	if (command->run == command_set_parameters && draw(8))
		return put_parameter(at);
	for (int one = 0; one < command->entries; one++)
		at = put_value(at, &command->entry[one]);
	return at;
}

static size_t make_telecommand(uint8_t *packet)
{
	static uint16_t sequence;
	static const uint8_t services[] = { 3, 5, 8, 8, 8, 9, 11, 11, 12, 17, 20, 99 };
	static const uint8_t subtypes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 16, 27, 31 };
	const uint8_t service = services[draw(sizeof(services))];
	uint8_t data[2] = { (uint8_t)(1 + draw(10)), 0 }, *at = packet + PUS_HEADER;
	enum failure failure;
	const uint8_t subtype = service == 8 ? 1 : subtypes[draw(sizeof(subtypes))];
	const struct command_row *command = pus_command(service, subtype, data, 1, &failure);
	size_t octets;

	if (command && command->has_function)
		*at++ = command->function;
	for (int one = 0; command && one < command->arguments; one++)
		at = put_value(at, &command->argument[one]);
	if (command && command->run == command_set_counter && draw(4))
		pus_put(pus_put(at - 8, (uint32_t)(flight.challenge >> 32), 4), (uint32_t)flight.challenge, 4);
	if (command && command->entries) {
		uint32_t count = draw(10) ? draw(4) : draw(40);

		*at++ = (uint8_t)count;
		for (uint32_t entry = 0; entry < count && at < packet + ROOM - 200; entry++)
			at = put_entry(at, command);
	}
	pus_put(packet, 0x1800 | PACKET_APID, 2);
	pus_put(packet + 2, 0xc000u | (draw(20) ? sequence++ & 0x3fff : draw(0x4000)), 2);
	packet[6] = 0x20 | (uint8_t)draw(16), packet[7] = service, packet[8] = subtype;
	pus_put(packet + 9, 0, 2);
	octets = (size_t)(at - packet);
	if (with_tag && draw(10)) {
		static uint32_t counter;

		pus_put(packet + 4, (uint32_t)octets + PUS_COUNTER + PUS_TAG + PUS_CRC - 7, 2);
		pus_put(pus_put(packet + octets, 0, 4), counter += draw(3), 4);
		octets += PUS_COUNTER;
		memset(packet + octets, pus_crc(packet, octets) & 0xff, PUS_TAG);
		octets += PUS_TAG;
	}
	if (draw(8) == 0)
		octets = mutate(packet, octets, ROOM);
	if (octets >= 6 && draw(30))
		pus_put(packet + 4, (uint32_t)octets + PUS_CRC - 7, 2);
	pus_put(packet + octets, pus_crc(packet, octets) ^ (draw(20) == 0), PUS_CRC);
	return octets + PUS_CRC;
}

/* What a receiver of files says, in a packet. */
static size_t make_pdu(uint8_t *packet)
{
	const size_t octets = CFDP_HEADER + 1 + draw(60);
	uint8_t *pdu = packet + 6;

	for (size_t at = 0; at < octets; at++)
		pdu[at] = draw(3) ? (uint8_t)draw(256) : 0;
	memcpy(pdu, (const uint8_t[]){ 0x28, 0, (uint8_t)(octets - CFDP_HEADER), 3, CFDP_BOARD }, 5);
	pus_put(pdu + 5, flight.cfdp.transaction, 4);
	pdu[9] = CFDP_GROUND;
	pdu[CFDP_HEADER] = (uint8_t)(4 + draw(6));
	if (draw(8) == 0)
		pdu[draw((uint32_t)octets)] ^= (uint8_t)(1 << draw(8));
	pus_put(packet, 0x1000 | (PACKET_APID + 1), 2);
	pus_put(packet + 2, 0xc000, 2);
	pus_put(packet + 4, (uint32_t)octets + 1, 2);
	pus_put(pdu + octets, pus_crc(packet, 6 + octets) ^ (draw(20) == 0), PUS_CRC);
	return 6 + octets + PUS_CRC;
}

static void through_serial(const uint8_t *packet, size_t octets)
{
	static uint8_t frame[COBS_MOST(ROOM + 16)], back[sizeof(frame)];
	size_t length = cobs_encode(packet, octets, frame);

	if (length > COBS_MOST(octets) || memchr(frame, 0, length) != frame + length - 1)
		broken("a frame with a zero in it");
	if (cobs_decode(frame, length - 1, back) != octets || memcmp(back, packet, octets))
		broken("a frame that does not come back");
	length = mutate(frame, length, sizeof(frame));
	if (cobs_decode(frame, length, frame) > length)
		broken("a frame that grows");
}

static void step(void)
{
	uint8_t packet[ROOM + 64];
	struct told told = { draw(WORD_NO_FILE + 1), draw(CAMERA_COUNT), draw(1000) };
	size_t octets;

	switch (draw(16)) {
	case 0:
		if (told.word == WORD_FILE)
			told.value = draw(FILE_MOST + 2);
		flight_told(&flight, &told);
		break;
	case 1:
	case 2:
		flight_due(&flight);
		if (flight_next_ns(&flight) < flight.now_ns && flight.kept.scheduled == 0)
			broken("due before now");
		break;
	case 3:
		flight_now(&flight, flight.tai_ns + (draw(9) ? draw(2000000000) : -(uint64_t)draw(1000000)),
			   flight.now_ns + (draw(3) ? draw(200000000) : (uint64_t)draw(80) * 1000000000));
		break;
	case 4:
		if (draw(6) == 0)
			start_again();
		else if (draw(3) == 0)
			((uint8_t *)&flight.kept.settings)[draw(sizeof(flight.kept.settings))] ^= 1 << draw(8);
		else if (draw(20) == 0)
			((uint8_t *)&flight.sound)[draw(sizeof(flight.sound))] ^= 1 << draw(8);
		else if (draw(4) == 0)
			((uint8_t *)flight.outside.counter)[draw(sizeof(flight.outside.counter))] ^= 1 << draw(8);
		else if (draw(8) == 0)
			memset(flight.outside.counter, (int)draw(256), sizeof(flight.outside.counter));
		break;
	case 5:
		memset(packet, 1 + (int)draw(255), sizeof(packet)); /* blocks without a zero */
		packet[draw(ROOM)] = 0;
		through_serial(packet, draw(ROOM));
		break;
	case 6:
		flight_telecommand(&flight, packet, make_pdu(packet));
		break;
	default:
		octets = make_telecommand(packet);
		through_serial(packet, octets);
		flight_telecommand(&flight, packet, octets);
		if (draw(10) == 0)
			flight_telecommand(&flight, packet, octets);
	}
}

void one_input(void)
{
	memset(&flight, 0, sizeof(flight));
	with_tag = draw(4) == 0;
	memset(counter, 0, sizeof(counter));
	if (draw(4))
		counter_set(counter, 0);
	flight_now(&flight, 1795000000000000000 + draw(1000000), 1000000000);
	start(draw(CAUSE_COUNT), NULL);
	for (uint32_t steps = 1 + draw(STEPS); steps; steps--) {
		step();
		if (flight.kept.scheduled > PACKET_SCHEDULE_MOST)
			broken("%u are scheduled", flight.kept.scheduled);
	}
}

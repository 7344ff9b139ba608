// SPDX-License-Identifier: MIT
#include "cfdp.h"

#include <ctype.h>
#include <string.h>

#include "common/crc32.h"
#include "flight/program/octets.h"

enum { MS = 1000000, SCOPE = 8, REQUEST = 8 };

static void say(const struct receiver *receiver, const uint8_t *body, size_t octets)
{
	uint8_t pdu[CFDP_PDU_MOST], *at = pdu;

	*at++ = 1 << 5 | CFDP_TO_SENDER << 3;
	at = pus_put(at, (uint32_t)octets, 2);
	*at++ = 3; /* one octet for an entity, four for a transaction */
	*at++ = CFDP_BOARD;
	at = pus_put(at, receiver->transaction, 4);
	*at++ = CFDP_GROUND;
	memcpy(at, body, octets);
	receiver->send(receiver->world, pdu, CFDP_HEADER + octets);
}

static void acknowledge_end(const struct receiver *receiver, uint8_t condition)
{
	const uint8_t body[3] = { CFDP_ACK, CFDP_END << 4, (uint8_t)(condition << 4 | 1) }; /* 1: active */

	say(receiver, body, sizeof(body));
}

static void say_finished(const struct receiver *receiver)
{
	const uint8_t incomplete = 1 << 2, nowhere = 3; /* it is kept in no file */
	const uint8_t whole = receiver->condition == WHOLE ? nowhere : incomplete;
	const uint8_t body[2] = { CFDP_FINISHED, (uint8_t)(receiver->condition << 4 | whole) };

	say(receiver, body, sizeof(body));
}

static void again_at(struct receiver *receiver, uint64_t now_ns)
{
	receiver->again_ns = now_ns + RECEIVER_AGAIN_MS * (uint64_t)MS;
}

static void finish(struct receiver *receiver, enum condition condition, uint64_t now_ns)
{
	receiver->state = RECEIVER_FINISHED;
	receiver->condition = condition;
	receiver->times = 0;
	again_at(receiver, now_ns);
	say_finished(receiver);
}

static void end(struct receiver *receiver, enum condition condition)
{
	receiver->state = RECEIVER_CLOSED;
	receiver->condition = condition;
	receiver->ended(receiver->world);
}

/* What has not come, as far as one answer goes. */
static void ask(struct receiver *receiver)
{
	uint8_t body[1 + SCOPE + REQUEST * CFDP_GAPS] = { CFDP_NAK }, *at = body + 1 + SCOPE;
	const uint8_t *from = receiver->have, *to, *last = receiver->have + receiver->octets;

	pus_put(body + 5, receiver->octets, 4);
	if (!receiver->named)
		at = pus_put(at, 0, REQUEST);
	while (at < body + sizeof(body) && (from = memchr(from, 0, (size_t)(last - from)))) {
		to = memchr(from, 1, (size_t)(last - from));
		to = to ? to : last;
		at = pus_put(at, (uint32_t)(from - receiver->have), 4);
		at = pus_put(at, (uint32_t)(to - receiver->have), 4);
		from = to;
	}
	receiver->asked += (uint32_t)(at - body - 1 - SCOPE) / REQUEST;
	if (at > body + 1 + SCOPE) /* it may all be there, and not summed yet */
		say(receiver, body, (size_t)(at - body));
}

/* The sum of what has come without a gap, as far as it may be done at once. */
static void sum(struct receiver *receiver, uint64_t now_ns)
{
	const uint32_t left = CFDP_FILE_MOST - receiver->summed, most = left < RECEIVER_PIECE ? left : RECEIVER_PIECE;
	const uint8_t *from = receiver->have + receiver->summed, *gap = memchr(from, 0, most);
	const uint32_t octets = gap ? (uint32_t)(gap - from) : most;

	receiver->came(receiver->world, receiver->summed, receiver->file + receiver->summed, octets);
	receiver->crc = crc32_add(receiver->crc, receiver->file + receiver->summed, octets);
	receiver->summed += octets;
	receiver->sum_ns = now_ns + RECEIVER_PACE_MS * (uint64_t)MS;
}

static bool can_sum(const struct receiver *receiver)
{
	return receiver->state == RECEIVING && receiver->have[receiver->summed];
}

static void look(struct receiver *receiver, uint64_t now_ns)
{
	if (receiver->state == RECEIVING && receiver->named && receiver->complete &&
	    receiver->summed == receiver->octets)
		finish(receiver, receiver->crc == receiver->checksum ? WHOLE : WRONG_CHECKSUM, now_ns);
}

static void begin(struct receiver *receiver, uint32_t transaction, uint64_t now_ns)
{
	if (receiver->state == RECEIVING)
		end(receiver, CANCELLED);
	else if (receiver->state == RECEIVER_FINISHED)
		end(receiver, receiver->condition ? receiver->condition : NOT_ACKNOWLEDGED);
	memset(receiver->have, 0, receiver->reach);
	receiver->state = RECEIVING;
	receiver->condition = WHOLE;
	receiver->transaction = transaction;
	receiver->named = receiver->complete = false;
	strcpy(receiver->name, "-");
	receiver->octets = receiver->checksum = receiver->reach = receiver->summed = receiver->crc = 0;
	receiver->asked = receiver->times = 0;
	receiver->sum_ns = now_ns;
	again_at(receiver, now_ns);
	receiver->begun(receiver->world);
}

/* How long the file is, which both say; false where that cannot be. */
static bool sized(struct receiver *receiver, bool known, uint32_t octets, uint64_t now_ns)
{
	if (octets > CFDP_FILE_MOST)
		finish(receiver, TOO_LARGE, now_ns);
	else if ((known && octets != receiver->octets) || octets < receiver->reach)
		finish(receiver, WRONG_SIZE, now_ns);
	receiver->octets = octets;
	return receiver->state == RECEIVING;
}

/* Of a name that goes to a log. */
static char cleaned(uint8_t octet)
{
	return octet && octet < 128 && (isalnum(octet) || strchr("._-", octet)) ? (char)octet : '_';
}

static bool take_metadata(struct receiver *receiver, const uint8_t *body, size_t left, uint64_t now_ns)
{
	const size_t source = left > 5 ? body[5] : 0, name = left > 6 + source ? body[6 + source] : 0;
	const uint8_t *said;

	if (left < 7 + source + name || !name || name > CFDP_NAME_MOST)
		return false;
	if (receiver->state != RECEIVING || receiver->named)
		return true;
	if ((body[0] & 15) != CFDP_CRC_32)
		finish(receiver, (enum condition)CFDP_UNSUPPORTED_CHECKSUM, now_ns);
	else if (sized(receiver, receiver->complete, pus_get(body + 1, 4), now_ns)) {
		receiver->named = true;
		said = body + 7 + source;
		for (size_t one = 0; one < name; one++)
			receiver->name[one] = cleaned(said[one]);
		receiver->name[name] = '\0';
	}
	return true;
}

static bool take_data(struct receiver *receiver, const uint8_t *body, size_t left, uint64_t now_ns)
{
	const uint32_t octets = (uint32_t)left - 4, from = pus_get(body, 4);
	const bool known = receiver->named || receiver->complete;
	bool new = false;

	if (left <= 4)
		return false;
	if (receiver->state != RECEIVING)
		return true;
	if (from > CFDP_FILE_MOST || octets > CFDP_FILE_MOST - from)
		finish(receiver, TOO_LARGE, now_ns);
	else if (known && from + octets > receiver->octets)
		finish(receiver, WRONG_SIZE, now_ns);
	if (receiver->state != RECEIVING)
		return true;
	for (uint32_t one = 0; one < octets; one++) { /* what has come stays as it was summed */
		if (receiver->have[from + one])
			continue;
		receiver->file[from + one] = body[4 + one];
		receiver->have[from + one] = new = true;
	}
	receiver->reach = receiver->reach > from + octets ? receiver->reach : from + octets;
	if (new) {
		receiver->times = 0;
		again_at(receiver, now_ns);
	}
	return true;
}

static bool take_end(struct receiver *receiver, const uint8_t *body, size_t left, uint64_t now_ns)
{
	if (left < 9)
		return false;
	acknowledge_end(receiver, body[0] >> 4);
	if (receiver->state != RECEIVING || receiver->complete)
		return true;
	if (body[0] >> 4)
		finish(receiver, CANCELLED, now_ns);
	else if (sized(receiver, receiver->named, pus_get(body + 5, 4), now_ns)) {
		receiver->complete = true;
		receiver->checksum = pus_get(body + 1, 4);
		receiver->times = 0;
		again_at(receiver, now_ns);
		ask(receiver);
	}
	return true;
}

/* That it is finished has been heard. */
static bool take_acknowledgement(struct receiver *receiver, const uint8_t *body, size_t left)
{
	if (left != 2 || body[0] >> 4 != CFDP_FINISHED)
		return false;
	if (receiver->state == RECEIVER_FINISHED)
		end(receiver, receiver->condition);
	return true;
}

static bool take(struct receiver *receiver, const uint8_t *pdu, size_t octets, uint64_t now_ns)
{
	const uint8_t *body = pdu + CFDP_HEADER;
	const size_t left = octets - CFDP_HEADER - 1;

	if (pdu[0] & CFDP_DATA << 4)
		return take_data(receiver, body, left + 1, now_ns);
	switch (*body++) {
	case CFDP_METADATA:
		return take_metadata(receiver, body, left, now_ns);
	case CFDP_END:
		return take_end(receiver, body, left, now_ns);
	case CFDP_ACK:
		return take_acknowledgement(receiver, body, left);
	default:
		return false;
	}
}

bool receiver_take(struct receiver *receiver, const uint8_t *pdu, size_t octets, uint64_t now_ns)
{
	bool is_sound;

	if (octets <= CFDP_HEADER || octets > CFDP_PDU_MOST || (pdu[0] & ~(CFDP_DATA << 4)) != 1 << 5 ||
	    pus_get(pdu + 1, 2) != octets - CFDP_HEADER || pdu[3] != 3 || pdu[4] != CFDP_BOARD ||
	    !pus_get(pdu + 5, 4) || pdu[9] != CFDP_GROUND)
		return false;
	if (pus_get(pdu + 5, 4) != receiver->transaction)
		begin(receiver, pus_get(pdu + 5, 4), now_ns);
	is_sound = take(receiver, pdu, octets, now_ns);
	look(receiver, now_ns);
	return is_sound;
}

void receiver_due(struct receiver *receiver, uint64_t now_ns)
{
	if (can_sum(receiver) && now_ns >= receiver->sum_ns) {
		sum(receiver, now_ns);
		look(receiver, now_ns);
	}
	if ((receiver->state != RECEIVING && receiver->state != RECEIVER_FINISHED) || now_ns < receiver->again_ns)
		return;
	again_at(receiver, now_ns);
	if (++receiver->times <= RECEIVER_TIMES) {
		if (receiver->state == RECEIVER_FINISHED)
			say_finished(receiver);
		else if (receiver->complete)
			ask(receiver);
	} else if (receiver->state == RECEIVER_FINISHED) {
		end(receiver, receiver->condition ? receiver->condition : NOT_ACKNOWLEDGED);
	} else {
		finish(receiver, receiver->complete ? NOT_SENT_AGAIN : SILENCE, now_ns);
	}
}

uint64_t receiver_next_ns(const struct receiver *receiver)
{
	if (receiver->state != RECEIVING && receiver->state != RECEIVER_FINISHED)
		return UINT64_MAX;
	return can_sum(receiver) && receiver->sum_ns < receiver->again_ns ? receiver->sum_ns : receiver->again_ns;
}

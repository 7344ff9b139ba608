// SPDX-License-Identifier: MIT
#include <string.h>

#include "cfdp.h"
#include "octets.h"
#include "sabotage.h"

enum { MODULAR = 0 };

/* The header (5.1): version 1, no CRC (the packet has its own), acknowledged, small files. */
static uint8_t *header(const struct cfdp *cfdp, uint8_t *at, bool data, size_t octets)
{
	*at++ = (uint8_t)(1 << 5 | data << 4);
	at = pus_put(at, (uint32_t)octets, 2);
	*at++ = 3; /* one octet for an entity, four for a transaction */
	*at++ = CFDP_BOARD;
	at = pus_put(at, cfdp->transaction, 4);
	*at++ = CFDP_GROUND;
	return at;
}

static bool send_directive(const struct cfdp *cfdp, const uint8_t *body, size_t octets)
{
	uint8_t pdu[CFDP_PDU_MOST];

	memcpy(header(cfdp, pdu, false, octets), body, octets);
	return cfdp->send(cfdp->world, pdu, CFDP_HEADER + octets);
}

static bool send_metadata(const struct cfdp *cfdp)
{
	const size_t name = strlen(cfdp->name);
	uint8_t body[6 + 2 * (1 + CFDP_NAME_MOST)], *at = body;

	*at++ = CFDP_METADATA;
	*at++ = cfdp->modular ? MODULAR : CFDP_CRC_32;
	at = pus_put(at, cfdp->octets, 4);
	for (int one = 0; one < 2; one++) { /* as it is called here, and there */
		*at++ = (uint8_t)name;
		memcpy(at, cfdp->name, name);
		at += name;
	}
	return send_directive(cfdp, body, (size_t)(at - body));
}

static bool send_end(const struct cfdp *cfdp)
{
	uint8_t body[10] = { CFDP_END, 0 };

	pus_put(pus_put(body + 2, cfdp->checksum, 4), cfdp->octets, 4);
	return send_directive(cfdp, body, sizeof(body));
}

/* The receiver says it again where this gets lost. */
static void acknowledge(const struct cfdp *cfdp, uint8_t condition)
{
	const uint8_t body[3] = { CFDP_ACK, CFDP_FINISHED << 4 | 1, (uint8_t)(condition << 4 | 2) }; /* 2: terminated */

	send_directive(cfdp, body, sizeof(body));
}

static uint32_t piece(uint32_t from, uint32_t to)
{
	return to - from < CFDP_SEGMENT ? to - from : CFDP_SEGMENT;
}

static bool send_data(const struct cfdp *cfdp, uint32_t from, uint32_t octets)
{
	uint8_t pdu[CFDP_PDU_MOST], *at = header(cfdp, pdu, true, 4 + octets);

	memcpy(pus_put(at, from, 4), cfdp->file + from, octets);
	return cfdp->send(cfdp->world, pdu, CFDP_HEADER + 4 + octets);
}

/* The sum of the file's words, the last one filled up with zeros (4.2.2). */
static uint32_t modular(const uint8_t *file, uint32_t octets)
{
	uint32_t sum = 0;

	for (uint32_t at = 0; at < octets; at++)
		sum += (uint32_t)file[at] << (24 - at % 4 * 8);
	return sum;
}

static void from_the_start(struct cfdp *cfdp, uint32_t transaction, uint64_t now_ns)
{
	cfdp->state = CFDP_SENDING;
	cfdp->transaction = transaction;
	if (cfdp->modular)
		cfdp->checksum = modular(cfdp->file, cfdp->octets);
	cfdp->metadata = true;
	cfdp->next = cfdp->gaps = cfdp->ends = 0;
	cfdp->heard_ns = cfdp->end_ns = now_ns;
}

bool cfdp_begin(struct cfdp *cfdp, uint32_t transaction, const char *name, const uint8_t *file, uint32_t octets,
		uint32_t crc, uint64_t now_ns)
{
	if (cfdp->state != CFDP_IDLE)
		return false;
	cfdp->file = file;
	cfdp->octets = octets;
	cfdp->checksum = crc;
	strncpy(cfdp->name, name, CFDP_NAME_MOST);
	from_the_start(cfdp, transaction, now_ns);
	return true;
}

/* What is missing over there; what it has asked for already, or the file has not, is left out. */
static void missing(struct cfdp *cfdp, uint32_t from, uint32_t to)
{
	if (!from && !to)
		cfdp->metadata = true;
	if (from >= to || to > cfdp->octets || from >= cfdp->next || cfdp->gaps == CFDP_GAPS)
		return;
	for (uint32_t one = 0; one < cfdp->gaps; one++)
		if (cfdp->gap[one].from <= from && to <= cfdp->gap[one].to)
			return;
	cfdp->gap[cfdp->gaps].from = from;
	cfdp->gap[cfdp->gaps++].to = to;
}

/* Is it for us, of this transaction (there is one), whole, and a directive? */
static bool ours(const struct cfdp *cfdp, const uint8_t *pdu, size_t octets)
{
	return cfdp->transaction && octets > CFDP_HEADER && pdu[0] == (1 << 5 | CFDP_TO_SENDER << 3) &&
	       pus_get(pdu + 1, 2) == octets - CFDP_HEADER && pdu[3] == 3 && pdu[4] == CFDP_BOARD &&
	       pus_get(pdu + 5, 4) == cfdp->transaction && pdu[9] == CFDP_GROUND;
}

enum cfdp_end cfdp_take(struct cfdp *cfdp, const uint8_t *pdu, size_t octets, uint64_t now_ns)
{
	const uint8_t *body;
	size_t left;
	bool received;

	if (!ours(cfdp, pdu, octets))
		return CFDP_GOES_ON;
	body = pdu + CFDP_HEADER + 1;
	left = octets - CFDP_HEADER - 1;
	cfdp->heard_ns = now_ns;
	switch (pdu[CFDP_HEADER]) {
	case CFDP_ACK:
		if (left == 2 && body[0] >> 4 == CFDP_END && cfdp->state == CFDP_ENDING)
			cfdp->state = CFDP_WAITING;
		break;
	case CFDP_NAK:
		if (SABOTAGE_DEAF || left < 8 || left % 8 || cfdp->state == CFDP_IDLE)
			break;
		for (size_t at = 8; at < left; at += 8)
			missing(cfdp, pus_get(body + at, 4), pus_get(body + at + 4, 4));
		break;
	case CFDP_FINISHED:
		if (!left)
			break;
		acknowledge(cfdp, body[0] >> 4);
		if (cfdp->state == CFDP_IDLE) /* it had not heard so the first time */
			break;
		if (body[0] >> 4 == CFDP_UNSUPPORTED_CHECKSUM && !cfdp->modular) {
			cfdp->modular = true;
			from_the_start(cfdp, cfdp->transaction + 1, now_ns);
			break;
		}
		cfdp->state = CFDP_IDLE;
		received = !(body[0] & 0xf4); /* no fault, and complete */
		return received ? CFDP_RECEIVED : CFDP_LOST;
	default:
		break;
	}
	return CFDP_GOES_ON;
}

/* One PDU, the most urgent; false where there is none, or no room. */
static bool send_one(struct cfdp *cfdp, uint64_t now_ns)
{
	uint32_t octets;

	if (cfdp->metadata) {
		cfdp->metadata = !send_metadata(cfdp);
		return !cfdp->metadata;
	}
	if (cfdp->gaps) {
		uint32_t *from = &cfdp->gap[cfdp->gaps - 1].from, to = cfdp->gap[cfdp->gaps - 1].to;

		octets = piece(*from, to);
		if (!send_data(cfdp, *from, octets))
			return false;
		*from += octets;
		cfdp->gaps -= *from == to;
		return true;
	}
	if (cfdp->next < cfdp->octets) {
		octets = piece(cfdp->next, cfdp->octets);
		if (!send_data(cfdp, cfdp->next, octets))
			return false;
		cfdp->next += octets;
		cfdp->heard_ns = now_ns; /* it may be silent until the end */
		return true;
	}
	if (cfdp->state == CFDP_WAITING || now_ns < cfdp->end_ns || !send_end(cfdp))
		return false;
	cfdp->state = CFDP_ENDING;
	cfdp->ends++;
	cfdp->end_ns = now_ns + CFDP_AGAIN_MS * 1000000ull;
	return true;
}

enum cfdp_end cfdp_due(struct cfdp *cfdp, uint32_t most, uint64_t now_ns)
{
	if (cfdp->state == CFDP_IDLE)
		return CFDP_GOES_ON;
	if ((cfdp->ends >= CFDP_ENDS && now_ns >= cfdp->end_ns) ||
	    now_ns - cfdp->heard_ns > CFDP_PATIENCE_MS * 1000000ull) {
		cfdp->state = CFDP_IDLE;
		return CFDP_LOST;
	}
	while (most && send_one(cfdp, now_ns))
		most--;
	return CFDP_GOES_ON;
}

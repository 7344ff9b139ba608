// SPDX-License-Identifier: MIT
/*
 * The ground's receiver of files: packets of a sender that loses, repeats, mixes and spoils its PDUs, cancels, changes its
 * mind about sizes, or makes sense, between jumps of the time. What must hold: each answer is a sound packet, octets are
 * handed on once, in order and as they were sent, and each file that began has one end.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/crc32.h"
#include "flight/program/octets.h"
#include "fuzz.h"
#include "ground/files.h"

enum { WHOLE_FILES, OTHER_ENDS, ANSWERS, REFUSED };
enum { STEPS = 200, FILE_OCTETS = 10000, PRIMARY = 6 };

const char *const reaches[] = { "whole files", "other ends", "answers", "refused", NULL };

static struct files files;
static void (*came)(void *, uint32_t, const uint8_t *, uint32_t), (*ended)(void *), (*begun)(void *);
static uint8_t content[FILE_OCTETS];
static uint32_t octets, checksum, transaction, handed;
static bool is_open, is_true; /* a file; and nothing but its octets were sent */
static FILE *log_lines;

static void put(void *world, const uint8_t *packet, size_t length)
{
	(void)world;
	if (length < PRIMARY + CFDP_HEADER + 1 + PUS_CRC || pus_length(packet) != length || pus_crc(packet, length) ||
	    pus_get(packet + PRIMARY + 1, 2) + CFDP_HEADER != length - PRIMARY - PUS_CRC)
		broken("an answer that is no packet");
	reached(ANSWERS);
}

static void check_begun(void *world)
{
	if (is_open)
		broken("a file began in another");
	is_open = true;
	handed = 0;
	begun(world);
}

static void check_came(void *world, uint32_t from, const uint8_t *piece, uint32_t count)
{
	if (from != handed || !count || from + count > CFDP_FILE_MOST)
		broken("octets %u to %u after %u", from, from + count, handed);
	handed += count;
	if (is_true && (handed > octets || memcmp(piece, content + from, count)))
		broken("octets that were not sent");
	came(world, from, piece, count);
}

static void check_ended(void *world)
{
	const struct receiver *receiver = &files.receiver;

	if (!is_open)
		broken("an end without a beginning");
	if (strspn(receiver->name, "-._0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") !=
		    strlen(receiver->name) ||
	    !*receiver->name)
		broken("a name that is no word");
	is_open = false;
	reached(receiver->condition == WHOLE ? WHOLE_FILES : OTHER_ENDS);
	if (is_true && receiver->condition == WHOLE && (receiver->summed != octets || !receiver->named))
		broken("a file that is not whole");
	ended(world);
}

void prepare(void)
{
	log_lines = fopen("/dev/null", "w");
}

static void send_packet(const uint8_t *pdu, size_t length, int64_t now_ns)
{
	static uint16_t count;
	/* Exactly as long, so that reading past it is seen. */
	uint8_t *packet = malloc(PRIMARY + length + PUS_CRC);

	pus_put(packet, CFDP_APID, 2);
	pus_put(packet + 2, 0xc000u | (count++ & 0x3fff), 2);
	pus_put(packet + 4, (uint32_t)(length + PUS_CRC - 1), 2);
	memcpy(packet + PRIMARY, pdu, length);
	pus_put(packet + PRIMARY + length, pus_crc(packet, PRIMARY + length), 2);
	if (draw(50) == 0)
		packet[draw((uint32_t)(PRIMARY + length + PUS_CRC))] ^= (uint8_t)(1 << draw(8));
	if (!files_take(&files, packet, PRIMARY + length + PUS_CRC, now_ns))
		reached(REFUSED);
	free(packet);
}

static size_t make_body(uint8_t *pdu, uint8_t *at)
{
	const uint32_t from = draw(octets + 1), piece = draw(10) ? CFDP_SEGMENT : 1 + draw(CFDP_SEGMENT);

	switch (draw(12)) {
	case 0:
		*at++ = CFDP_METADATA;
		*at++ = draw(30) ? CFDP_CRC_32 : (uint8_t)draw(256);
		at = pus_put(at, draw(30) ? octets : draw(2) ? draw(octets + 1) : UINT32_MAX - draw(9), 4);
		for (int one = 0; one < 2; one++) {
			*at++ = (uint8_t)(draw(20) ? 5 : draw(40));
			for (int octet = at[-1]; octet; octet--)
				*at++ = (uint8_t)draw(256);
		}
		break;
	case 1:
	case 2:
		*at++ = CFDP_END;
		*at++ = (uint8_t)(draw(40) ? 0 : draw(16) << 4);
		at = pus_put(at, draw(40) ? checksum : draw(1000), 4);
		at = pus_put(at, draw(40) ? octets : draw(CFDP_FILE_MOST * 2), 4);
		break;
	case 3:
		*at++ = CFDP_ACK;
		*at++ = (uint8_t)((draw(9) ? CFDP_FINISHED : draw(16)) << 4 | 1);
		*at++ = (uint8_t)draw(256);
		break;
	case 4:
		for (uint32_t some = draw(40); some; some--)
			*at++ = (uint8_t)draw(256);
		break;
	default: /* octets of the file; now and then of none */
		pdu[0] |= CFDP_DATA << 4;
		if (draw(200) == 0) {
			is_true = false;
			at = pus_put(at, draw(2) ? CFDP_FILE_MOST - draw(2000) : UINT32_MAX - draw(2000), 4);
			memset(at, 7, piece);
			return (size_t)(at + piece - pdu);
		}
		at = pus_put(at, draw(3) ? from / CFDP_SEGMENT * CFDP_SEGMENT : from, 4);
		for (uint32_t one = pus_get(at - 4, 4), end = one + piece; one < end && one < octets; one++)
			*at++ = content[one];
	}
	return (size_t)(at - pdu);
}

static void make_pdu(int64_t now_ns)
{
	uint8_t pdu[4096] = { 1 << 5 };
	size_t length = make_body(pdu, pdu + CFDP_HEADER);

	pus_put(pdu + 1, (uint32_t)(length - CFDP_HEADER), 2);
	pdu[3] = 3;
	pdu[4] = CFDP_BOARD;
	pus_put(pdu + 5, draw(300) ? transaction : ++transaction, 4);
	pdu[9] = CFDP_GROUND;
	if (draw(60) == 0) {
		is_true = false; /* it may be octets of another place now */
		length = mutate(pdu, length, sizeof(pdu));
	}
	send_packet(pdu, length, now_ns);
}

void one_input(void)
{
	int64_t now_ns = 0;

	is_open = false;
	is_true = true;
	octets = draw(4) ? draw(FILE_OCTETS) : draw(3) * 4096;
	transaction = draw(9) ? 1 + draw(1000) : 0;
	for (uint32_t one = 0; one < octets; one++)
		content[one] = (uint8_t)(one * 7 + one / 256);
	checksum = crc32_add(0, content, octets);
	memset(&files, 0, sizeof(files));
	files.log = log_lines;
	files.put = put;
	files.path = draw(2) ? "/proc/self/exe" : draw(2) ? "/dev/null" : NULL;
	files_ready(&files);
	begun = files.receiver.begun, came = files.receiver.came, ended = files.receiver.ended;
	files.receiver.begun = check_begun, files.receiver.came = check_came, files.receiver.ended = check_ended;
	files_lose(&files, draw(2) ? 0 : draw(50));
	for (uint32_t steps = 1 + draw(STEPS); steps; steps--) {
		if (draw(100) == 0)
			files_up(&files);
		make_pdu(now_ns);
		now_ns += draw(20) ? draw(2000000) : draw(300000000);
		for (uint32_t turns = draw(3); turns; turns--) {
			files_due(&files, now_ns);
			if (is_open && files_next_ns(&files) == INT64_MAX)
				broken("a file that nobody waits for");
			now_ns += RECEIVER_PACE_MS * 1000000;
		}
	}
	/* Whatever it was, it ends by itself. */
	for (uint32_t turns = 0; is_open; turns++) {
		if (turns > 1000)
			broken("a file without an end");
		now_ns = files_next_ns(&files) > now_ns ? files_next_ns(&files) : now_ns;
		files_due(&files, now_ns);
	}
}

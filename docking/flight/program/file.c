// SPDX-License-Identifier: MIT
/* Files to the ground: CFDP's PDUs in space packets of an APID of their own, with our checksum at their end. */
#include <string.h>

#include "flight.h"

enum {
	PRIMARY = 6, /* octets of the primary header */
	PACE_NS = 10000000,
	PACE_MOST = 4, /* PDUs in that time: what else comes down keeps its place */
};
_Static_assert(CFDP_APID == PACKET_APID + 1, "as the ground knows it");
static const char *const names[] = { [FILE_FRAME] = "frame", [FILE_LOG] = "log" };

static bool send_pdu(void *world, const uint8_t *pdu, size_t octets)
{
	struct flight *flight = world;
	const size_t length = PRIMARY + octets + PUS_CRC;
	uint8_t packet[PACKET_LARGEST], *at = packet;

	at = pus_put(at, 0x0000 | CFDP_APID, 2); /* telemetry without a secondary header */
	at = pus_put(at, 0xc000u | (flight->files_sent & 0x3fff), 2);
	at = pus_put(at, (uint32_t)length - 7, 2);
	memcpy(at, pdu, octets);
	pus_put(at + octets, pus_crc(packet, length - PUS_CRC), PUS_CRC);
	if (!flight->outside.send_file(flight->outside.world, packet, length))
		return false;
	flight->files_sent++;
	return true;
}

static void finish(struct flight *flight, enum cfdp_end end)
{
	if (end != CFDP_GOES_ON)
		mode_finish(flight, PENDING_FILE, end == CFDP_RECEIVED ? FAILURE_NONE : FAILURE_NOT_RECEIVED);
}

bool file_take(struct flight *flight, const uint8_t *packet, size_t octets)
{
	if (octets < PRIMARY + PUS_CRC || pus_get(packet, 2) != (0x1000 | CFDP_APID))
		return false;
	if (octets > PACKET_LARGEST || pus_length(packet) != octets || packet[2] >> 6 != 3 || pus_crc(packet, octets))
		flight->rejected++;
	else
		finish(flight, cfdp_take(&flight->cfdp, packet + PRIMARY, octets - PRIMARY - PUS_CRC, flight->now_ns));
	return true;
}

void file_due(struct flight *flight)
{
	if (flight->cfdp.state == CFDP_IDLE || flight->now_ns < flight->files_due_ns)
		return;
	flight->files_due_ns = flight->now_ns + PACE_NS;
	finish(flight, cfdp_due(&flight->cfdp, PACE_MOST, flight->now_ns));
}

uint64_t file_next_ns(const struct flight *flight)
{
	return flight->cfdp.state == CFDP_IDLE ? UINT64_MAX : flight->files_due_ns;
}

/* It has been read, or could not be. */
void file_read(struct flight *flight, const uint8_t *file, uint32_t octets, uint32_t crc)
{
	const uint32_t now = (uint32_t)(flight->tai_ns / 1000000000);
	uint32_t *last = &flight->cfdp.transaction;

	if (!flight->waiting[PENDING_FILE].active)
		return;
	if (!file || octets > FILE_MOST) {
		mode_finish(flight, PENDING_FILE, FAILURE_NOT_THERE);
		return;
	}
	flight->cfdp.world = flight;
	flight->cfdp.send = send_pdu;
	flight->files_due_ns = 0;
	/* Another number than any before, also after a restart. */
	cfdp_begin(&flight->cfdp, now > *last ? now : *last + 1, names[flight->file], file, octets, crc,
		   flight->now_ns);
}

enum failure command_send_file(struct flight *flight, const struct request *request)
{
	const enum failure failure = mode_begin(flight, PENDING_FILE, request);

	if (failure != FAILURE_PENDING)
		return failure;
	flight->waiting[PENDING_FILE].until_ns = UINT64_MAX; /* the transfer has limits of its own */
	flight->file = (uint32_t)request->argument[0];
	flight->outside.load(flight->outside.world, flight->file);
	return FAILURE_PENDING;
}

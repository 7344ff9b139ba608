/* SPDX-License-Identifier: MIT */
/*
 * A file to the ground, whole: the sending end of CFDP class 2 (CCSDS 727.0-B-5). It allocates nothing, reads no clock and
 * no file. Entities have one octet, transactions four, as ours begin with; whatever else comes is none of ours. A receiver
 * that does not know CRC-32 says so, and gets this file again, and all later ones, with the checksum that all know.
 */
#ifndef FLIGHT_CFDP_H
#define FLIGHT_CFDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of both ends; docking/ground/cfdp.h has the other. */
enum {
	CFDP_APID = 0x43, /* of its packets */
	CFDP_BOARD = 1, /* entities */
	CFDP_GROUND = 2,
	CFDP_HEADER = 10,
	CFDP_SEGMENT = 960, /* octets of the file in a PDU */
	CFDP_PDU_MOST = CFDP_HEADER + 4 + CFDP_SEGMENT,
	CFDP_NAME_MOST = 32,
	CFDP_FILE_MOST = 512 * 1024,
	CFDP_GAPS = 64, /* that are remembered; the receiver asks again for the others */
	CFDP_AGAIN_MS = 1000, /* an end that is not acknowledged is sent again, */
	CFDP_ENDS = 20, /* so often; */
	CFDP_PATIENCE_MS = 30000, /* and a receiver that says nothing for so long has gone */
};

enum { CFDP_END = 4, CFDP_FINISHED = 5, CFDP_ACK = 6, CFDP_METADATA = 7, CFDP_NAK = 8 }; /* directives (5.2) */
enum { CFDP_CRC_32 = 3, CFDP_DATA = 1, CFDP_TO_SENDER = 1, CFDP_UNSUPPORTED_CHECKSUM = 11 };

enum cfdp_state { CFDP_IDLE, CFDP_SENDING, CFDP_ENDING, CFDP_WAITING }; /* ENDING: its end is not acknowledged yet */
enum cfdp_end { CFDP_GOES_ON, CFDP_RECEIVED, CFDP_LOST };

struct cfdp {
	void *world;
	bool (*send)(void *world, const uint8_t *pdu, size_t octets); /* false: no room now */
	enum cfdp_state state;
	uint32_t transaction;
	const uint8_t *file;
	uint32_t octets, checksum;
	bool modular; /* that is what the checksum is; else CRC-32 */
	char name[CFDP_NAME_MOST + 1];
	bool metadata; /* is to be sent (again) */
	uint32_t next; /* octet that was not sent yet */
	uint32_t gaps;
	struct {
		uint32_t from, to;
	} gap[CFDP_GAPS];
	uint32_t ends; /* sent */
	uint64_t end_ns, heard_ns; /* when the end is due; when the receiver last said something */
};

/* False: a file is on its way already. `crc`: CRC-32 of the file, which stays where it is until the end. */
bool cfdp_begin(struct cfdp *cfdp, uint32_t transaction, const char *name, const uint8_t *file, uint32_t octets,
		uint32_t crc, uint64_t now_ns);
/* A PDU from the receiver. */
enum cfdp_end cfdp_take(struct cfdp *cfdp, const uint8_t *pdu, size_t octets, uint64_t now_ns);
/* Sends what is due, `most` PDUs. */
enum cfdp_end cfdp_due(struct cfdp *cfdp, uint32_t most, uint64_t now_ns);

#endif

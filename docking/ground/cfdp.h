/* SPDX-License-Identifier: MIT */
/*
 * A file from the board, whole: the receiving end of CFDP class 2 (CCSDS 727.0-B-5) that cfdp.h sends to.
 * It allocates nothing, reads no clock and writes no file: what comes lies in memory, and its name is a word to print.
 * What is missing is asked for when the end has come, and again where nothing new follows.
 */
#ifndef GROUND_CFDP_H
#define GROUND_CFDP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flight/program/cfdp.h"

enum {
	RECEIVER_AGAIN_MS = 250, /* after so long without anything new it asks, or says it, again, */
	RECEIVER_TIMES = 20, /* so often */
	RECEIVER_PIECE = 4096, /* octets that are summed at once, */
	RECEIVER_PACE_MS = 1, /* and how long the next ones wait: others need the CPU */
};
/* How a transfer ended (5.2.2, table 5-5). */
enum condition {
	WHOLE = 0,
	NOT_ACKNOWLEDGED = 1, /* nobody says that he has heard that it is finished */
	TOO_LARGE = 4,
	WRONG_CHECKSUM = 5,
	WRONG_SIZE = 6,
	NOT_SENT_AGAIN = 7,
	SILENCE = 8, /* before its end came */
	CANCELLED = 15, /* by the sender, or for the next one */
};
enum receiving { RECEIVER_NONE, RECEIVING, RECEIVER_FINISHED, RECEIVER_CLOSED }; /* FINISHED: not acknowledged yet */

struct receiver {
	void *world;
	void (*send)(void *world, const uint8_t *pdu, size_t octets);
	void (*begun)(void *world);
	/* The next octets from the file's beginning on, in their order. */
	void (*came)(void *world, uint32_t from, const uint8_t *piece, uint32_t octets);
	void (*ended)(void *world);
	enum receiving state;
	enum condition condition;
	uint32_t transaction;
	bool named, complete; /* its metadata came; its end */
	char name[CFDP_NAME_MOST + 1]; /* letters, digits and "._-" only */
	uint32_t octets, checksum; /* of all of it, as its metadata or its end says; as its end says */
	uint32_t reach; /* the last octet that came, and one */
	uint32_t summed, crc; /* so many from the beginning on; their sum */
	uint32_t asked; /* how many pieces were asked for again */
	uint32_t times; /* without an answer */
	uint64_t again_ns, sum_ns;
	uint8_t file[CFDP_FILE_MOST];
	uint8_t have[CFDP_FILE_MOST + 1]; /* 1 where that octet came; the last one never does */
};

/* A PDU from the board. False: it is none of ours, or not as it should be. */
bool receiver_take(struct receiver *receiver, const uint8_t *pdu, size_t octets, uint64_t now_ns);
/* Does what is due. */
void receiver_due(struct receiver *receiver, uint64_t now_ns);
uint64_t receiver_next_ns(const struct receiver *receiver);

#endif

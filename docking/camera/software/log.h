/* SPDX-License-Identifier: MIT */
/* What became of every frame. Kept in memory and written at the end, since writing to a file would disturb the
 * measurement. */
#ifndef EMULATOR_LOG_H
#define EMULATOR_LOG_H

#include <stdint.h>
#include <stdio.h>

#include "faults.h"

enum outcome { SENT, LOST_NO_URB, DROPPED, CUT };

struct log_entry {
	uint64_t sequence;
	uint32_t frame; /* its place in the ring */
	enum fault_kind fault;
	enum outcome outcome;
	uint64_t due_ns, begun_ns, sent_ns;
};

enum { LOG_ENTRIES = 1 << 17 };

struct log {
	uint64_t sequence; /* of the next frame: grows over all connections */
	uint64_t sent, lost, dropped, cut;
	uint64_t bytes;
	uint64_t plugs, streams;
	uint64_t late_most_ns; /* how long after its due time a frame's transfer began */
	uint64_t control_requests, unit_requests;
	struct log_entry *entries; /* LOG_ENTRIES of them; later ones are only counted */
	uint64_t kept;
};

void log_add(struct log *log, const struct log_entry *entry);
/* One line a frame: sequence, frame of the ring, fault, outcome, due, begun, sent (CLOCK_MONOTONIC, ns). */
int log_write(const struct log *log, FILE *out);

#endif

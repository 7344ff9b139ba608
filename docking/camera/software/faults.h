/* SPDX-License-Identifier: MIT */
/* Faults on command: which frame, what goes wrong with it. */
#ifndef EMULATOR_FAULTS_H
#define EMULATOR_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

enum fault_kind {
	FAULT_NONE,
	FAULT_DROP,    /* the frame is not sent */
	FAULT_SHORT,   /* its last bytes are missing; argument: how many */
	FAULT_CORRUPT, /* bytes are changed; argument: how many */
	FAULT_ERROR,   /* the error bit is set in the payload's header */
	FAULT_HEADER,  /* the payload's header says it is 255 bytes long */
	FAULT_LATE,    /* argument: by how many ms */
	FAULT_STALL,   /* the bulk endpoint halts until the host clears it */
	FAULT_UNPLUG,  /* in the middle of the frame; argument: plugged in again after so many ms, 0: never */
	FAULT_KINDS
};

extern const char *const fault_names[FAULT_KINDS];

struct fault {
	enum fault_kind kind;
	uint64_t frame;
	uint32_t argument;
};

enum { FAULTS = 1024 };

struct faults {
	struct fault list[FAULTS];
	unsigned int count;
};

/* Reads `KIND@FRAME[:ARGUMENT]`, or with `next` also `KIND[:ARGUMENT]`, meaning frame `*next`. False: not a fault. */
bool fault_parse(const char *text, const uint64_t *next, struct fault *fault);
bool faults_add(struct faults *faults, const struct fault *fault);
/* Takes the first fault of this frame out of the list; FAULT_NONE if there is none. */
struct fault faults_take(struct faults *faults, uint64_t frame);

#endif

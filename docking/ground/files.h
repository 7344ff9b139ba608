/* SPDX-License-Identifier: MIT */
/* Files from the board: CFDP's PDUs in packets of their own, some of them lost on purpose, and what is logged of a file. */
#ifndef GROUND_FILES_H
#define GROUND_FILES_H

#include <stdio.h>

#include "cfdp.h"

struct files {
	void *world;
	void (*put)(void *world, const uint8_t *packet, size_t octets); /* on the link */
	FILE *log;
	const char *path; /* what a file is compared with; NULL: nothing */
	int fd; /* of that, -1: none */
	uint32_t share, random; /* so many of 100 packets are lost on purpose */
	bool follows; /* another packet came before on this link, */
	uint16_t came, sent; /* the sequence count that the next one has; of ours */
	int64_t now_ns; /* since the link came up */
	uint32_t packets, missing,
		lost; /* since the last file's end: came; never came; were lost on purpose, both ways */
	uint32_t differ; /* octets that are others on the board */
	struct receiver receiver;
};

void files_ready(struct files *files);
/* From now on. */
void files_lose(struct files *files, uint32_t share);
/* The link came up anew. */
void files_up(struct files *files);
/* False: it is no packet of a file, or not as it should be. */
bool files_take(struct files *files, const uint8_t *packet, size_t octets, int64_t now_ns);
void files_due(struct files *files, int64_t now_ns);
int64_t files_next_ns(const struct files *files);

#endif

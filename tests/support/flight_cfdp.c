// SPDX-License-Identifier: MIT
/*
 * The sender of files without a program around it. `flight_cfdp FILE`: PDUs of a receiver come in as lines of hex, those
 * for it go out as such, then "received", "lost" or a dot; "at MS" sets the time. `flight_cfdp --fuzz SEED COUNT`: as many
 * PDUs that are damaged, or sound and senseless.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/crc32.h"
#include "flight/program/cfdp.h"
#include "flight/program/pus.h"

enum { MOST = 1 << 20 };

static bool print_pdu(void *world, const uint8_t *pdu, size_t octets)
{
	(void)world;
	for (size_t one = 0; one < octets; one++)
		printf("%02x", pdu[one]);
	putchar('\n');
	return true;
}

/* Each piece that is sent lies in the file, and now and then there is no room. */
static bool check_pdu(void *world, const uint8_t *pdu, size_t octets)
{
	const struct cfdp *cfdp = world;

	if (octets > CFDP_PDU_MOST || pus_get(pdu + 1, 2) + CFDP_HEADER != octets)
		abort();
	if (pdu[0] & 0x10 && pus_get(pdu + CFDP_HEADER, 4) + octets - CFDP_HEADER - 4 > cfdp->octets)
		abort();
	return rand() % 8;
}

static int fuzz(unsigned int seed, long count)
{
	static struct cfdp cfdp = { .world = &cfdp, .send = check_pdu };
	uint8_t *file = calloc(1, 100000);
	uint64_t now = 0;
	uint32_t transaction = 0;
	long ended = 0;

	srand(seed);
	for (; count; count--) {
		const size_t octets = rand() % 4 ? (size_t)(CFDP_HEADER + rand() % 80) : (size_t)(rand() % 40);
		uint8_t *pdu = malloc(octets ? octets : 1); /* exactly as long, so that reading past it is seen */
		uint8_t head[CFDP_HEADER + 1] = { 0x28, 0, 0, 3, CFDP_BOARD, 0, 0, 0, 0, CFDP_GROUND };

		cfdp_begin(&cfdp, ++transaction, "frame", file, (uint32_t)(rand() % 100000), 0, now);
		for (size_t one = 0; one < octets; one++)
			pdu[one] = rand() % 3 ? (uint8_t)rand() : 0;
		pus_put(head + 1, octets > CFDP_HEADER ? (uint32_t)(octets - CFDP_HEADER) : 0, 2);
		pus_put(head + 5, cfdp.transaction, 4);
		head[CFDP_HEADER] = (uint8_t)(4 + rand() % 6);
		if (rand() % 8)
			memcpy(pdu, head, octets < sizeof(head) ? octets : sizeof(head));
		else if (octets)
			pdu[(size_t)rand() % octets] ^= (uint8_t)(1 << rand() % 8);
		ended += cfdp_take(&cfdp, pdu, octets, now) != CFDP_GOES_ON;
		ended += cfdp_due(&cfdp, (uint32_t)(rand() % 8), now) != CFDP_GOES_ON;
		now += (uint64_t)(rand() % 500) * 1000000;
		free(pdu);
	}
	printf("%ld\n", ended);
	free(file);
	return 0;
}

int main(int argc, char **argv)
{
	static struct cfdp cfdp = { .send = print_pdu };
	static const char *const said[] = { ".", "received", "lost" };
	static char line[4096];
	static uint8_t file[MOST], pdu[2048];
	unsigned long long at_ms = 0;
	FILE *input;
	size_t have;

	if (argc == 4 && !strcmp(argv[1], "--fuzz"))
		return fuzz((unsigned int)atoi(argv[2]), atol(argv[3]));
	input = argc == 2 ? fopen(argv[1], "r") : NULL;
	if (!input)
		return 2;
	have = fread(file, 1, sizeof(file), input);
	fclose(input);
	cfdp_begin(&cfdp, 7, "frame", file, (uint32_t)have, crc32_add(0, file, have), 0);
	while (fgets(line, sizeof(line), stdin)) {
		enum cfdp_end end;
		unsigned int octet;
		size_t octets = 0;

		if (sscanf(line, "at %llu", &at_ms) == 1) {
			end = cfdp_due(&cfdp, 8, at_ms * 1000000);
		} else {
			while (octets < sizeof(pdu) && sscanf(line + 2 * octets, "%2x", &octet) == 1)
				pdu[octets++] = (uint8_t)octet;
			end = cfdp_take(&cfdp, pdu, octets, at_ms * 1000000);
		}
		puts(said[end]);
		fflush(stdout);
	}
	return 0;
}

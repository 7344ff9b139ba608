// SPDX-License-Identifier: MIT
/* Compares frames with the file that the emulator wrote before it sent them. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stream.h"

/* The stamp lies over the last block. */
enum {
	CHECKED_BYTES = DS325_FRAME_BYTES - DS325_BLOCK_BYTES,
	CHECKED_PIXELS = DS325_PIXELS - DS325_BLOCK,
};

void checker_open(struct checker *checker, const struct options *options, const struct ds325_decoder *decoder)
{
	long long size;
	int fd;

	*checker = (struct checker){ 0 };
	if (!options->check)
		return;
	fd = open_file("--check=", options->check, &size);
	if (size < DS325_FRAME_BYTES || size % DS325_FRAME_BYTES)
		die(BAD_INPUT, "--check=%s: %lld bytes are no frames of %d", options->check, size, DS325_FRAME_BYTES);
	checker->count = (size_t)size / DS325_FRAME_BYTES;
	checker->frames = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	if (checker->frames == MAP_FAILED)
		die(RUN_FAILED, "--check=%s: %s", options->check, strerror(errno));
	close(fd);
	if (!options->ring && options->decoding != DECODE_KERNEL)
		return;
	checker->ranges = malloc(checker->count * DS325_PIXELS * sizeof(*checker->ranges));
	if (!checker->ranges)
		die(RUN_FAILED, "no memory for the ranges of %zu frames", checker->count);
	for (size_t one = 0; one < checker->count; one++)
		ds325_blocks_scalar(decoder, checker->frames + one * DS325_FRAME_BYTES, 0, DS325_PIXELS / DS325_BLOCK,
				    checker->ranges + one * DS325_PIXELS);
}

/* Is `got` the next of these frames, or a later one? */
static bool search(struct checker *checker, const void *frames, size_t stride, const void *got, size_t bytes)
{
	for (size_t away = 0; away < checker->count; away++) {
		size_t one = (checker->next + away) % checker->count;

		if (!memcmp((const uint8_t *)frames + one * stride, got, bytes)) {
			checker->next = one + 1;
			return true;
		}
	}
	return false;
}

bool checker_frame(struct checker *checker, const uint8_t *raw, int64_t number)
{
	if (number >= 0)
		return !memcmp(checker->frames + (size_t)number % checker->count * DS325_FRAME_BYTES, raw,
			       CHECKED_BYTES);
	return search(checker, checker->frames, DS325_FRAME_BYTES, raw, CHECKED_BYTES);
}

bool checker_ranges(struct checker *checker, const uint16_t *ranges)
{
	return search(checker, checker->ranges, DS325_PIXELS * sizeof(*ranges), ranges,
		      CHECKED_PIXELS * sizeof(*ranges));
}

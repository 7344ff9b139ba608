/* SPDX-License-Identifier: MIT */
/* The log of watch.c (src/rtqual/parts/explain/trace.py reads it). */
#ifndef WATCH_LOG_H
#define WATCH_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct log {
	FILE *file;
	uint64_t written;
	unsigned int at; /* the CPU of the last record */
};

/* False, and said, where it cannot be. What else fails ends QEMU. */
bool log_open(struct log *log, const char *path);

/* Of the CPU `at`. */
void log_put(struct log *log, unsigned int at, char kind, uint64_t ns, uint64_t word);

void log_close(struct log *log);

#endif

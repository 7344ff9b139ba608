/* SPDX-License-Identifier: MIT */
/*
 * What threads hand to one another without locks, so that none ever waits for another. A queue has one thread that puts
 * and one that takes. A snapshot has one that writes; a reader that comes in between learns so and takes it later: a
 * reader may have the higher priority, so it must not wait for the writer.
 */
#ifndef FLIGHT_SHARED_H
#define FLIGHT_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct queue {
	uint32_t count, octets; /* of records, a power of two; of each */
	uint8_t *records;
	_Atomic uint32_t put, taken; /* so far */
};

/* NULL: there is no room. Filled in, then queue_put(). */
void *queue_room(struct queue *queue);
void queue_put(struct queue *queue);
/* NULL: there is none. Read, then queue_taken(). */
void *queue_next(struct queue *queue);
void queue_taken(struct queue *queue);
uint32_t queue_waiting(const struct queue *queue);

struct snapshot {
	uint32_t words;
	_Atomic uint32_t *word;
	_Atomic uint32_t lock; /* odd while it is written */
};

void snapshot_write(struct snapshot *snapshot, const void *from);
/* False: it is being written. */
bool snapshot_read(struct snapshot *snapshot, void *to);

#endif

// SPDX-License-Identifier: MIT
#include <string.h>

#include "shared.h"

static void *record(struct queue *queue, uint32_t number)
{
	return queue->records + (size_t)(number & (queue->count - 1)) * queue->octets;
}

void *queue_room(struct queue *queue)
{
	const uint32_t put = atomic_load_explicit(&queue->put, memory_order_relaxed);

	if (put - atomic_load_explicit(&queue->taken, memory_order_acquire) == queue->count)
		return NULL;
	return record(queue, put);
}

void queue_put(struct queue *queue)
{
	atomic_store_explicit(&queue->put, atomic_load_explicit(&queue->put, memory_order_relaxed) + 1,
			      memory_order_release);
}

void *queue_next(struct queue *queue)
{
	const uint32_t taken = atomic_load_explicit(&queue->taken, memory_order_relaxed);

	if (atomic_load_explicit(&queue->put, memory_order_acquire) == taken)
		return NULL;
	return record(queue, taken);
}

void queue_taken(struct queue *queue)
{
	atomic_store_explicit(&queue->taken, atomic_load_explicit(&queue->taken, memory_order_relaxed) + 1,
			      memory_order_release);
}

uint32_t queue_waiting(const struct queue *queue)
{
	return atomic_load(&queue->put) - atomic_load(&queue->taken);
}

void snapshot_write(struct snapshot *snapshot, const void *from)
{
	const uint32_t lock = atomic_load_explicit(&snapshot->lock, memory_order_relaxed);

	atomic_store_explicit(&snapshot->lock, lock + 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	for (uint32_t one = 0; one < snapshot->words; one++) {
		uint32_t word;

		memcpy(&word, (const char *)from + one * sizeof(word), sizeof(word));
		atomic_store_explicit(&snapshot->word[one], word, memory_order_relaxed);
	}
	atomic_store_explicit(&snapshot->lock, lock + 2, memory_order_release);
}

bool snapshot_read(struct snapshot *snapshot, void *to)
{
	const uint32_t lock = atomic_load_explicit(&snapshot->lock, memory_order_acquire);

	if (lock & 1)
		return false;
	for (uint32_t one = 0; one < snapshot->words; one++) {
		const uint32_t word = atomic_load_explicit(&snapshot->word[one], memory_order_relaxed);

		memcpy((char *)to + one * sizeof(word), &word, sizeof(word));
	}
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&snapshot->lock, memory_order_relaxed) == lock;
}

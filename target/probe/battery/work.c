// SPDX-License-Identifier: MIT
#include "battery/work.h"

enum { TRIES = 5, ENOUGH_NS = 200000, ROUNDS_MOST = 1 << 28 };

enum port_status work_open(struct run *run, struct work *work, uint32_t words)
{
	*work = (struct work){ .memory = run_memory(run, words * sizeof(uint32_t)), .mask = words - 1, .state = 1 };
	if (!work->memory)
		return PORT_FULL;
	for (uint32_t i = 0; i < words; i++)
		work->memory[i] = i;
	return PORT_OK;
}

/*
 * A random walk through the working set; each step needs the previous step's word, so neither prefetching nor
 * reordering hides the memory's latency. Constants: Numerical Recipes' 32-bit congruential generator.
 */
void work_do(struct work *work, uint32_t rounds)
{
	uint32_t state = work->state;

	for (uint32_t i = 0; i < rounds; i++) {
		uint32_t *word = &work->memory[state >> 8 & work->mask];

		state = state * 1664525u + 1013904223u + *word;
		*word = state;
	}
	work->state = state;
}

static uint32_t time_of(struct work *const *works, unsigned int count, uint32_t rounds)
{
	uint64_t from_ns = port_now_ns();

	for (unsigned int i = 0; i < count; i++)
		work_do(works[i], rounds);
	return (uint32_t)(port_now_ns() - from_ns);
}

void work_calibrate(struct work *const *works, unsigned int count)
{
	uint32_t rounds = 64, least_ns = UINT32_MAX;

	while (time_of(works, count, rounds) < ENOUGH_NS * count && rounds < ROUNDS_MOST)
		rounds *= 2;
	for (int i = 0; i < TRIES; i++) {
		uint32_t time_ns = time_of(works, count, rounds);

		if (time_ns < least_ns)
			least_ns = time_ns;
	}
	for (unsigned int i = 0; i < count; i++) {
		works[i]->calibrated_rounds = rounds * count;
		works[i]->calibrated_ns = least_ns ? least_ns : 1;
	}
}

uint32_t work_rounds(const struct work *work, uint64_t time_ns)
{
	return (uint32_t)port_divide(time_ns * work->calibrated_rounds, work->calibrated_ns);
}

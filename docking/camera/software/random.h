/* SPDX-License-Identifier: MIT */
/* Random numbers that are the same everywhere: xoshiro256** (Blackman, Vigna 2018), seeded through splitmix64. */
#ifndef EMULATOR_RANDOM_H
#define EMULATOR_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state[4];
};

/* The stream of frame `number` depends on nothing but these two. */
void random_seed(struct random *random, uint64_t seed, uint64_t number);
uint64_t random_next(struct random *random);
/* Two independent numbers of the standard normal distribution. */
void random_normal(struct random *random, double pair[2]);

#endif

// SPDX-License-Identifier: MIT
#include <math.h>

#include "random.h"

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

void random_seed(struct random *random, uint64_t seed, uint64_t number)
{
	uint64_t state = seed;

	state = splitmix(&state) ^ number;
	for (int i = 0; i < 4; i++)
		random->state[i] = splitmix(&state);
}

static uint64_t rotate(uint64_t word, int bits)
{
	return word << bits | word >> (64 - bits);
}

uint64_t random_next(struct random *random)
{
	uint64_t *s = random->state;
	uint64_t result = rotate(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return result;
}

/* The Box-Muller method. The first uniform number is above 0, so that its logarithm is finite. */
void random_normal(struct random *random, double pair[2])
{
	double u = (double)((random_next(random) >> 11) + 1) * 0x1p-53;
	double angle = (double)(random_next(random) >> 11) * 0x1p-53 * 2 * M_PI;
	double length = sqrt(-2 * log(u));

	pair[0] = length * cos(angle);
	pair[1] = length * sin(angle);
}

// SPDX-License-Identifier: MIT
#include "state.h"

#include <string.h>

void normal_add(struct normal *normal, const double row[6], double error, double weight)
{
	/* Only the lower triangle counts; whole rows are fewer instructions. */
	for (int i = 0; i < 6; i++) {
		double weighted = weight * row[i];

		for (int j = 0; j < 6; j++)
			normal->h[6 * i + j] += weighted * row[j];
		normal->g[i] += weighted * error;
	}
}

struct bias *normal_bias(struct normal *normal, double sigma)
{
	/* The last one takes what there is no room for. */
	struct bias *bias = normal->bias + (normal->biases < MOST_BIASES ? normal->biases++ : MOST_BIASES - 1);

	memset(bias, 0, sizeof(*bias));
	bias->sigma = sigma;
	return bias;
}

void bias_add(struct bias *bias, const double row[6], double weight)
{
	for (int i = 0; i < 6; i++)
		bias->row[i] += weight * row[i];
}

void bias_measure(struct bias *bias, const double row[6], double error, double weight)
{
	bias_add(bias, row, weight);
	bias->weight += weight;
	bias->error += weight * error;
}

void offset_solve(const struct offset *offset, double sigma, struct normal *normal)
{
	double whole = offset->weight + 1 / (sigma * sigma);

	for (int i = 0; i < 6; i++) {
		for (int j = 0; j <= i; j++)
			normal->h[6 * i + j] -= offset->row[i] * offset->row[j] / whole;
		normal->g[i] -= offset->row[i] * offset->error / whole;
	}
}

bool offset_estimate(const struct normal *normal, double *value, double *information, double *shared)
{
	const struct offset *offset = &normal->offset;
	double h[36], cov[36], shift[6];

	for (int i = 0; i < 6; i++) {
		for (int j = 0; j <= i; j++)
			h[6 * i + j] = h[6 * j + i] = normal->h[6 * i + j];
		h[7 * i] += 1e-3 * normal->h[7 * i] + 1;
	}
	if (!invert6(h, cov))
		return false;
	multiply6_vector(cov, offset->row, shift);
	*information = offset->weight;
	*value = offset->error;
	for (int i = 0; i < 6; i++) {
		*information -= offset->row[i] * shift[i];
		*value -= normal->g[i] * shift[i];
	}
	if (!(*information > 1e-6 * offset->weight && *information > 1))
		return false;
	*value /= *information;
	*shared = 0;
	for (int b = 0; b < normal->biases; b++) {
		const struct bias *bias = normal->bias + b;
		double moved = 0;

		if (!bias_moves(bias))
			continue;
		for (int i = 0; i < 6; i++)
			moved += bias->row[i] * shift[i];
		moved *= bias->sigma / *information;
		*shared += moved * moved;
	}
	return true;
}

// SPDX-License-Identifier: MIT
/* Error-state Kalman filter, constant velocity: error (position, rotation, velocity, angular velocity), camera frame. */
#include "state.h"

#include <string.h>

SELDOM void filter_start(struct pose *pose, const struct placed *at)
{
	const double speed = pose->set.first_speed, rate = pose->set.first_rate;

	pose->at = *at;
	pose->foreseen = false;
	memset(pose->systematic, 0, sizeof(pose->systematic));
	memset(pose->rate, 0, sizeof(pose->rate));
	memset(pose->cov, 0, sizeof(pose->cov));
	for (int k = 0; k < 3; k++) {
		pose->cov[13 * k] = 0.1 * 0.1; /* m^2: the fit corrects it, except in what it does not see */
		pose->cov[13 * (3 + k)] = 0.3 * 0.3;
		pose->cov[13 * (6 + k)] = speed * speed;
		pose->cov[13 * (9 + k)] = rate * rate;
	}
}

void filter_cov(const struct pose *pose, double cov[36])
{
	for (int i = 0; i < 36; i++)
		cov[i] = pose->cov[12 * (i / 6) + i % 6];
}

void filter_predict(struct pose *pose, double seconds)
{
	double step[6], *cov = pose->cov;

	for (int k = 0; k < 6; k++)
		step[k] = seconds * pose->rate[k];
	placed_move(&pose->at, step);
	/* F P F^T with F = [1 dt; 0 1]: first rows, then columns. */
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 12; j++)
			cov[12 * i + j] += seconds * cov[12 * (i + 6) + j];
	for (int j = 0; j < 6; j++)
		for (int i = 0; i < 12; i++)
			cov[12 * i + j] += seconds * cov[12 * i + j + 6];
	/* White acceleration of density q: Bar-Shalom, Li, Kirubarajan 2001, section 6.2.2 */
	for (int k = 0; k < 6; k++) {
		double a = k < 3 ? pose->set.acceleration : pose->set.angular_acceleration, q = a * a;

		cov[13 * k] += q * seconds * seconds * seconds / 3;
		cov[12 * k + k + 6] += q * seconds * seconds / 2;
		cov[12 * (k + 6) + k] += q * seconds * seconds / 2;
		cov[13 * (k + 6)] += q * seconds;
	}
}

void filter_update(struct pose *pose, const struct fit *fit)
{
	double gain[72], less[36], *cov = pose->cov;

	/* The pose is what the fit found; the velocities follow by their correlation with it. */
	for (int i = 0; i < 12; i++) {
		for (int j = 0; j < 6; j++) {
			gain[6 * i + j] = 0;
			for (int k = 0; k < 6; k++)
				gain[6 * i + j] += cov[12 * i + k] * fit->weight[6 * k + j];
		}
	}
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 6; j++)
			pose->rate[i] += gain[6 * (i + 6) + j] * fit->offset[j];
	for (int i = 0; i < 36; i++)
		less[i] = cov[12 * (i / 6) + i % 6] - fit->cov[i];
	double half[72];

	for (int i = 0; i < 12; i++) {
		for (int j = 0; j < 6; j++) {
			half[6 * i + j] = 0;
			for (int k = 0; k < 6; k++)
				half[6 * i + j] += gain[6 * i + k] * less[6 * k + j];
		}
	}
	for (int i = 0; i < 12; i++) {
		for (int j = 0; j <= i; j++) {
			double down = 0;

			for (int k = 0; k < 6; k++)
				down += half[6 * i + k] * gain[6 * j + k];
			cov[12 * i + j] -= down;
			cov[12 * j + i] = cov[12 * i + j];
		}
	}
	pose->at = fit->at;
	pose->foreseen = true;
}

SELDOM void filter_doubt(struct pose *pose, double place, double rate)
{
	for (int i = 0; i < 12; i++)
		for (int j = 0; j < 12; j++)
			pose->cov[12 * i + j] *= (i < 6 ? place : rate) * (j < 6 ? place : rate);
}

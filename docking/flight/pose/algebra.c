// SPDX-License-Identifier: MIT
#include "algebra.h"

#include <string.h>

void rotation_from_vector(const double vector[3], double out[9])
{
	double angle = norm3(vector);
	/* sin(x)/x and (1 - cos(x))/x^2, by their series where the quotients lose digits */
	double s = angle < 1e-4 ? 1 - angle * angle / 6 : sin(angle) / angle;
	double c = angle < 1e-4 ? 0.5 - angle * angle / 24 : (1 - cos(angle)) / (angle * angle);
	const double x = vector[0], y = vector[1], z = vector[2];

	out[0] = 1 - c * (y * y + z * z);
	out[1] = c * x * y - s * z;
	out[2] = c * x * z + s * y;
	out[3] = c * x * y + s * z;
	out[4] = 1 - c * (x * x + z * z);
	out[5] = c * y * z - s * x;
	out[6] = c * x * z - s * y;
	out[7] = c * y * z + s * x;
	out[8] = 1 - c * (x * x + y * y);
}

void quaternion_from_rotation(const double r[9], double out[4])
{
	/* Shepperd: divide by the largest of the four. */
	const double four[4] = { r[0] + r[4] + r[8], r[0] - r[4] - r[8], r[4] - r[0] - r[8], r[8] - r[0] - r[4] };
	int most = 0;

	for (int i = 1; i < 4; i++)
		if (four[i] > four[most])
			most = i;
	double q[4], twice = sqrt(fmax(0, 1 + four[most])), f = 0.5 / twice;
	const double dx = r[7] - r[5], dy = r[2] - r[6], dz = r[3] - r[1];
	const double xy = r[1] + r[3], xz = r[2] + r[6], yz = r[5] + r[7];

	q[most] = 0.5 * twice;
	switch (most) {
	case 0:
		q[1] = dx * f, q[2] = dy * f, q[3] = dz * f;
		break;
	case 1:
		q[0] = dx * f, q[2] = xy * f, q[3] = xz * f;
		break;
	case 2:
		q[0] = dy * f, q[1] = xy * f, q[3] = yz * f;
		break;
	default:
		q[0] = dz * f, q[1] = xz * f, q[2] = yz * f;
	}
	for (int i = 0; i < 4; i++)
		out[i] = q[0] < 0 ? -q[i] : q[i];
}

void vector_from_rotation(const double r[9], double out[3])
{
	double q[4];

	quaternion_from_rotation(r, q);
	double sine = norm3(q + 1), angle = 2 * atan2(sine, q[0]);
	double f = sine < 1e-9 ? 2 : angle / sine;

	for (int i = 0; i < 3; i++)
		out[i] = f * q[1 + i];
}

void rotation_from_quaternion(const double q[4], double out[9])
{
	const double w = q[0], x = q[1], y = q[2], z = q[3];

	out[0] = 1 - 2 * (y * y + z * z);
	out[1] = 2 * (x * y - w * z);
	out[2] = 2 * (x * z + w * y);
	out[3] = 2 * (x * y + w * z);
	out[4] = 1 - 2 * (x * x + z * z);
	out[5] = 2 * (y * z - w * x);
	out[6] = 2 * (x * z - w * y);
	out[7] = 2 * (y * z + w * x);
	out[8] = 1 - 2 * (x * x + y * y);
}

void multiply3(const double a[9], const double b[9], double out[9])
{
	double product[9];

	for (int i = 0; i < 9; i++) {
		const double *row = a + i / 3 * 3;

		product[i] = row[0] * b[i % 3] + row[1] * b[3 + i % 3] + row[2] * b[6 + i % 3];
	}
	memcpy(out, product, sizeof(product));
}

void orthonormalise(double r[9])
{
	double n = norm3(r);

	for (int i = 0; i < 3; i++)
		r[i] /= n;
	double along = dot3(r, r + 3);

	for (int i = 0; i < 3; i++)
		r[3 + i] -= along * r[i];
	n = norm3(r + 3);
	for (int i = 0; i < 3; i++)
		r[3 + i] /= n;
	cross3(r, r + 3, r + 6);
}

bool invert6(const double a[36], double out[36])
{
	double l[36] = { 0 }, inverse[36] = { 0 };

	for (int i = 0; i < 6; i++) {
		for (int j = 0; j <= i; j++) {
			double sum = a[6 * i + j];

			for (int k = 0; k < j; k++)
				sum -= l[6 * i + k] * l[6 * j + k];
			if (i == j) {
				/* Compared with the original diagonal: a pivot lost to rounding is not a pivot. */
				if (!(sum > 1e-13 * a[6 * i + i]) || !isfinite(sum))
					return false;
				l[6 * i + i] = sqrt(sum);
			} else {
				l[6 * i + j] = sum / l[6 * j + j];
			}
		}
	}
	for (int i = 0; i < 6; i++) {
		inverse[6 * i + i] = 1 / l[6 * i + i];
		for (int j = 0; j < i; j++) {
			double sum = 0;

			for (int k = j; k < i; k++)
				sum -= l[6 * i + k] * inverse[6 * k + j];
			inverse[6 * i + j] = sum / l[6 * i + i];
		}
	}
	for (int i = 0; i < 6; i++) {
		for (int j = 0; j <= i; j++) {
			double sum = 0;

			for (int k = i; k < 6; k++)
				sum += inverse[6 * k + i] * inverse[6 * k + j];
			out[6 * i + j] = out[6 * j + i] = sum;
		}
	}
	return true;
}

void multiply6_vector(const double a[36], const double x[6], double out[6])
{
	for (int i = 0; i < 6; i++) {
		out[i] = 0;
		for (int j = 0; j < 6; j++)
			out[i] += a[6 * i + j] * x[j];
	}
}

/* A Jacobi rotation that makes a[p][q] zero. */
static void turn(int n, double *a, double *vectors, int p, int q)
{
	if (a[n * p + q] == 0)
		return;
	double theta = (a[n * q + q] - a[n * p + p]) / (2 * a[n * p + q]);
	double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
	double c = 1 / sqrt(t * t + 1), s = t * c;

	for (int k = 0; k < n; k++) {
		double kp = a[n * k + p], kq = a[n * k + q];

		a[n * k + p] = c * kp - s * kq;
		a[n * k + q] = s * kp + c * kq;
	}
	for (int k = 0; k < n; k++) {
		double pk = a[n * p + k], qk = a[n * q + k], vp = vectors[n * k + p], vq = vectors[n * k + q];

		a[n * p + k] = c * pk - s * qk;
		a[n * q + k] = s * pk + c * qk;
		vectors[n * k + p] = c * vp - s * vq;
		vectors[n * k + q] = s * vp + c * vq;
	}
}

void eigen(int n, double *a, double *values, double *vectors)
{
	for (int i = 0; i < n * n; i++)
		vectors[i] = i % (n + 1) == 0;
	for (int sweep = 0; sweep < 12; sweep++) {
		double off = 0, all = 0;

		for (int i = 0; i < n * n; i++) {
			all += a[i] * a[i];
			off += i % (n + 1) ? a[i] * a[i] : 0;
		}
		if (!(off > 1e-24 * all))
			break;
		for (int p = 0; p < n; p++)
			for (int q = p + 1; q < n; q++)
				turn(n, a, vectors, p, q);
	}
	for (int i = 0; i < n; i++)
		values[i] = a[(n + 1) * i];
}

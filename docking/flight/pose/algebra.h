/* SPDX-License-Identifier: MIT */
/* Small fixed-size algebra: vectors of three, rotations, symmetric matrices row by row. Nothing allocates. */
#ifndef FLIGHT_POSE_ALGEBRA_H
#define FLIGHT_POSE_ALGEBRA_H

#include <math.h>
#include <stdbool.h>

/* As fmax() and fmin(), which are calls and so many instructions; the second argument where the first is no number. */
static inline double larger(double a, double b)
{
	return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
	return a < b ? a : b;
}

static inline double dot3(const double *a, const double *b)
{
	return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void cross3(const double *a, const double *b, double *out)
{
	out[0] = a[1] * b[2] - a[2] * b[1];
	out[1] = a[2] * b[0] - a[0] * b[2];
	out[2] = a[0] * b[1] - a[1] * b[0];
}

/* out = R a, and out = R^T a */
static inline void rotate(const double *r, const double *a, double *out)
{
	for (int i = 0; i < 3; i++)
		out[i] = r[3 * i] * a[0] + r[3 * i + 1] * a[1] + r[3 * i + 2] * a[2];
}

static inline void rotate_back(const double *r, const double *a, double *out)
{
	for (int i = 0; i < 3; i++)
		out[i] = r[i] * a[0] + r[3 + i] * a[1] + r[6 + i] * a[2];
}

static inline double norm3(const double *a)
{
	return sqrt(dot3(a, a));
}

void rotation_from_vector(const double vector[3], double out[9]);
/* The rotation vector, at most pi long. */
void vector_from_rotation(const double r[9], double out[3]);
void quaternion_from_rotation(const double r[9], double out[4]);
void rotation_from_quaternion(const double q[4], double out[9]);
void multiply3(const double a[9], const double b[9], double out[9]);
void orthonormalise(double r[9]);

/* Inverse of a symmetric positive definite 6 x 6 matrix; false if it is not positive definite; out is then unchanged.
 */
bool invert6(const double a[36], double out[36]);
void multiply6_vector(const double a[36], const double x[6], double out[6]);
/* Eigenvalues and, in columns, eigenvectors of a symmetric n x n matrix (n <= 6), by Jacobi's rotations; a is
 * overwritten. */
void eigen(int n, double *a, double *values, double *vectors);

#endif

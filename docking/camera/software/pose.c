// SPDX-License-Identifier: MIT
#include <math.h>

#include "pose.h"

double vector_dot(struct vector a, struct vector b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

struct vector rotation_apply(const struct rotation *rotation, struct vector v)
{
	return (struct vector){ vector_dot(rotation->rows[0], v), vector_dot(rotation->rows[1], v),
				vector_dot(rotation->rows[2], v) };
}

struct rotation quaternion_to_target(struct quaternion q)
{
	return (struct rotation){ {
		{ 1 - 2 * (q.y * q.y + q.z * q.z), 2 * (q.x * q.y + q.w * q.z), 2 * (q.x * q.z - q.w * q.y) },
		{ 2 * (q.x * q.y - q.w * q.z), 1 - 2 * (q.x * q.x + q.z * q.z), 2 * (q.y * q.z + q.w * q.x) },
		{ 2 * (q.x * q.z + q.w * q.y), 2 * (q.y * q.z - q.w * q.x), 1 - 2 * (q.x * q.x + q.y * q.y) },
	} };
}

static struct quaternion product(struct quaternion a, struct quaternion b)
{
	return (struct quaternion){
		a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
		a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
		a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
		a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
	};
}

struct quaternion quaternion_from_angles(double roll, double pitch, double yaw)
{
	const double half = M_PI / 360;
	struct quaternion about_z = { cos(roll * half), 0, 0, sin(roll * half) };
	struct quaternion about_x = { cos(pitch * half), sin(pitch * half), 0, 0 };
	struct quaternion about_y = { cos(yaw * half), 0, sin(yaw * half), 0 };

	return product(about_y, product(about_x, about_z));
}

struct quaternion quaternion_between(struct quaternion a, struct quaternion b, double share)
{
	double cosine = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z;
	double sign = cosine < 0 ? -1 : 1;
	double angle = acos(fmin(cosine * sign, 1));
	double from = 1 - share;
	double to = share;
	double length;
	struct quaternion q;

	if (angle > 1e-6) { /* else the chord is the arc */
		from = sin(from * angle) / sin(angle);
		to = sin(to * angle) / sin(angle);
	}
	to *= sign;
	q = (struct quaternion){ from * a.w + to * b.w, from * a.x + to * b.x, from * a.y + to * b.y,
				 from * a.z + to * b.z };
	length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
	return (struct quaternion){ q.w / length, q.x / length, q.y / length, q.z / length };
}

/* SPDX-License-Identifier: MIT */
/* The steps of looking for the target in the whole frame. */
#ifndef FLIGHT_POSE_FIND_H
#define FLIGHT_POSE_FIND_H

#include "state.h"

#define MOST_POINTS 400

/* A plane through points of a face, camera coordinates. */
struct face_points {
	double point[MOST_POINTS][3];
	bool at_border[MOST_POINTS]; /* the picture ends there, not the face */
	int points;
	double normal[3]; /* towards the camera */
	double centre[3]; /* mean of the points */
	double range;     /* its length */
};

/* The rectangle around them: axes, and how far it reaches along each; cut: the picture ends there. */
struct rectangle {
	double axis[2][3], low[2], high[2];
	bool low_cut[2], high_cut[2];
};

/* blocks.c: connected pieces of about the same range; the number of them, nearest first in `labels` (at most `most`) */
int blocks_label(struct pose *pose, const struct pose_frame *frame, int16_t *labels, int most);
/* Points of one piece, spread over it. */
void blocks_points(const struct pose *pose, int16_t label, struct face_points *out);

/* A random number from 0 to below. */
int pose_draw(struct pose *pose, int below);
/* ring.c: the target by its ring and keys, where these stand out of the face and the sides are out of the picture. */
bool ring_place(struct pose *pose, const struct pose_frame *frame, const struct face_points *points,
		struct placed *out);

/* plane.c: the plane most of the points lie in; others are dropped. False where too few agree. */
bool plane_fit(struct pose *pose, struct face_points *points);
void plane_rectangle(const struct pose *pose, const struct face_points *points, struct rectangle *out);

#endif

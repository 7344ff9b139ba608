/* SPDX-License-Identifier: MIT */
/* What the files of the pose estimator share; not for its users. */
#ifndef FLIGHT_POSE_STATE_H
#define SELDOM __attribute__((cold)) /* few frames come here: small before fast */
#define FLIGHT_POSE_STATE_H

#include "algebra.h"
#include "pose.h"

#define GRAZING 0.15     /* cosine: nearer to edge-on than this a face says little, and with much noise */
#define BLOCK 4          /* pixels a side: finding the target looks at blocks first */
#define GUESSES 4        /* guesses that are fitted */
#define LOOK 4 /* one frame in so many looks again at what changes slowly */
#define MOST_BIASES 40   /* unknowns that many measurements of a frame share */

/* Where the target is thought to be. */
struct placed {
	double p[3], r[9];
};

/* What a ray meets first, and how far away. */
struct hit {
	double range, normal[3]; /* the normal, target coordinates: of a round wall only */
	int axis;                /* of a flat face; -1: a round wall */
	const struct pose_part *part;
};

/* An unknown that many measurements share: its standard deviation, and the sum of their weighted rows. */
struct bias {
	double sigma, row[6];
	double weight, error; /* sums; 0: not of measurements of one place */
};

/* An unknown that is solved for beside the pose: the sums needed to eliminate it. */
struct offset {
	double row[6], weight, error;
};

/* What the frames told of it so far. */
struct told {
	double mean, weight, noise, shared; /* m, 1/m^2, m^2: variances of what averages away and of what does not */
};

/* Normal equations of one linearisation: sum of rows J^T J / sigma^2 and J^T e / sigma^2. */
struct normal {
	double h[36], g[6];
	struct bias bias[MOST_BIASES];
	int biases;
	struct offset offset; /* that all ranges share, beyond the one known */
	double more, information, shared; /* of it, by this frame alone */
	int samples, crossings;
	int shown, agreeing;       /* pixels that should show the target; pixels that do */
	int contrary;              /* pixels that show something else, in front of it or behind it */
	double light;              /* amplitude of a face seen straight on at 1 m, summed over the samples */
	int pixel_errors[64];      /* of |error| / sigma in eighths */
	int outline;               /* crossings of the outline */
	int looked, elsewhere;     /* where edges and rims were looked for; where what is seen contradicts them */
	double scatter;            /* the crossings' squared errors in units of those expected, summed */
};

struct block {
	float range; /* m, 0: nothing there */
	int16_t label, x, y;
};

/* A pose that the target may have; a lower cost is better. */
struct guess {
	struct placed at;
	double cost;
};

/* Looking for the target, which takes some frames. */
struct search {
	int piece; /* the piece to be looked at next; nearest first */
	struct guess guesses[GUESSES], best;
	int count, tried;
	bool refined;
};

struct pose {
	struct pose_model model;
	struct pose_camera camera;
	struct pose_settings set;
	float *rays; /* a unit vector for each pixel */
	struct block *blocks;
	int32_t *stack; /* of the flood fill */

	struct search search;
	bool tracking;
	bool foreseen; /* by the filter. What was just found is placed better than the filter says */
	int misses;
	uint64_t time_ns;
	struct placed at;
	double rate[6];        /* velocity and angular velocity, camera frame */
	double cov[144];       /* of (position, rotation, velocity, angular velocity) */
	double noise_scale, edge_scale; /* how far the noise differs from the settings' */
	double discord; /* of the last frames */
	double systematic[36]; /* covariance of what their edges and rims shared */
	struct told told;
	double offset, offset_variance; /* what all ranges read too much, as far as the frames told, m and m^2 */
	double sun; /* light that is not the camera's, in counts of amplitude */
	int suns;   /* frames that it was measured in */
	double evidence[3]
		       [2]; /* against half a turn about x, y and z: of keys seen, and of none where it would have them */
	double parts_seen; /* evidence that the parts are where they should be, not half a turn off nor any other way */
	bool decided;
	int weighed; /* frames that did not decide */
	uint32_t frames, random;
};

/* camera.c */
bool camera_usable(const struct pose_camera *camera);
void camera_rays(const struct pose_camera *camera, float *rays);
/* Pixel of a point, and its derivative (2 x 3) unless NULL; false where the point is not before the camera. */
bool camera_project(const struct pose_camera *camera, const double point[3], double pixel[2], double derivative[6]);
/* A pixel's place in the arrays of a frame; what follows takes pixels by it. */
static inline long pixel_of(const struct pose *pose, int x, int y)
{
	return (long)y * pose->camera.width + x;
}

/* Unit vector of a pixel's ray. */
static inline void camera_ray(const struct pose *pose, long pixel, double ray[3])
{
	const float *at = pose->rays + 3 * pixel;

	ray[0] = at[0], ray[1] = at[1], ray[2] = at[2];
}

/* Range of a pixel in m; 0 where there is none. */
static inline double frame_range(const struct pose_frame *frame, long pixel)
{
	uint16_t mm = frame->range_mm[pixel];

	return mm > POSE_RANGE_LAST ? 0 : 0.001 * mm;
}

static inline bool frame_saturated(const struct pose_frame *frame, long pixel)
{
	return frame->range_mm[pixel] > POSE_RANGE_LAST;
}

/* Standard deviation of one pixel's range, m. It goes with the root of all light by the light that comes back. */
static inline double range_noise(const struct pose *pose, const struct pose_frame *frame, long pixel, double range)
{
	double one = pose->noise_scale * pose->set.noise_at_1m;

	if (!frame->amplitude)
		return one * range + pose->set.noise_floor;
	double light = frame->amplitude[pixel];

	light = light > 5 ? light : 5;
	return one * sqrt(pose->set.amplitude_at_1m * (light + pose->sun)) / light + pose->set.noise_floor;
}

/* The same where only the range is known, of a surface like that of the settings. */
static inline double usual_noise(const struct pose *pose, double range)
{
	double sun = pose->sun * range * range / pose->set.amplitude_at_1m;

	return pose->noise_scale * pose->set.noise_at_1m * range * sqrt(1 + sun) + pose->set.noise_floor;
}

/* Standard deviation of where an edge is seen to cross a line of pixels. */
static inline double edge_noise(const struct pose *pose, const struct pose_frame *frame)
{
	/* Without amplitudes a crossing is known to the pixel only: 1 / sqrt(12). */
	return pose->edge_scale * (frame->amplitude ? pose->set.edge_noise : 0.3);
}

static inline void count_error(int histogram[64], double deviations)
{
	int eighth = (int)(8 * deviations);

	histogram[eighth < 63 ? eighth : 63]++;
}

/* model.c */
bool model_usable(const struct pose_model *model);
/* The first hit among the parts in `parts` (bits). view_parts() gives those that a pixel can show. */
bool model_hit(const struct pose_model *model, unsigned int parts, const double origin[3], const double direction[3],
	       struct hit *hit);
/* Rectangle of pixels around a placed part, `wider` pixels around it, within the image; false where it is outside. */
bool model_window(const struct pose *pose, const struct placed *at, int part, int wider, int window[4]);

/* The placed target as the camera sees it. */
struct view {
	double origin[3]; /* the camera, target coordinates */
	double level[3]; /* from there along each axis to the body's face that is seen; 0: none is */
	int window[POSE_PARTS][4]; /* pixels that may show the part; low > high: none. 0: any part but the body */
};
void view_of(const struct pose *pose, const struct placed *at, struct view *view);
static inline bool view_in(const int window[4], int x, int y)
{
	return x >= window[0] && y >= window[1] && x <= window[2] && y <= window[3];
}
static inline unsigned int view_parts(const struct pose *pose, const struct view *view, int x, int y)
{
	unsigned int parts = 1;

	if (!view_in(view->window[0], x, y))
		return parts;
	for (int i = 1; i < pose->model.parts; i++)
		parts |= (unsigned int)view_in(view->window[i], x, y) << i;
	return parts;
}
/* What a ray (target coordinates) of a pixel that can show these parts meets. */
bool view_hit(const struct pose *pose, const struct view *view, unsigned int parts, const double direction[3],
	      struct hit *hit);

/* normal.c */
void normal_add(struct normal *normal, const double row[6], double error, double weight);
/* Rows that share one unknown. Their sums are kept so that the unknown can be eliminated afterwards. */
struct bias *normal_bias(struct normal *normal, double sigma);
/* A measurement that the unknown moves by `times`. */
static inline void offset_add(struct offset *offset, const double row[6], double times, double error, double weight)
{
	for (int i = 0; i < 6; i++)
		offset->row[i] += times * weight * row[i];
	offset->weight += times * times * weight;
	offset->error += times * weight * error;
}
/* What this frame alone says of it, and its variance by what edges and rims share: false where it says nothing. Before it
 * is eliminated; lower triangle.
 */
bool offset_estimate(const struct normal *normal, double *value, double *information, double *shared);
/* Schur's complement: what is left of the equations once the unknown, of this deviation, has its best value for every
 * pose.
 */
void offset_solve(const struct offset *offset, double sigma, struct normal *normal);
void bias_add(struct bias *bias, const double row[6], double weight);
/* Does it move any measurement? Most frames of an approach have none of the rims. */
static inline bool bias_moves(const struct bias *bias)
{
	return bias->sigma > 0 && (bias->row[0] != 0 || bias->row[1] != 0 || bias->row[2] != 0);
}
/* The same of a measurement of the place that the unknown moves. */
void bias_measure(struct bias *bias, const double row[6], double error, double weight);

/* line.c: a line of pixels along a row or column, across an edge of the model. */
struct line {
	int x, y, dx, dy; /* the pixel next to the edge; outwards */
	long pixel, step; /* the same as places in the frame's arrays */
	double predicted; /* where the edge crosses, in pixels outwards from that pixel's middle */
	double slant; /* pixels across the edge for a pixel along the line */
	double row[6]; /* of the edge's place across itself, pixels */
};
/* For a point of an edge, given from the target's origin, with the directions along the edge and out of it (camera
 * coordinates). False if the line, `reach` pixels to either side, leaves the picture.
 */
bool line_across(const struct pose *pose, const struct placed *at, const double arm[3], const double along[3],
		 const double out[3], int reach, struct line *line);
/* How much of a pixel lies within an edge that crosses its middle row at `end`, and moves by `slope` a row. */
double line_covered(double end, double slope);

/* crossing.c: where the target ends along a line. The face inside: a ray meets it at level / (normal . ray). */
struct face {
	double normal[3], level;
	const struct placed *at;
	int axis;
	double strip; /* pixels: how wide the face beside it, seen almost edge-on, may be */
};

/* In pixels outwards from the middle one's centre. */
struct end {
	double at;
	double grain; /* variance that the noise of light makes */
	double strip; /* how far a dark strip a pixel wide beside it would move it */
	/* Of light beyond the edge that does not count: its power; how far it would move the edge by as much as just
	 * does not count, through pixels with a range and through others; the light across the target's that it makes
	 * in the former.
	 */
	double power, dim, hidden, across;
	int lit; /* 1: something is seen beyond it, 2: just so */
};

/* Of a pixel that nothing shines on: of both words, with the rounding of each. */
static inline double dark_power(const struct pose *pose)
{
	double angle = pose->set.noise_at_1m * 2 * M_PI / pose->set.ambiguity;
	double shot = angle * angle * pose->set.amplitude_at_1m;

	return 2 * (shot * (pose->set.least_amplitude + pose->sun) + 1.0 / 12);
}

/* Is an end seen? ELSEWHERE: the target goes on along the whole line, or `light` (at 1 m) of it should be seen and is not. */
enum ends { NO_END, END, ELSEWHERE };
enum ends crossing(const struct pose *pose, const struct pose_frame *frame, const struct line *line,
		   const struct face *face, double light, int reach, double slack, struct end *out);

/* sight.c: is a face of the body in the picture, by axis and side? After this frame's pixels, before its outline. `weight`
 * is the inverse of the prediction's covariance.
 */
struct sight {
	enum { HIDDEN, UNSURE, SEEN } seen;
	double strip; /* pixels: the widest that it may be in the picture, as well as the pose is known */
};
void sight_of(const struct pose *pose, const struct placed *at, const double weight[36], const struct normal *normal,
	      struct sight out[3][2]);

/* surface.c, outline.c, rim.c: the three kinds of measurement */
void surface_measure(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
		     const struct view *view, const double deviation[3], int wanted, double slack,
		     struct normal *normal);
void outline_measure(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
		     const double weight[36], int reach, double slack, struct normal *normal);
void rim_measure(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
		 const struct view *view, int reach, struct normal *normal);

/* overhang.c: does what is seen of the docking face go on beyond an edge of it? */
bool overhanging(const struct pose *pose, const struct pose_frame *frame, const struct placed *at);

/* How far edges and rims may contradict a pose, in squared deviations (1 if it is right), so that ... */
#define DISCORD_NEAR 1.5 /* the next prediction needs no coarse round: the target moves as the filter foresees */
#define DISCORD_DECIDED 4 /* the keys are where they are looked for, and decide which way round it is */
#define DISCORD_OF_GUESS 30 /* a guess is the target at all */
#define DISCORD_OF_FRAME 150 /* a tracked target is what the frame shows, and the frame is not damaged */

/* fit.c */
struct fit {
	struct placed at;
	double offset[6]; /* from where it began */
	double weight[36], cov[36]; /* the prior's inverse, and the pose's covariance after this frame */
	double information[36]; /* of this frame alone */
	double systematic[36]; /* covariance of what averaging does not remove */
	double surprise; /* by how much the prior was wrong, in squared deviations; 1 if it may have been right */
	double discord; /* by how much edges and rims differ from each other */
	bool elsewhere; /* more of the edges and rims than chance explains are seen beside where it has them */
	struct normal last;
};
/* Fits a pose, from a guess with its covariance; false if the equations have no solution. With `fine`, the last round
 * uses as many pixels as are worth the time; otherwise all rounds use few. Where the prior is known well there is only that
 * round, and one more like it if it moved the target far.
 */
bool fit(const struct pose *pose, const struct pose_frame *frame, const struct placed *guess, const double prior[36],
	 double slack, int rounds, bool fine, struct fit *out);
void placed_offset(const struct placed *from, const struct placed *to, double out[6]);
void placed_move(struct placed *at, const double step[6]);
/* Standard deviations of its place along its own axes, m; with `cov + 21`, of rows of six too, of its turn about them. */
void placed_deviations(const struct placed *at, const double *cov, double out[3]);

/* find.c: a step of the search for the target in the whole frame; true when its place is roughly known. */
bool find(struct pose *pose, const struct pose_frame *frame, struct placed *out);
void find_forget(struct pose *pose);

/* keys.c: which way round the target is */
enum keys { KEYS_UNDECIDED, KEYS_UNSEEN, KEYS_RIGHT, KEYS_WRONG };
/* Turned by half about an axis through the body's middle. */
void placed_turned(const struct pose *pose, const struct placed *at, int axis, struct placed *out);
void keys_forget(struct pose *pose);
/* What a frame says for `at` against `other`: by keys seen, and by none seen where `other` has them. */
void keys_evidence(const struct pose *pose, const struct pose_frame *frame, const struct placed *at,
		   const struct placed *other, double evidence[2]);
/* Weighs this frame, whose fit saw an outline or not; KEYS_WRONG: the target is not at `*at` but, now, turned to what is there afterwards. */
enum keys keys_weigh(struct pose *pose, const struct pose_frame *frame, bool outlined, struct placed *at);

/* The axes (bits 0 to 2) about which it may be half a turn off: all while no part was seen, a bare face being no proof. */
unsigned int keys_undecided(const struct pose *pose);

/* learn.c */
void learn_forget(struct pose *pose);
/* Before a frame is fitted, from where the target is thought to be. */
void learn_sun(struct pose *pose, const struct pose_frame *frame, const struct placed *at);
/* After it, from a fit that began with this covariance. */
void learn_from(struct pose *pose, const struct fit *fit, const double prior[36]);
/* How large a frame's noise is, as a part of that expected; and the mean amplitude, 0 where it cannot be told. */
double noise_now(const struct pose *pose, const struct pose_frame *frame, const struct placed *at, double *light);

/* filter.c */
void filter_start(struct pose *pose, const struct placed *at);
/* The covariance of (position, rotation). */
void filter_cov(const struct pose *pose, double cov[36]);
void filter_predict(struct pose *pose, double seconds);
void filter_update(struct pose *pose, const struct fit *fit);
/* The target moves as was not expected: its deviations, this many times. */
void filter_doubt(struct pose *pose, double place, double rate);

#endif

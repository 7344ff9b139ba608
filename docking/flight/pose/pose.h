/* SPDX-License-Identifier: MIT */
/* Range and pose of a docking target from the depth frames of one camera.
 *
 * Frames. Camera: x right, y down, z forward, origin at the pinhole; a range is the distance along the pixel's ray.
 * Target: origin at the middle of the docking face, z into the body, so that docked its axes are the camera's.
 * A pose takes target coordinates to camera coordinates: X_camera = R(orientation) X_target + position. Metres,
 * radians, seconds; images in mm. Errors of a pose are (position, rotation vector), both in the camera frame, the
 * rotation applied last: R_true = exp(rotation) R.
 *
 * Nothing allocates: the caller gives one workspace at start. One thread at a time for one workspace.
 */
#ifndef FLIGHT_POSE_H
#define FLIGHT_POSE_H

#include <stddef.h>
#include <stdint.h>

#define POSE_RANGE_INVALID 0
#define POSE_RANGE_LAST 31999 /* mm; larger values are the camera's marks */
#define POSE_RANGE_SATURATED 32002
#define POSE_PARTS 8

/* OpenCV's camera model; the middle of the top left pixel is (0, 0), so an ideal lens has cx = (width - 1) / 2. */
struct pose_camera {
	int width, height;
	double fx, fy, cx, cy; /* pixels */
	double k1, k2, p1, p2, k3;
};

enum pose_part_kind { POSE_BOX, POSE_CYLINDER };

/* A convex piece of the target. A box: half its extents along x, y, z. A cylinder along z: its radius, the radius of
 * the hole in its top, towards -z (0: none; the hole's floor is what lies behind), half its height.
 */
struct pose_part {
	enum pose_part_kind kind;
	double centre[3], half[3];
};

/* Part 0 is the body, a box; the others stand on it. */
struct pose_model {
	int parts;
	struct pose_part part[POSE_PARTS];
};

/* What is known beforehand; pose_default_settings() says where each figure comes from. */
struct pose_settings {
	double noise_at_1m;        /* standard deviation of one pixel's range at 1 m, m; grows with range */
	double noise_floor;        /* noise that adds to it everywhere, m */
	double range_bias;         /* standard deviation of the error that all ranges share over frames, m */
	double edge_noise;         /* standard deviation of one outline crossing besides what light makes, pixels */
	double edge_bias; /* of the error shared by all crossings of an edge along a row or column, pixels */
	double acceleration; /* of the target beside constant velocity: spectral density, m/s^2/sqrt(Hz) */
	double angular_acceleration; /* rad/s^2/sqrt(Hz) */
	double first_speed, first_rate; /* standard deviations assumed when the target is found, m/s and rad/s */
	double least_amplitude; /* amplitude that the decoder takes for no signal: hides dimmer faces */
	double most_range; /* farther than this nothing is looked for, m */
	double unobservable; /* a direction that one frame gives no better than this counts as not observed, m */
	double lever; /* lever that turns rotations into metres for that, m */
	double ambiguity; /* range at which the light's phase begins again, m; what mixed pixels read follows from it */
	double amplitude_at_1m; /* of the light that noise_at_1m belongs to */
	double hint[4]; /* expected orientation (w, x, y, z): decides between views that look alike */
};

struct pose_frame {
	const uint16_t *range_mm;
	/* Of the modulated light, as least_amplitude cut to whole numbers, and of pixels without a range, too; NULL where
	 * there is none.
	 */
	const uint16_t *amplitude;
	uint64_t time_ns; /* of the sensor, rising */
};

enum pose_status { POSE_NOT_FOUND, POSE_DEGENERATE, POSE_OK };

/* Directions, along the target's axes: bits of `unobserved`. */
enum { POSE_X = 1, POSE_Y = 2, POSE_Z = 4, POSE_RX = 8, POSE_RY = 16, POSE_RZ = 32 };

struct pose_result {
	enum pose_status status;
	uint64_t time_ns;
	unsigned int unobserved; /* axes that this frame does not show; the filter bridges them */
	double range_mm, range_sigma_mm; /* to the target's origin */
	double position[3]; /* m */
	double orientation[4]; /* w, x, y, z; w >= 0 */
	double covariance[36]; /* of (position, rotation), row by row */
	double velocity[6]; /* m/s and rad/s, camera frame */
	double noise_scale, edge_scale; /* noise of pixels and of outline crossings, in units of the settings' */
	int samples, crossings; /* pixels and outline crossings used by the fit */
	double agreement; /* of the pixels that should show the target, the share that does */
};

struct pose;

/* A MirrorSat-sized body with a docking ring and a key beside it (docs/docking/pose.md). */
void pose_default_model(struct pose_model *model);
/* 320 x 240 pixels, 74 x 58 degrees: the DS325's depth camera. */
void pose_default_camera(struct pose_camera *camera);
void pose_default_settings(struct pose_settings *settings);

size_t pose_workspace_bytes(const struct pose_camera *camera);
/* NULL where an argument makes no sense or the workspace (aligned as malloc's) is too small. */
struct pose *pose_init(const struct pose_model *model, const struct pose_camera *camera,
		       const struct pose_settings *settings, void *workspace, size_t bytes);
/* Forget the target. */
void pose_reset(struct pose *pose);
/* Takes frames in the order of their time; the answer to a frame that is not later than the last is "not found". */
void pose_update(struct pose *pose, const struct pose_frame *frame, struct pose_result *result);

#endif

// SPDX-License-Identifier: MIT
/* The camera's thread: frames to ranges to poses. Nothing it does waits for another thread. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "flight/pose/pose.h"
#include "poses.h"
#include "sabotage.h"
#include "way.h"
#include "world.h"

enum {
	LOOK_MS = 20, /* between two looks at the orders */
	OPEN_AGAIN_MS = 100,
	FIRST_FRAME_MS = 1000, /* so long a camera may take to begin; then it is opened anew */
	STACK_USED = 48 * 1024, /* more than an update of the pose needs */
};

static const struct way *const ways[] = { &way_uvcvideo, &way_driver }; /* as options.c names them */

struct camera_run {
	struct world *world;
	const struct way *way;
	struct pose *pose;
	struct orders orders, done; /* as they are now; what has been acted on */
	struct camera_seen seen;
	uint64_t frame_ns, opened_ns; /* the last frame came, or the camera was opened */
	uint64_t counted; /* lost frames told so far */
	bool open, gone, failed; /* failed: said so already */
	uint16_t ranges[DS325_PIXELS] __attribute__((aligned(64)));
	uint16_t phases[DS325_PIXELS] __attribute__((aligned(64)));
	uint16_t amplitudes[DS325_PIXELS] __attribute__((aligned(64)));
};

static void enter(struct camera_run *camera, enum camera state)
{
	if (camera->seen.camera.camera == state)
		return;
	camera->seen.camera.camera = state;
	if (state != CAMERA_STARTING)
		tell(camera->world, TOLD_CAMERA, WORD_CAMERA, state, 0);
	snapshot_write(&camera->world->seen, &camera->seen);
}

static void shut(struct camera_run *camera)
{
	if (camera->open)
		camera->way->close();
	camera->open = false;
}

static void failed(struct camera_run *camera)
{
	shut(camera);
	if (!camera->failed)
		tell(camera->world, TOLD_CAMERA, WORD_CAMERA_FAILED, 0, 0);
	camera->failed = true;
	wait_for(camera->world->wake_camera, OPEN_AGAIN_MS);
}

/* Left alone until somebody asks for another one: the real camera's register is not known. */
static int32_t exposure(const struct camera_run *camera)
{
	const int32_t asked = camera->orders.parameter[PARAMETER_EXPOSURE];

	return asked == pus_parameter(PARAMETER_EXPOSURE)->at_first &&
			       asked == camera->done.parameter[PARAMETER_EXPOSURE] ?
		       -1 :
		       asked;
}

static void begun(struct camera_run *camera)
{
	camera->gone = false;
	camera->frame_ns = 0;
	camera->opened_ns = now_ns();
}

static bool other(const struct camera_run *camera, enum parameter first, enum parameter last)
{
	for (int one = (int)first; one <= (int)last; one++)
		if (camera->orders.parameter[one] != camera->done.parameter[one])
			return true;
	return false;
}

/* Acts on orders that have changed. */
static void obey(struct camera_run *camera)
{
	if (!snapshot_read(&camera->world->orders, &camera->orders))
		return;
	if (other(camera, PARAMETER_CONFIDENCE, PARAMETER_TEMPERATURE_MC) &&
	    !camera->way->calibrate(camera->orders.parameter))
		failed(camera);
	if (other(camera, PARAMETER_RATE, PARAMETER_EXPOSURE) || camera->orders.again != camera->done.again) {
		shut(camera);
		if (camera->orders.on)
			enter(camera, CAMERA_STARTING);
	}
	if (camera->done.on && !camera->orders.on) {
		shut(camera);
		pose_reset(camera->pose);
		enter(camera, CAMERA_OFF);
		tell(camera->world, TOLD_CAMERA, WORD_CLOSED, 0, 0);
	}
	if (!camera->open && camera->orders.on) {
		become_realtime(camera->world, PRIORITY_PATIENT);
		camera->open = camera->way->open(camera->orders.parameter[PARAMETER_RATE], exposure(camera));
		become_realtime(camera->world, PRIORITY_CAMERA);
		camera->counted = 0;
		begun(camera);
		if (!camera->open)
			failed(camera);
		else
			enter(camera, CAMERA_STARTING);
	}
	camera->done = camera->orders;
}

static void put_time(uint32_t at[2], uint64_t ns)
{
	at[0] = (uint32_t)ns;
	at[1] = (uint32_t)(ns >> 32);
}

static void count(struct camera_run *camera)
{
	uint64_t lost;
	uint32_t refused;

	camera->way->count(&lost, &refused);
	camera->seen.camera.refused = refused;
	if (lost > camera->counted &&
	    !tell(camera->world, TOLD_CAMERA, WORD_LOST, (uint32_t)(lost - camera->counted), 0))
		return;
	camera->seen.camera.lost += (uint32_t)(lost - camera->counted);
	camera->counted = lost;
}

/* A reader that is too slow misses poses. */
static void hand_on(const struct world *world, const struct pose_result *result, uint64_t from_ns)
{
	struct pose_told told = { .frame_ns = from_ns, .status = result->status, .unobserved = result->unobserved };

	if (world->poses < 0)
		return;
	if (result->status != POSE_NOT_FOUND) {
		memcpy(told.position, result->position, sizeof(told.position));
		memcpy(told.velocity, result->velocity, sizeof(told.velocity));
		memcpy(told.orientation, result->orientation, sizeof(told.orientation));
	}
	if (write(world->poses, &told, sizeof(told)) < 0)
		return;
}

static void estimate(struct camera_run *camera, const struct picture *picture)
{
	struct report_hk_pose *to = &camera->seen.pose;
	const struct pose_frame image = { camera->ranges, camera->way->amplitudes ? camera->amplitudes : NULL,
					  picture->time_ns };
	const uint64_t from_ns = picture->ended_ns;
	struct pose_result result;
	uint64_t now;

	pose_update(camera->pose, &image, &result);
	hand_on(camera->world, &result, from_ns);
	now = now_ns();
	to->pose_status = result.status;
	to->pose_latency_us = now > from_ns ? (uint32_t)((now - from_ns) / 1000) : 0;
	to->poses_valid += result.status == POSE_OK;
	to->poses_degenerate += result.status == POSE_DEGENERATE;
	to->poses_not_found += result.status == POSE_NOT_FOUND;
	if (result.status == POSE_NOT_FOUND)
		return;
	if (result.status == POSE_OK)
		put_time(camera->seen.pose_at, from_ns);
	to->range_mm = (float)result.range_mm;
	to->range_sigma_mm = (float)result.range_sigma_mm;
	for (int one = 0; one < 3; one++)
		to->position_m[one] = (float)result.position[one];
	for (int one = 0; one < 4; one++)
		to->orientation[one] = (float)result.orientation[one];
	for (int row = 0, one = 0; row < 6; row++) /* the upper triangle, row by row */
		for (int column = row; column < 6; column++, one++)
			to->covariance[one] = (float)result.covariance[row * 6 + column];
}

/* The supervisor writes it: files are slow. */
static void hold_frame(struct camera_run *camera, const struct picture *picture)
{
	struct world *world = camera->world;

	if (camera->seen.camera.frames == 0 || atomic_load(&world->frame_held))
		return;
	memcpy(world->frame, picture->bytes, picture->octets);
	world->frame_octets = picture->octets;
	atomic_store(&world->frame_held, 1);
	wake(world->wake_supervisor);
}

static void on_frame(struct camera_run *camera, struct picture *picture, uint32_t *frames_taken)
{
	struct report_hk_camera *to = &camera->seen.camera;
	const uint64_t from_ns = picture->ended_ns;
	const struct ds325_planes planes = { camera->ranges, camera->phases, camera->amplitudes };
	uint64_t now;
	bool whole;

	if (SABOTAGE_LOSES && (to->frames + 1) % 100 == 0) {
		to->frames++;
		return;
	}
	/* Answers go first. LINK_MOST bounds how many there are, so that a frame is late by that much and never lost. */
	become_realtime(camera->world, PRIORITY_PATIENT);
	whole = camera->way->decode(picture, &planes);
	now = camera->frame_ns = now_ns();
	if (!whole) {
		become_realtime(camera->world, PRIORITY_CAMERA);
		return;
	}
	to->frames++;
	to->frame_latency_us = now > from_ns ? (uint32_t)((now - from_ns) / 1000) : 0;
	if (to->frame_latency_us > to->frame_latency_most_us)
		to->frame_latency_most_us = to->frame_latency_us;
	put_time(camera->seen.frame_at, from_ns);
	if (camera->orders.pose)
		estimate(camera, picture);
	become_realtime(camera->world, PRIORITY_CAMERA);
	if (camera->orders.frame != *frames_taken) {
		*frames_taken = camera->orders.frame;
		hold_frame(camera, picture);
	}
	camera->failed = false;
	if (to->camera != CAMERA_STREAMING) {
		to->recoveries += to->camera == CAMERA_STALLED || to->camera == CAMERA_GONE;
		enter(camera, CAMERA_STREAMING);
	}
	snapshot_write(&camera->world->seen, &camera->seen);
}

/* Nothing came: is that a stall, and is it time to try anew? */
static void silent(struct camera_run *camera)
{
	const uint64_t since = camera->frame_ns ? camera->frame_ns : camera->opened_ns;
	const uint64_t silence_ms = (now_ns() - since) / 1000000;

	if (camera->gone)
		return; /* the way looks for it */
	if (camera->frame_ns && silence_ms >= (uint64_t)camera->orders.parameter[PARAMETER_STALL_MS])
		enter(camera, CAMERA_STALLED);
	if (silence_ms >= FIRST_FRAME_MS) {
		enter(camera, CAMERA_STALLED);
		shut(camera);
	}
}

static void stream(struct camera_run *camera, uint32_t *frames_taken)
{
	struct picture picture;

	switch (camera->way->next(LOOK_MS, &picture)) {
	case DS325_FRAME:
		on_frame(camera, &picture, frames_taken);
		if (!camera->way->release())
			failed(camera);
		break;
	case DS325_GONE:
		camera->gone = true;
		enter(camera, CAMERA_GONE);
		break;
	case DS325_BACK:
		begun(camera);
		break;
	case DS325_TIMEOUT:
		silent(camera);
		break;
	case DS325_FAILED:
		failed(camera);
		break;
	case DS325_REFUSED:
		break;
	}
	if (camera->open)
		count(camera);
}

static struct camera_run *the_camera(void)
{
	static struct camera_run camera; /* half a megabyte */

	return &camera;
}

void camera_ready(struct world *world)
{
	struct camera_run *camera = the_camera();
	struct pose_settings settings;
	struct pose_camera lens;
	struct pose_model model;
	struct stat status;
	size_t octets;
	void *workspace;

	camera->way = ways[world->options.camera];
	camera->way->ready(world->options.device ? world->options.device : camera->way->device);
	world->poses = -1;
	if (world->options.poses) { /* for reading too: then it is open whether or not anybody reads */
		world->poses = open(world->options.poses, O_RDWR | O_NONBLOCK | O_CLOEXEC);
		if (world->poses < 0 || fstat(world->poses, &status) || !S_ISFIFO(status.st_mode))
			die(BAD_INPUT, "--poses=%s is no FIFO that can be opened: make one with mkfifo",
			    world->options.poses);
	}
	camera->world = world;
	camera->done.parameter[PARAMETER_EXPOSURE] = pus_parameter(PARAMETER_EXPOSURE)->at_first;
	pose_default_settings(&settings);
	pose_default_camera(&lens);
	pose_default_model(&model);
	octets = pose_workspace_bytes(&lens);
	workspace = malloc(octets);
	camera->pose = workspace ? pose_init(&model, &lens, &settings, workspace, octets) : NULL;
	if (!camera->pose)
		die(RUN_FAILED, "no memory for poses: %zu bytes", octets);
}

void *camera_thread(void *argument)
{
	struct world *world = argument;
	struct camera_run *camera = the_camera();
	uint32_t frames_taken = 0;
	volatile char used[STACK_USED];

	for (size_t at = 0; at < sizeof(used); at += 1024)
		used[at] = 0; /* faulted in now */
	become_realtime(world, PRIORITY_CAMERA);
	for (;;) {
		atomic_fetch_add(&world->beat[THREAD_CAMERA], 1);
		obey(camera);
		if (camera->open)
			stream(camera, &frames_taken);
		else if (!camera->orders.on)
			wait_for(world->wake_camera, 200);
	}
	return NULL;
}

// SPDX-License-Identifier: MIT
/* Modes, the camera in them, and service 8. */
#include "flight.h"

static void enter(struct flight *flight, enum mode mode)
{
	struct settings *settings = &flight->kept.settings;
	const enum mode before = settings->mode;

	if (mode == before)
		return;
	settings->mode = mode;
	flight_changed(flight);
	if (mode == MODE_SAFE || mode == MODE_STANDBY) {
		mode_finish(flight, PENDING_START, FAILURE_STOPPED);
		mode_finish(flight, PENDING_RESET, FAILURE_STOPPED);
		mode_finish(flight, PENDING_FRAME, FAILURE_STOPPED);
	}
	mode_order(flight);
	flight_event(flight, EVENT_MODE, mode, before);
}

void mode_order(struct flight *flight)
{
	const struct settings *settings = &flight->kept.settings;

	flight->orders.on = settings->mode == MODE_STREAM || settings->mode == MODE_DEGRADED;
	flight->orders.pose = settings->pose;
	for (int one = 0; one < PARAMETER_COUNT; one++)
		flight->orders.parameter[one] = settings->parameter[one];
	flight->outside.order(flight->outside.world, &flight->orders);
}

void mode_start(struct flight *flight)
{
	struct settings *settings = &flight->kept.settings;

	flight->camera = CAMERA_OFF;
	if (settings->unclean >= UNCLEAN_MOST && settings->mode != MODE_SAFE) {
		flight_event(flight, EVENT_TO_SAFE, settings->unclean, settings->mode);
		settings->mode = MODE_SAFE;
		flight_changed(flight);
	} else if (settings->mode == MODE_DEGRADED) {
		settings->mode = MODE_STREAM;
		flight_changed(flight);
	}
	mode_order(flight);
}

static void fault(struct flight *flight)
{
	const struct settings *settings = &flight->kept.settings;

	if (flight->now_ns - flight->fault_ns > QUIET_MS * 1000000ull)
		flight->faults = 0;
	flight->fault_ns = flight->now_ns;
	flight->faults++;
	if (settings->mode == MODE_STREAM)
		enter(flight, MODE_DEGRADED);
	if (flight->faults >= (uint32_t)settings->parameter[PARAMETER_FAULTS_MOST]) {
		flight_event(flight, EVENT_TO_SAFE, flight->faults, settings->mode);
		flight->faults = 0;
		enter(flight, MODE_SAFE);
	}
}

static bool on(const struct flight *flight)
{
	return flight->kept.settings.mode == MODE_STREAM || flight->kept.settings.mode == MODE_DEGRADED;
}

void mode_camera(struct flight *flight, enum camera camera)
{
	flight->camera = camera;
	if (!on(flight))
		return;
	if (camera == CAMERA_STREAMING) {
		if (flight->gone_ns)
			flight_event(flight, EVENT_CAMERA_BACK, (uint32_t)((flight->now_ns - flight->gone_ns) / 1000),
				     flight->times_gone);
		flight->gone_ns = 0;
		enter(flight, MODE_STREAM);
		mode_finish(flight, PENDING_START, FAILURE_NONE);
		mode_finish(flight, PENDING_RESET, FAILURE_NONE);
	} else if (camera == CAMERA_GONE || camera == CAMERA_STALLED) {
		if (!flight->gone_ns)
			flight->gone_ns = flight->now_ns;
		flight_event(flight, EVENT_CAMERA_GONE, camera, ++flight->times_gone);
		fault(flight);
	}
}

void mode_camera_failed(struct flight *flight)
{
	if (!on(flight))
		return;
	if (!flight->gone_ns)
		flight->gone_ns = flight->now_ns;
	flight_event(flight, EVENT_CAMERA_FAILED, flight->faults + 1, 0);
	fault(flight);
}

void mode_due(struct flight *flight)
{
	for (int one = 0; one < PENDING_COUNT; one++)
		if (flight->waiting[one].active && flight->now_ns >= flight->waiting[one].until_ns)
			mode_finish(flight, one, FAILURE_NO_CAMERA);
}

enum failure command_lidar_start(struct flight *flight, const struct request *request)
{
	const enum failure failure = mode_begin(flight, PENDING_START, request);

	if (failure != FAILURE_PENDING)
		return failure;
	enter(flight, MODE_STREAM);
	flight_step(flight, &request->telecommand, 1);
	return FAILURE_PENDING;
}

enum failure command_lidar_stop(struct flight *flight, const struct request *request)
{
	const enum failure failure = mode_begin(flight, PENDING_STOP, request);

	if (failure == FAILURE_PENDING)
		enter(flight, MODE_STANDBY);
	return failure;
}

enum failure command_take_frame(struct flight *flight, const struct request *request)
{
	const enum failure failure = mode_begin(flight, PENDING_FRAME, request);

	if (failure == FAILURE_PENDING) {
		flight->orders.frame++;
		mode_order(flight);
	}
	return failure;
}

enum failure command_reset_camera(struct flight *flight, const struct request *request)
{
	const enum failure failure = mode_begin(flight, PENDING_RESET, request);

	if (failure == FAILURE_PENDING) {
		flight->orders.again++;
		mode_order(flight);
	}
	return failure;
}

enum failure command_set_mode(struct flight *flight, const struct request *request)
{
	const enum mode from = flight->kept.settings.mode, to = (enum mode)request->argument[0];

	if (to == MODE_STREAM && from == MODE_SAFE)
		return FAILURE_BAD_MODE;
	if (to == from || (to == MODE_STREAM && from == MODE_DEGRADED))
		return FAILURE_NONE;
	if (to == MODE_STREAM)
		return command_lidar_start(flight, request);
	if (to == MODE_STANDBY && from != MODE_SAFE)
		return command_lidar_stop(flight, request);
	enter(flight, to);
	return FAILURE_NONE;
}

enum failure command_pose(struct flight *flight, const struct request *request)
{
	flight->kept.settings.pose = (uint32_t)request->argument[0];
	flight_changed(flight);
	mode_order(flight);
	return FAILURE_NONE;
}

enum failure command_safe(struct flight *flight, const struct request *request)
{
	(void)request;
	enter(flight, MODE_SAFE);
	return FAILURE_NONE;
}

enum failure command_restart(struct flight *flight, const struct request *request)
{
	(void)request;
	flight->kept.settings.orderly = true;
	flight_changed(flight);
	flight->outside.keep(flight->outside.world, &flight->kept);
	flight->outside.restart(flight->outside.world);
	return FAILURE_NONE;
}

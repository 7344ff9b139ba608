// SPDX-License-Identifier: MIT
/* From a frame's ranges to the target's pose, in the thread that got them, with the time it took. */
#include <stdlib.h>
#include <time.h>

#include "stream.h"

enum { STACK_USED = 48 * 1024 }; /* more than an update needs; faulted in beforehand, since memory is locked */

static __attribute__((noinline)) void fault_in_stack(void)
{
	volatile char used[STACK_USED];

	for (size_t at = 0; at < sizeof(used); at += 1024)
		used[at] = 0;
}

void poser_open(struct poser *poser, const struct options *options)
{
	const struct ds325_calibration *calibration = &options->calibration;
	struct pose_settings settings;
	struct pose_camera camera;
	struct pose_model model;
	size_t bytes;
	void *workspace;

	poser->pose = NULL;
	if (!options->pose)
		return;
	pose_default_settings(&settings);
	pose_default_camera(&camera);
	pose_default_model(&model);
	camera.k1 = 1e-6 * calibration->k1_ppm;
	camera.k2 = 1e-6 * calibration->k2_ppm;
	settings.least_amplitude = calibration->confidence;
	bytes = pose_workspace_bytes(&camera);
	workspace = malloc(bytes);
	if (!workspace)
		die(RUN_FAILED, "no memory for poses: %zu bytes", bytes);
	poser->pose = pose_init(&model, &camera, &settings, workspace, bytes);
	if (!poser->pose)
		die(RUN_FAILED, "--pose: no estimator has these settings");
	fault_in_stack();
}

void poser_frame(struct poser *poser, const uint16_t *ranges, uint64_t time_ns, uint64_t end_ns, struct sample *sample)
{
	const struct pose_frame frame = { .range_mm = ranges, .time_ns = time_ns };
	struct pose_result result;
	uint64_t cpu_ns, done_ns;

	if (!poser->pose)
		return;
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	pose_update(poser->pose, &frame, &result);
	done_ns = clock_ns(CLOCK_MONOTONIC);
	sample->pose_cpu_ns = (uint32_t)(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
	sample->pose_latency_ns = done_ns > end_ns ? (uint32_t)(done_ns - end_ns) : 0;
	sample->pose_status = result.status;
}

void poser_forget(struct poser *poser)
{
	if (poser->pose)
		pose_reset(poser->pose);
}

// SPDX-License-Identifier: MIT
/*
 * rtqual-chaser: the other half of a closed loop. It flies a chaser (approach.h) by the poses that the flight program
 * gives, and tells the software camera where the target then is. With --perfect there is neither: a sensor that knows
 * the truth, in time of its own, as fast as it can be computed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "approach.h"
#include "common/command_line.h"
#include "camera/software/live.h"
#include "flight/pose/pose.h"
#include "flight/program/poses.h"

enum { FIRST_POSES = 30, PATIENCE_S = 30, FRAME_NS = 16666667, AGES_MOST = 65536 };

struct options {
	const char *steered, *poses;
	uint32_t delay_ms, sensor_ms;
	uint64_t seed;
	double bandwidth, swing_deg, swing_hz;
	bool perfect;
};

static const struct option options_table[] = {
	{ "steered", "FILE", "where the camera looks for the target; made here", OPTION_TEXT(struct options, steered) },
	{ "poses", "FIFO", "what the flight program tells; made here", OPTION_TEXT(struct options, poses) },
	{ "delay-ms", "MS", "by which each pose is held back (0)", OPTION_WHOLE(struct options, delay_ms, 0, 2000) },
	{ "seed", "N", "of the first offset and of the target's swing (1)",
	  OPTION_WHOLE(struct options, seed, 0, INT64_MAX) },
	{ "bandwidth", "RAD/S", "of the lateral controller", OPTION_REAL(struct options, bandwidth, 0.1, 30) },
	{ "swing-deg", "DEG", "of the target's attitude", OPTION_REAL(struct options, swing_deg, 0, 10) },
	{ "swing-hz", "HZ", "and how often", OPTION_REAL(struct options, swing_hz, 0, 5) },
	{ "perfect", NULL, "no camera and no flight program: poses are the truth",
	  OPTION_FLAG(struct options, perfect) },
	{ "sensor-ms", "MS", "with --perfect: how old a pose is when it comes (0)",
	  OPTION_WHOLE(struct options, sensor_ms, 0, 1000) },
	{ 0 },
};

const struct program program = {
	.name = "rtqual-chaser",
	.synopsis = "rtqual-chaser --steered=FILE --poses=FIFO [--KEY=VALUE]...\n"
		    "rtqual-chaser --perfect [--KEY=VALUE]...\n",
	.notes = "docs/docking/closed-loop.md explains it.\n",
	.tables = { options_table },
};

struct run {
	struct approach approach;
	struct steered *steered;
	int poses;
	uint32_t ok, others, ages;
	uint64_t age_ns[AGES_MOST], late_most_ns;
};

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void until(uint64_t ns)
{
	const struct timespec at = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL))
		;
}

static void *steered_made(const char *path)
{
	const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	void *made;

	if (fd < 0 || ftruncate(fd, sizeof(struct steered)))
		die(BAD_INPUT, "--steered=%s cannot be made: %s", path, strerror(errno));
	made = mmap(NULL, sizeof(struct steered), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
	if (made == MAP_FAILED)
		die(RUN_FAILED, "--steered=%s: %s", path, strerror(errno));
	close(fd);
	return made;
}

static int poses_made(const char *path)
{
	struct stat status;
	int fd;

	if (mkfifo(path, 0600) && errno != EEXIST)
		die(BAD_INPUT, "--poses=%s cannot be made: %s", path, strerror(errno));
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) || !S_ISFIFO(status.st_mode))
		die(BAD_INPUT, "--poses=%s is no FIFO that can be opened", path);
	return fd;
}

static void show(struct run *run, uint64_t now_ns)
{
	struct steered *to = run->steered;
	const uint32_t turn = atomic_load(&to->turn);
	struct sight sight;

	approach_see(&run->approach, now_ns, &sight);
	atomic_store(&to->turn, turn + 1);
	to->at_ns = now_ns;
	to->position = (struct vector){ sight.position[0], sight.position[1], sight.position[2] };
	to->velocity = (struct vector){ sight.velocity[0], sight.velocity[1], sight.velocity[2] };
	to->attitude = (struct quaternion){ cos(sight.angle / 2), 0, sin(sight.angle / 2), 0 };
	atomic_store(&to->turn, turn + 2);
}

static bool is_pose(const struct pose_told *told)
{
	double sum = 0;

	for (int axis = 0; axis < 3; axis++)
		sum += told->position[axis] + told->velocity[axis];
	return told->status != POSE_NOT_FOUND && isfinite(sum);
}

/* Poses that a frame shows only in part are poses too: the filter bridges the rest. */
static void take(struct run *run, uint64_t now_ns)
{
	struct pose_told told;

	while (read(run->poses, &told, sizeof(told)) == sizeof(told)) {
		struct estimate pose = { .frame_ns = told.frame_ns };

		if (told.status == POSE_OK && is_pose(&told))
			run->ok++;
		else
			run->others++;
		if (!is_pose(&told))
			continue;
		memcpy(pose.position, told.position, sizeof(pose.position));
		memcpy(pose.velocity, told.velocity, sizeof(pose.velocity));
		approach_pose(&run->approach, &pose, now_ns);
	}
}

static void control(struct run *run, uint64_t now_ns)
{
	if (approach_control(&run->approach, now_ns) && run->approach.began_ns && run->ages < AGES_MOST)
		run->age_ns[run->ages++] = run->approach.pose_age_ns;
}

static void fly(struct run *run, const struct options *options)
{
	const uint64_t period_ns = run->approach.settings.period_ns;
	uint64_t due_ns = clock_ns(), latest_ns = due_ns + PATIENCE_S * 1000000000ull;

	run->poses = poses_made(options->poses);
	run->steered = steered_made(options->steered);
	show(run, due_ns);
	puts("ready");
	fflush(stdout);
	while (!run->approach.docked) {
		uint64_t now_ns;

		due_ns += period_ns;
		until(due_ns);
		now_ns = clock_ns();
		take(run, now_ns);
		if (run->approach.began_ns && now_ns - due_ns > run->late_most_ns)
			run->late_most_ns = now_ns - due_ns;
		if (!run->approach.began_ns && run->ok >= FIRST_POSES) {
			approach_begin(&run->approach, now_ns);
			run->ok = run->others = 0;
			latest_ns = now_ns + PATIENCE_S * 1000000000ull;
		}
		control(run, now_ns);
		show(run, now_ns);
		if (now_ns > latest_ns)
			die(RUN_FAILED, "no contact in %d s: %u poses were valid, %u were not", PATIENCE_S, run->ok,
			    run->others);
		due_ns += (now_ns - due_ns) / period_ns * period_ns; /* periods that have passed are not made up for */
	}
}

static void fly_perfectly(struct run *run, const struct options *options)
{
	const uint64_t period_ns = run->approach.settings.period_ns, old_ns = options->sensor_ms * 1000000ull;
	uint64_t frame_ns = 1000000000, now_ns = frame_ns;

	approach_begin(&run->approach, now_ns);
	for (; !run->approach.docked; now_ns += period_ns) {
		if (now_ns > PATIENCE_S * 1000000000ull)
			die(RUN_FAILED, "no contact in %d s", PATIENCE_S);
		for (; frame_ns <= now_ns; frame_ns += FRAME_NS) {
			struct estimate pose = { .frame_ns = frame_ns };
			struct sight sight;

			approach_see(&run->approach, frame_ns, &sight);
			memcpy(pose.position, sight.position, sizeof(pose.position));
			memcpy(pose.velocity, sight.velocity, sizeof(pose.velocity));
			approach_pose(&run->approach, &pose, frame_ns + old_ns);
			run->ok++;
		}
		control(run, now_ns);
	}
}

static void report(const struct run *run)
{
	const struct approach *a = &run->approach;

	printf("contact_s=%.6f\nlateral_um=%.1f\nlast_rms_um=%.1f\nclosing_um_s=%.1f\ndrift_um_s=%.1f\nangle_urad=%."
	       "1f\nthrust_ms=%.0f\n",
	       a->contact_s, a->lateral_m * 1e6, approach_last_rms(a) * 1e6, a->closing * 1e6, a->drift * 1e6,
	       a->angle_rad * 1e6, a->thrust_s * 1e3);
	printf("poses_valid=%u\nposes_other=%u\ncontrol_late_most_ns=%llu\npose_age_ns=", run->ok, run->others,
	       (unsigned long long)run->late_most_ns);
	for (uint32_t one = 0; one < run->ages; one++)
		printf("%s%llu", one ? " " : "", (unsigned long long)run->age_ns[one]);
	puts("\nended=docked");
}

int main(int argc, char **argv)
{
	static struct options options = { .seed = 1 };
	static struct run run;
	struct approach_settings settings;

	approach_default(&settings);
	options.bandwidth = settings.bandwidth;
	options.swing_deg = settings.swing_rad * 180 / M_PI;
	options.swing_hz = settings.swing_hz;
	command_line_read(argc, argv, &options);
	if (options.perfect ? options.steered || options.poses : !options.steered || !options.poses)
		die(BAD_INPUT, "--steered and --poses are needed, or --perfect in place of both");
	settings.bandwidth = options.bandwidth;
	settings.swing_rad = options.swing_deg * M_PI / 180;
	settings.swing_hz = options.swing_hz;
	settings.delay_ns = options.delay_ms * 1000000ull;
	settings.seed = options.seed;
	approach_place(&run.approach, &settings);
	if (options.perfect)
		fly_perfectly(&run, &options);
	else
		fly(&run, &options);
	report(&run);
	return 0;
}

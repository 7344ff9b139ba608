// SPDX-License-Identifier: MIT
/* Turns frames from a video node into ranges, and measures what that takes. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "stream.h"

struct v4l2_run {
	const struct options *options;
	struct ds325_capture *capture;
	struct results *results;
	struct ds325_decoder decoder;
	struct ds325_baseline baseline;
	struct checker checker;
	struct poser poser;
	struct feed feed;
	uint64_t first_ns, back_ns;
	uint8_t command[DS325_CONTROL_BYTES];
	uint16_t ranges[DS325_PIXELS] __attribute__((aligned(64)));
};

static void baseline_waste(struct v4l2_run *run, const struct ds325_frame *frame)
{
	const struct timespec pause = { .tv_nsec = DS325_BASELINE_SLEEP_NS };
	struct results *results = run->results;

	if (run->options->switches & DS325_BASELINE_STAMP) {
		int64_t invented_ns = (int64_t)results->frames * DS325_BASELINE_STAMP_US * 1000;
		int64_t error_ns = invented_ns - (int64_t)(frame->time_ns - run->first_ns);

		if (llabs(error_ns) > llabs(results->stamp_error_ns))
			results->stamp_error_ns = error_ns;
	}
	if (run->options->switches & DS325_BASELINE_SLEEP)
		nanosleep(&pause, NULL);
}

/* Sets the camera's own setting again, read once: the cost of the command without its effect. */
static void baseline_command(struct v4l2_run *run)
{
	struct results *results = run->results;

	if (!(run->options->switches & DS325_BASELINE_COMMAND) || results->commands >= DS325_BASELINE_COMMANDS)
		return;
	if (!ds325_capture_command(run->capture, results->commands == 0, run->command))
		results->commands_failed++;
	results->commands++;
}

/* Returns where the ranges are; NULL if there are none. */
static const uint16_t *decode(struct v4l2_run *run, const struct ds325_frame *frame)
{
	if (run->options->decoding == DECODE_KERNEL)
		return feed_decode(&run->feed, frame);
	if (run->options->decoding == DECODE_BASELINE)
		run->results->copies += ds325_baseline_frame(&run->baseline, frame->raw, run->ranges);
	else if (run->options->decoding == DECODE_LIBRARY)
		ds325_decode(run->options->decoder, &run->decoder, frame->raw, DS325_FRAME_BYTES, run->ranges);
	__asm__ volatile("" : : "r"(run->ranges) : "memory"); /* somebody reads them */
	return run->ranges;
}

static bool on_frame(struct v4l2_run *run, const struct ds325_frame *frame, uint64_t *cpu_ns)
{
	struct results *results = run->results;
	struct sample *sample = &results->samples[results->frames];
	uint64_t from_ns = frame->stamped_ns ? frame->stamped_ns : frame->time_ns, done_ns, cpu_now_ns;
	const uint16_t *ranges = decode(run, frame);

	if (!ranges)
		return false;
	done_ns = clock_ns(CLOCK_MONOTONIC);
	cpu_now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	sample->number = frame->stamped_ns ? frame->stamped_number : frame->number;
	sample->latency_ns = done_ns > from_ns ? (uint32_t)(done_ns - from_ns) : 0;
	sample->cpu_ns = (uint32_t)(cpu_now_ns - *cpu_ns);
	poser_frame(&run->poser, ranges, frame->time_ns, from_ns, sample);
	*cpu_ns = run->poser.pose ? clock_ns(CLOCK_THREAD_CPUTIME_ID) : cpu_now_ns;
	if (!results->frames) {
		run->first_ns = frame->time_ns;
		results->stamped = frame->stamped_ns;
	}
	if (run->back_ns) {
		if (done_ns - run->back_ns > results->replug_ns)
			results->replug_ns = done_ns - run->back_ns;
		run->back_ns = 0;
	}
	if (run->checker.count) {
		int64_t number = frame->stamped_ns ? (int64_t)frame->stamped_number : -1;
		bool good = run->feed.fd < 0 ? checker_frame(&run->checker, frame->raw, number) :
					       checker_ranges(&run->checker, ranges);

		results->matched += good;
		results->wrong += !good;
		*cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID); /* checking is not part of the frame's cost */
	}
	results->frames++;
	return true;
}

static void loop(struct v4l2_run *run)
{
	const struct options *options = run->options;
	bool baseline = options->decoding == DECODE_BASELINE;
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct ds325_frame frame;

	while (run->results->frames < options->frames) {
		bool away = run->capture->fd < 0;

		if (baseline && !away)
			baseline_command(run);
		switch (ds325_capture_next(run->capture, away ? options->replug_ms : options->timeout_ms, &frame)) {
		case DS325_FRAME:
			if (!on_frame(run, &frame, &cpu_ns)) {
				run->results->ended = "ds325-dmabuf decoded no frame";
				return;
			}
			if (!ds325_capture_release(run->capture, &frame)) {
				run->results->ended = run->capture->why;
				return;
			}
			if (baseline)
				baseline_waste(run, &frame);
			break;
		case DS325_BACK:
			run->back_ns = clock_ns(CLOCK_MONOTONIC);
			feed_attach(&run->feed, run->capture); /* a failure shows at the next frame */
			break;
		case DS325_TIMEOUT:
			run->results->ended = away ? "the camera did not come back" : "no frame came in time";
			return;
		case DS325_FAILED:
			run->results->ended = run->capture->why;
			return;
		case DS325_GONE: /* buffers are not freed while they are attached */
			feed_attach(&run->feed, run->capture);
			break;
		case DS325_REFUSED:
			break;
		}
	}
}

void stream_v4l2(const struct options *options, struct ds325_capture *capture, struct results *results)
{
	static struct v4l2_run run; /* half a megabyte */
	struct meter meter;
	const char *wrong = ds325_decoder_init(&run.decoder, &options->calibration);

	if (wrong)
		die(BAD_INPUT, "%s", wrong);
	run.options = options;
	run.capture = capture;
	run.results = results;
	run.baseline.switches = options->switches;
	run.baseline.method = options->decoder;
	run.baseline.decoder = &run.decoder;
	checker_open(&run.checker, options, &run.decoder);
	poser_open(&run.poser, options);
	feed_open(&run.feed, options);
	meter_open(&meter);
	become_realtime(options->priority);
	if (!ds325_capture_open(capture))
		die(RUN_FAILED, "%s", capture->why);
	if (!feed_attach(&run.feed, capture))
		die(RUN_FAILED, "%s: its buffers: %s", options->node, strerror(errno));
	meter_start(&meter);
	results->started_ns = clock_ns(CLOCK_MONOTONIC);
	loop(&run);
	results->ended_ns = clock_ns(CLOCK_MONOTONIC);
	meter_stop(&meter, results);
	feed_close(&run.feed);
	ds325_capture_close(capture);
}

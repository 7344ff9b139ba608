/* SPDX-License-Identifier: MIT */
/* What the files of ds325-stream share. */
#ifndef DS325_STREAM_H
#define DS325_STREAM_H

#include <stdio.h>

#include "baseline.h"
#include "common/command_line.h"
#include "capture.h"
#include "ds325/decode.h"
#include "pose/pose.h"
#include "ds325/ring.h"

enum decoding { DECODE_NONE, DECODE_LIBRARY, DECODE_BASELINE, DECODE_KERNEL };

struct options {
	const char *device, *node, *check, *output, *decode, *method;
	bool ring;
	enum ds325_io io;
	enum decoding decoding;
	const struct ds325_method *decoder;
	struct ds325_calibration calibration;
	unsigned int switches;
	uint32_t frames, buffers, rate;
	int priority, timeout_ms, replug_ms;
	bool newest, pose;
	int method_number, way_number; /* as listed in --help */
};

void read_options(struct options *options, int argc, char **argv);

/* The figures of a frame, kept until the end. */
struct sample {
	uint32_t number; /* the camera's number by its stamp, else the driver's or the ring's */
	uint32_t latency_ns; /* frame's end to ranges */
	uint64_t end_ns; /* for rings: the frame's end, from which latencies count (CLOCK_MONOTONIC) */
	uint32_t cpu_ns; /* this thread's, from the wake-up to the ranges and the buffer given back */
	/* With --pose: frame's end to pose, or to "not found"; this thread's time for that alone; enum pose_status. */
	uint32_t pose_latency_ns, pose_cpu_ns, pose_status;
};

struct results {
	struct sample *samples;
	uint32_t frames;
	bool stamped; /* latencies count from the emulator's stamp, else from the driver's */
	uint64_t started_ns, ended_ns, cpu_ns, faults, user_instructions, all_instructions;
	uint64_t matched, wrong; /* frames of --check; the last eight pixels are left out, where the stamp lies */
	uint64_t timeouts, commands, commands_failed, copies;
	uint64_t replug_ns; /* longest from a camera's return to its first good frame */
	int64_t stamp_error_ns; /* largest, of the baseline's invented times */
	const char *ended; /* why the run ended, if before all frames */
};

/* --- meter.c: CPU time, instructions, page faults --- */
uint64_t clock_ns(int clock);
void become_realtime(int priority);
struct meter {
	int user, all; /* perf events, or -1 */
	uint64_t cpu_ns, faults;
};
void meter_open(struct meter *meter);
void meter_start(struct meter *meter);
void meter_stop(struct meter *meter, struct results *results);

/* --- check.c: are these the frames that were sent? --- */
struct checker {
	const uint8_t *frames;
	uint16_t *ranges; /* of each, for rings */
	size_t count, next;
};
void checker_open(struct checker *checker, const struct options *options, const struct ds325_decoder *decoder);
/* Is it the next of the file's frames, or a later one? `number` is the camera's, or negative if not known. */
bool checker_frame(struct checker *checker, const uint8_t *raw, int64_t number);
bool checker_ranges(struct checker *checker, const uint16_t *ranges);

/* --- stream_pose.c: from ranges to poses; nothing without --pose --- */
struct poser {
	struct pose *pose;
};
void poser_open(struct poser *poser, const struct options *options);
/* `ranges` along each pixel's ray; `time_ns` is the sensor's, `end_ns` the frame's end. Fills the sample's pose_*. */
void poser_frame(struct poser *poser, const uint16_t *ranges, uint64_t time_ns, uint64_t end_ns, struct sample *sample);
/* The last ranges were a mixture of frames: forgets what was made of them. */
void poser_forget(struct poser *poser);

/* --- stream_dmabuf.c: a video node's buffers, decoded by the kernel; nothing without --decode=kernel --- */
struct feed {
	int fd;
	struct ds325_ring ring;
};
void feed_open(struct feed *feed, const struct options *options);
/* Attaches the buffers that the camera has now; called after it came and after it went. False with errno. */
bool feed_attach(struct feed *feed, const struct ds325_capture *capture);
/* The frame's ranges, in the ring; NULL: the module refused it. */
const uint16_t *feed_decode(struct feed *feed, const struct ds325_frame *frame);
void feed_close(struct feed *feed);

/* --- the two sources of frames; each returns when all frames have come, or none came in time --- */
void stream_v4l2(const struct options *options, struct ds325_capture *capture, struct results *results);
void stream_ring(const struct options *options, struct results *results, FILE *out);

void report(const struct options *options, const struct results *results, const struct ds325_capture *capture,
	    FILE *out);

#endif

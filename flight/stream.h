/* SPDX-License-Identifier: MIT */
/* What the files of ds325-stream share. */
#ifndef DS325_STREAM_H
#define DS325_STREAM_H

#include <stdio.h>

#include "baseline.h"
#include "capture.h"
#include "decode.h"

enum { BAD_INPUT = 2, RUN_FAILED = 3 };

void __attribute__((noreturn, format(printf, 2, 3))) die(int code, const char *format, ...);

enum decoding { DECODE_NONE, DECODE_LIBRARY, DECODE_BASELINE };

struct options {
	const char *device, *check, *output, *decode, *method;
	bool ring;
	enum ds325_io io;
	enum decoding decoding;
	const struct ds325_method *decoder;
	struct ds325_calibration calibration;
	unsigned int switches;
	uint32_t frames, buffers, rate;
	int priority, timeout_ms, replug_ms;
	bool newest;
};

void read_options(struct options *options, int argc, char **argv);

/* What one frame took, kept until the end. */
struct sample {
	uint32_t number; /* the camera's by its stamp, else the driver's or the ring's */
	uint32_t latency_ns; /* frame's end to ranges */
	uint32_t cpu_ns; /* this thread's, from the wake-up to the ranges and the buffer given back */
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
	const char *ended; /* why, if not with all frames */
};

/* --- meter.c: what it costs --- */
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
/* Is it the next of the file's frames, or one after it? `number` is the camera's, or negative if not known. */
bool checker_frame(struct checker *checker, const uint8_t *raw, int64_t number);
bool checker_ranges(struct checker *checker, const uint16_t *ranges);

/* --- the two sources of frames; each returns when all came or none came in time --- */
void stream_v4l2(const struct options *options, struct ds325_capture *capture, struct results *results);
void stream_ring(const struct options *options, struct results *results, FILE *out);

void report(const struct options *options, const struct results *results, const struct ds325_capture *capture, FILE *out);

#endif

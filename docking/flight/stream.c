// SPDX-License-Identifier: MIT
/* ds325-stream: takes frames in a chosen way, decodes them in a chosen way, and reports what that cost. */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "stream.h"

static void report_capture(const struct ds325_capture *capture, FILE *out)
{
	fprintf(out,
		"lost=%" PRIu64 "\nlost_unseen_by_driver=%" PRIu64 "\nlost_estimated=%" PRIu64 "\nrefused=%" PRIu64
		"\ndisconnections=%u\n",
		capture->lost, capture->lost_unseen, capture->lost_estimated, capture->refused,
		capture->disconnections);
	for (uint32_t one = 0; one < capture->loss_count && one < DS325_LOSSES_MOST; one++) {
		const struct ds325_loss *loss = &capture->losses[one];

		if (loss->estimated)
			fprintf(out, "gap_estimated=%u %u\n", loss->first, loss->count);
		else if (loss->count)
			fprintf(out, "gap=%u %u %s\n", loss->first, loss->count, loss->by_stamp ? "camera" : "driver");
		else
			fprintf(out, "refused_frame=%u %u\n", loss->first, loss->bytes);
	}
	if (capture->loss_count > DS325_LOSSES_MOST)
		fprintf(out, "losses_not_listed=%u\n", capture->loss_count - DS325_LOSSES_MOST);
}

static void list(FILE *out, const char *name, const struct results *results, size_t offset)
{
	fprintf(out, "%s=", name);
	for (uint32_t one = 0; one < results->frames; one++) {
		uint32_t value;

		memcpy(&value, (const char *)&results->samples[one] + offset, sizeof(value));
		fprintf(out, one ? " %u" : "%u", value);
	}
	fputc('\n', out);
}

static void report_poses(const struct results *results, FILE *out)
{
	static const char *const names[] = { "poses_not_found", "poses_degenerate",
					     "poses_valid" }; /* enum pose_status */
	uint32_t counts[3] = { 0 };

	for (uint32_t one = 0; one < results->frames; one++)
		counts[results->samples[one].pose_status]++;
	for (int status = 0; status < 3; status++)
		fprintf(out, "%s=%u\n", names[status], counts[status]);
	list(out, "pose_latency_ns", results, offsetof(struct sample, pose_latency_ns));
	list(out, "pose_cpu_ns", results, offsetof(struct sample, pose_cpu_ns));
}

void report(const struct options *options, const struct results *results, const struct ds325_capture *capture,
	    FILE *out)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	fprintf(out, "version=%s\ndevice=%s\nmethod=%s\ndecode=%s\n", VERSION, options->device, options->method,
		options->ring ? "none" : options->decode);
	if (options->decoding == DECODE_BASELINE)
		fprintf(out,
			"baseline_switches=%u\ncommands=%" PRIu64 "\ncommands_failed=%" PRIu64
			"\nstamp_error_max_ns=%" PRId64 "\nrange_copies=%" PRIu64 "\n",
			options->switches, results->commands, results->commands_failed, results->stamp_error_ns,
			results->copies);
	fprintf(out, "frames=%u\nframes_asked=%u\nelapsed_ns=%" PRIu64 "\ncpu_ns=%" PRIu64 "\n", results->frames,
		options->frames, results->ended_ns - results->started_ns, results->cpu_ns);
	if (results->user_instructions)
		fprintf(out, "instructions_user=%" PRIu64 "\n", results->user_instructions);
	if (results->all_instructions)
		fprintf(out, "instructions_all=%" PRIu64 "\n", results->all_instructions);
	fprintf(out, "page_faults=%" PRIu64 "\nmemory_kib=%ld\npriority=%d\n", results->faults, usage.ru_maxrss,
		options->priority);
	if (!options->ring) {
		report_capture(capture, out);
		fprintf(out, "replug_to_frame_ns=%" PRIu64 "\nlatency_from=%s\n", results->replug_ns,
			results->stamped          ? "stamp" :
			options->io == DS325_READ ? "read" :
						    "driver");
	} else {
		fputs("latency_from=ring\n", out);
	}
	if (options->check)
		fprintf(out, "check_good=%" PRIu64 "\ncheck_wrong=%" PRIu64 "\n", results->matched, results->wrong);
	list(out, "latency_ns", results, offsetof(struct sample, latency_ns));
	list(out, "frame_cpu_ns", results, offsetof(struct sample, cpu_ns));
	if (options->pose)
		report_poses(results, out);
	if (options->ring) {
		list(out, "frame_number", results, offsetof(struct sample, number));
		fputs("frame_end_ns=", out);
		for (uint32_t one = 0; one < results->frames; one++)
			fprintf(out, one ? " %" PRIu64 : "%" PRIu64, results->samples[one].end_ns);
		fputc('\n', out);
	}
	fprintf(out, "ended=%s\n", results->ended ? results->ended : "all frames");
}

int main(int argc, char **argv)
{
	static struct ds325_capture capture;
	struct options options;
	struct results results = { 0 };
	FILE *out = stdout;

	read_options(&options, argc, argv);
	if (options.output) {
		out = fopen(options.output, "we");
		if (!out)
			die(BAD_INPUT, "--output=%s: %s", options.output, strerror(errno));
	}
	results.samples = calloc(options.frames, sizeof(*results.samples));
	if (!results.samples)
		die(RUN_FAILED, "no memory for %u samples", options.frames);
	memset(results.samples, 1,
	       options.frames * sizeof(*results.samples)); /* faulted in before, not while, it streams */
	if (options.ring) {
		stream_ring(&options, &results, out);
	} else {
		snprintf(capture.device, sizeof(capture.device), "%s", options.device);
		capture.io = options.io;
		capture.buffers_wanted = options.buffers;
		capture.rate = options.rate;
		stream_v4l2(&options, &capture, &results);
	}
	/* Lowers the priority: a long report must not hold up the camera and its driver, which are stopping now. */
	become_realtime(options.priority ? 1 : 0);
	report(&options, &results, &capture, out);
	if (fflush(out) || ferror(out) || (out != stdout && fclose(out)))
		die(RUN_FAILED, "writing the results: %s", strerror(errno));
	if (results.ended)
		die(RUN_FAILED, "%s after %u of %u frames", results.ended, results.frames, options.frames);
	return 0;
}

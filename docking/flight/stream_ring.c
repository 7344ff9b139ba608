// SPDX-License-Identifier: MIT
/* Takes ranges from a ring that a kernel module fills. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ds325/ring.h"
#include "stream.h"

struct ring_run {
	const struct options *options;
	struct results *results;
	struct ds325_ring ring;
	struct ds325_decoder decoder;
	struct checker checker;
	struct poser poser;
	uint64_t torn, lost, decode_ns, decode_most_ns;
};

static void on_ranges(struct ring_run *run, const struct ds325_ring_frame *frame, uint64_t *cpu_ns)
{
	struct results *results = run->results;
	struct sample *sample = &results->samples[results->frames];
	uint64_t done_ns = clock_ns(CLOCK_MONOTONIC), cpu_now_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	uint64_t publishing_ns = frame->published_ns - frame->frame_end_ns;
	bool good;

	poser_frame(&run->poser, frame->ranges, frame->frame_end_ns, frame->frame_end_ns, sample);
	good = !run->checker.count || checker_ranges(&run->checker, frame->ranges);
	if (!ds325_ring_kept(&run->ring, frame)) { /* the writer had overwritten part of the frame */
		poser_forget(&run->poser);
		run->torn++;
		return;
	}
	sample->number = frame->sequence;
	sample->end_ns = frame->frame_end_ns;
	sample->latency_ns = done_ns > frame->frame_end_ns ? (uint32_t)(done_ns - frame->frame_end_ns) : 0;
	sample->cpu_ns = (uint32_t)(cpu_now_ns - *cpu_ns);
	*cpu_ns = cpu_now_ns;
	run->decode_ns += publishing_ns;
	if (publishing_ns > run->decode_most_ns)
		run->decode_most_ns = publishing_ns;
	run->lost += frame->lost_before;
	results->matched += run->checker.count && good;
	results->wrong += !good;
	results->frames++;
	if (run->checker.count || run->poser.pose)
		*cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void loop(struct ring_run *run)
{
	const struct options *options = run->options;
	const enum ds325_ring_order order = options->newest ? DS325_RING_NEWEST : DS325_RING_NEXT;
	uint64_t cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct ds325_ring_frame frame;

	while (run->results->frames < options->frames) {
		bool away = __atomic_load_n(&run->ring.header->state, __ATOMIC_RELAXED) == DS325_RING_NO_CAMERA;
		int ready;

		if (ds325_ring_take(&run->ring, order, &frame)) {
			on_ranges(run, &frame, &cpu_ns);
			continue;
		}
		ready = ds325_ring_wait(&run->ring, away ? options->replug_ms : options->timeout_ms);
		if (ready < 0 && errno != EINTR) {
			run->results->ended = "the ring cannot be waited on";
			return;
		}
		if (!ready) {
			run->results->ended = away ? "no camera came" : "no frame came in time";
			return;
		}
	}
}

void stream_ring(const struct options *options, struct results *results, FILE *out)
{
	static struct ring_run run;
	struct meter meter;
	const char *wrong = ds325_decoder_init(&run.decoder, &options->calibration);
	int fd;

	if (wrong)
		die(BAD_INPUT, "%s", wrong);
	run.options = options;
	run.results = results;
	checker_open(&run.checker, options, &run.decoder);
	poser_open(&run.poser, options);
	meter_open(&meter);
	become_realtime(options->priority);
	fd = open(options->device, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* opening the node makes the camera stream */
	if (fd < 0)
		die(RUN_FAILED, "%s: opening it: %s", options->device, strerror(errno));
	wrong = ds325_ring_map(&run.ring, fd);
	if (wrong)
		die(RUN_FAILED, "%s: %s", options->device, wrong);
	if (options->pose && run.ring.header->format != DS325_RING_RANGE_U16)
		die(RUN_FAILED, "%s: --pose needs ranges along each pixel's ray: load ds325-ring without depth=1",
		    options->device);
	meter_start(&meter);
	results->started_ns = clock_ns(CLOCK_MONOTONIC);
	loop(&run);
	results->ended_ns = clock_ns(CLOCK_MONOTONIC);
	meter_stop(&meter, results);
	fprintf(out, "ring_missed=%" PRIu64 "\nring_torn=%" PRIu64 "\nring_lost_before=%" PRIu64 "\n", run.ring.missed,
		run.torn, run.lost);
	fprintf(out,
		"ring_published=%" PRIu64 "\nring_lost=%" PRIu64 "\nring_refused=%" PRIu64 "\nring_connections=%u\n",
		run.ring.header->published, run.ring.header->lost, run.ring.header->refused,
		run.ring.header->connections);
	if (results->frames)
		fprintf(out, "publish_mean_ns=%" PRIu64 "\npublish_max_ns=%" PRIu64 "\n",
			run.decode_ns / results->frames, run.decode_most_ns);
	ds325_ring_unmap(&run.ring);
	close(fd);
}

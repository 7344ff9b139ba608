// SPDX-License-Identifier: MIT
/*
 * The control loop while other CPUs stream memory, at stepped shares of their time. On a real board the loop's own
 * accesses then wait for the bus; a virtual board that counts instructions has no bus, and shows nothing of this.
 */
#include "battery/loop.h"

enum { CPUS_TRIED = 64, BLOCK_WORDS = 16 * 1024 };

struct stream {
	struct run *run;
	uint32_t *memory;
	size_t words;
	unsigned int percent;
	uint32_t *ended;
	uint64_t bytes;
	uint64_t from_ns, to_ns;
};

/* Read and write back a block; words of other blocks lie in between before it comes again. */
static void stream_block(struct stream *stream, size_t *at)
{
	uint32_t *word = stream->memory + *at;

	for (uint32_t i = 0; i < BLOCK_WORDS; i++)
		word[i] = word[i] * 3 + 1;
	*at += BLOCK_WORDS;
	if (*at + BLOCK_WORDS > stream->words)
		*at = 0;
	stream->bytes += 2 * sizeof(uint32_t) * BLOCK_WORDS;
}

static enum port_status play_stream(void *state)
{
	struct stream *stream = state;
	struct port_timer timer;
	size_t at = 0;

	TRY(port_timer_open(&timer, PORT_PATH_SLEEP));
	stream->from_ns = port_now_ns();
	while (!shared_get32(stream->ended)) {
		uint64_t from_ns = port_now_ns(), to_ns;

		stream_block(stream, &at);
		to_ns = port_now_ns();
		TRY(port_timer_wait(&timer,
				    to_ns + port_divide((to_ns - from_ns) * (100 - stream->percent), stream->percent)));
	}
	stream->to_ns = port_now_ns();
	port_timer_close(&timer);
	return PORT_OK;
}

static unsigned int find_cpus(struct run *run, struct role *roles, struct stream *streams)
{
	unsigned int found = 0;

	for (int cpu = 0; cpu < CPUS_TRIED && found < LOOP_OTHERS_MOST; cpu++) {
		if (cpu == run->options->cpu || !team_has_cpu(run, cpu))
			continue;
		roles[found] = (struct role){ "stream", PORT_LOW, cpu, play_stream, &streams[found] };
		found++;
	}
	return found;
}

static bool open_streams(struct run *run, struct stream *streams, unsigned int count, unsigned int percent,
			 uint32_t *ended)
{
	size_t words = MEMORY_STREAM_WORDS / count;

	for (unsigned int i = 0; i < count; i++) {
		streams[i] = (struct stream){ .run = run, .words = words, .percent = percent, .ended = ended };
		streams[i].memory = run_memory(run, words * sizeof(uint32_t));
		if (!streams[i].memory)
			return false;
	}
	return true;
}

static void note_bandwidth(struct run *run, const struct stream *streams, unsigned int count)
{
	uint64_t mb_per_s = 0;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t time_us = port_divide(streams[i].to_ns - streams[i].from_ns, 1000);

		if (time_us && time_us <= UINT32_MAX)
			mb_per_s += port_divide(streams[i].bytes, (uint32_t)time_us);
	}
	run_fact(run, "streaming CPUs", "1", count);
	run_fact(run, "streamed", "MB/s", mb_per_s);
}

static enum port_status measure(struct run *run, unsigned int percent)
{
	struct stream *streams = run_memory(run, LOOP_OTHERS_MOST * sizeof(*streams));
	uint32_t *ended = run_memory(run, sizeof(*ended));
	struct role roles[LOOP_OTHERS_MOST];
	enum port_status status;
	unsigned int count;

	if (!streams || !ended)
		return PORT_FULL;
	*ended = 0;
	count = find_cpus(run, roles, streams);
	if (!count) {
		run->complaint = "there is no other CPU to stream on";
		return PORT_NOT_OFFERED;
	}
	if (!percent)
		count = 0;
	else if (!open_streams(run, streams, count, percent, ended))
		return PORT_FULL;
	status = loop_measure(run, PORT_PATH_SLEEP, MEMORY_STAGE_WORDS, roles, count, ended);
	note_bandwidth(run, streams, count);
	return status;
}

static enum port_status measure_0(struct run *run)
{
	return measure(run, 0);
}

static enum port_status measure_25(struct run *run)
{
	return measure(run, 25);
}

static enum port_status measure_50(struct run *run)
{
	return measure(run, 50);
}

/* Not 100: Linux keeps 5 % of each CPU from real-time threads. */
static enum port_status measure_90(struct run *run)
{
	return measure(run, 90);
}

const struct benchmark memory_benchmarks[] = {
	{ "memory 0 %", measure_0 },
	{ "memory 25 %", measure_25 },
	{ "memory 50 %", measure_50 },
	{ "memory 90 %", measure_90 },
	{ 0 },
};

// SPDX-License-Identifier: MIT
/*
 * Runs a family of benchmarks and writes their results, a line at a time. Every line ends with '#' and the CRC-32 (IEEE
 * 802.3) of everything before the '#', earlier lines included, so that a reader can name the first damaged line.
 */
#include "battery.h"
#include "common/crc32.h"

enum { VALUES_A_LINE = 16, PHASE_NS = 1 << 20 /* roughly a millisecond */ };

/* Text that would make a line too long is cut: names are short, and the beginning of a message names the failure. */
static void put(struct text *text, const char *word)
{
	for (; *word && text->length < LINE_MOST - 12; word++)
		text->line[text->length++] = *word == '\n' || *word == '#' ? ' ' : *word;
}

static void put_number(struct text *text, uint64_t value)
{
	char digits[21];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		uint64_t rest = value;
		unsigned int digit;

		value = port_divide(rest, 10);
		digit = (unsigned int)(rest - value * 10);
		digits[--at] = (char)('0' + digit);
	} while (value);
	put(text, " ");
	put(text, digits + at);
}

static void end_line(struct text *text)
{
	static const char hex[] = "0123456789abcdef";
	uint32_t crc = crc32_add(text->crc, text->line, text->length);

	text->crc = crc;
	text->line[text->length++] = '#';
	for (int shift = 28; shift >= 0; shift -= 4)
		text->line[text->length++] = hex[crc >> shift & 15];
	text->line[text->length++] = '\n';
	if (text->status == PORT_OK)
		text->status = port_write(text->line, text->length);
	text->length = 0;
}

static void write_named(struct text *text, const char *kind, const char *name)
{
	put(text, kind);
	put(text, " \"");
	put(text, name);
	put(text, "\"");
}

static void write_fact(struct text *text, const char *name, const char *unit, uint64_t value)
{
	write_named(text, "fact", name);
	put(text, " ");
	put(text, unit);
	put_number(text, value);
	end_line(text);
}

static void write_series(struct text *text, const struct series *series)
{
	write_named(text, "series", series->name);
	put(text, " ");
	put(text, series->unit);
	put_number(text, series->count);
	put_number(text, series->overflows);
	put_number(text, series->lost);
	end_line(text);
	for (uint32_t i = 0; i < series->count; i++) {
		if (i % VALUES_A_LINE == 0)
			put(text, "v");
		put_number(text, series->values[i]);
		if (i % VALUES_A_LINE == VALUES_A_LINE - 1 || i + 1 == series->count)
			end_line(text);
	}
}

static const char *status_word(enum port_status status)
{
	switch (status) {
	case PORT_OK:
		return "ok";
	case PORT_NOT_OFFERED:
		return "not-offered";
	case PORT_DENIED:
		return "denied";
	case PORT_FULL:
		return "full";
	case PORT_FAILED:
		break;
	}
	return "failed";
}

static const char *reason(const struct run *run)
{
	return run->complaint ? run->complaint : port_failure();
}

static void write_benchmark(struct text *text, const struct benchmark *benchmark, const struct run *run,
			    enum port_status status)
{
	write_named(text, "benchmark", benchmark->name);
	put(text, " ");
	put(text, status_word(status));
	if (status != PORT_OK) {
		put(text, " ");
		put(text, reason(run));
	}
	end_line(text);
	if (status != PORT_OK)
		return;
	for (unsigned int i = 0; i < run->fact_count; i++)
		write_fact(text, run->facts[i].name, run->facts[i].unit, run->facts[i].value);
	for (unsigned int i = 0; i < run->series_count; i++)
		write_series(text, &run->series[i]);
}

struct series *run_series(struct run *run, const char *name, const char *unit, uint32_t capacity)
{
	struct series *series;

	if (run->series_count == SERIES_MOST || run->room < capacity) {
		run->complaint = "no memory for so many samples; ask for fewer iterations";
		return NULL;
	}
	series = &run->series[run->series_count++];
	*series = (struct series){ .name = name, .unit = unit, .values = run->memory, .capacity = capacity };
	run->memory += capacity;
	run->room -= capacity;
	return series;
}

void *run_memory(struct run *run, size_t bytes)
{
	enum { ALIGNMENT = 64 }; /* a cache line, and more than any object needs */
	size_t skipped = -(uintptr_t)run->memory % ALIGNMENT / sizeof(uint32_t);
	size_t words = skipped + (bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t);
	uint32_t *memory = run->memory + skipped;

	if (run->room < words) {
		run->complaint = "no memory for the benchmark's own objects";
		return NULL;
	}
	run->memory += words;
	run->room -= words;
	return memory;
}

void run_fact(struct run *run, const char *name, const char *unit, uint64_t value)
{
	if (run->fact_count < FACTS_MOST)
		run->facts[run->fact_count++] = (struct fact){ name, unit, value };
}

static void write_head(struct text *text, const struct family *family, const struct options *options)
{
	put(text, "rtqual-probe 1");
	end_line(text);
	write_named(text, "system", port_system());
	end_line(text);
	write_named(text, "family", family->name);
	end_line(text);
	write_fact(text, "iterations", "1", options->iterations);
	write_fact(text, "interval", "ns", options->interval_ns);
	write_fact(text, "clock step", "ns", port_clock_step_ns());
	write_fact(text, "cycles", "1/s", port_cycles_per_s());
}

/*
 * Where in the system's tick a benchmark begins decides which of its samples the tick falls into. A run is only one
 * draw, so the place differs by seed and benchmark. Spread by SplitMix64 (Steele, Lea, Flood 2014).
 */
static void shift_phase(uint32_t seed, uint32_t number)
{
	uint64_t z = ((uint64_t)seed << 32 | number) + 0x9e3779b97f4a7c15, until_ns;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	until_ns = port_now_ns() + ((z ^ z >> 31) & (PHASE_NS - 1));
	while (port_now_ns() < until_ns)
		;
}

static enum port_status run_one(const struct benchmark *benchmark, struct run *run)
{
	struct port_disturbance before, after;
	enum port_status counted = port_disturbance_now(&before);
	enum port_status status = benchmark->measure(run);

	if (counted == PORT_OK && port_disturbance_now(&after) == PORT_OK) {
		run_fact(run, "page faults", "1", after.page_faults - before.page_faults);
		run_fact(run, "involuntary switches", "1", after.involuntary_switches - before.involuntary_switches);
	}
	return status;
}

static void complain(struct workspace *workspace, const char *name, const char *why)
{
	const char *const words[] = { name, ": ", why };
	size_t length = 0;

	for (unsigned int i = 0; i < sizeof(words) / sizeof(*words); i++)
		for (const char *word = words[i]; *word && length < sizeof(workspace->complaint) - 1; word++)
			workspace->complaint[length++] = *word;
	workspace->complaint[length] = '\0';
}

enum port_status battery_run(const struct family *family, const struct options *options, struct workspace *workspace)
{
	struct text *text = &workspace->text;
	struct run *run = &workspace->run;
	enum port_status worst = PORT_OK;
	size_t capacity;
	uint32_t *memory = port_sample_memory(&capacity);

	workspace->options = *options;
	if (!options->iterations)
		workspace->options.iterations = family->iterations;
	if (!options->interval_ns)
		workspace->options.interval_ns = family->interval_ns;
	workspace->complaint[0] = '\0';
	*text = (struct text){ .status = PORT_OK };
	write_head(text, family, &workspace->options);
	for (const struct benchmark *one = family->benchmarks; one->name; one++) {
		enum port_status status;

		*run = (struct run){ .options = &workspace->options, .memory = memory, .room = capacity };
		shift_phase(options->seed, (uint32_t)(one - family->benchmarks));
		status = run_one(one, run);
		if (worst == PORT_OK && status != PORT_OK && status != PORT_NOT_OFFERED) {
			worst = status;
			complain(workspace, one->name, reason(run));
		}
		write_benchmark(text, one, run, status);
	}
	put(text, "end");
	end_line(text);
	if (text->status == PORT_OK)
		return worst;
	complain(workspace, family->name, port_failure());
	return text->status;
}

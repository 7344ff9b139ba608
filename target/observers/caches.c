// SPDX-License-Identifier: MIT
/*
 * caches - true LRU in every set, write-back, write-allocate. L2 has all lines of data that an L1 has. A CPU that writes
 * a line takes it from the others; one that reads it takes their right to write it. A prefetcher hides DRAM, but not
 * DRAM's turn, from the fourth miss of a row on, upwards or downwards within a page.
 *
 * The way to DRAM: a CPU waits until its own lines before have gone, and for the others' as long as a queue with random
 * arrivals and one length of service makes it wait on average (M/D/1: Kendall 1953), at the use of the rounds before.
 * Time stamps would not do: CPUs take turns, so what seems to come later in a round came at the same time.
 */
#include "caches.h"

#include <stdlib.h>
#include <string.h>

enum {
	DIRTY = INT32_MIN, /* this bit */
	STREAMS = 8,
	TRAINED = 3,
	PAGE_LINES = 4096 >> LINE_SHIFT,
	WHOLE = 65536, /* of a share */
	MOST_BUSY = WHOLE * 96 / 100, /* beyond, waits would grow without end */
	MOST_WAITING = 32, /* lines */
};

#define NONE UINT32_MAX /* in place of a line */
#define LINE(word) ((word) & MOST_LINES)

struct stream {
	uint32_t line;
	unsigned int trained;
};

struct cpu {
	uint32_t *l1i, *l1d;
	uint32_t fetched; /* the last line of code */
	struct stream streams[STREAMS];
	unsigned int newest;
	int64_t own, dram_free; /* own time; when DRAM has served it */
	uint32_t lines; /* to and from DRAM, in this round */
	int64_t busy; /* 1/WHOLE: its share of DRAM's time */
	struct counts counts;
};

struct caches {
	struct shape shape;
	unsigned int n_cpus;
	uint32_t *l2;
	int64_t busy; /* all CPUs' */
	uint64_t dram_lines;
	struct cpu cpus[CACHES_MOST_CPUS];
};

static uint32_t *set_of(uint32_t *cache, const struct geometry *geometry, uint32_t line)
{
	return cache + (size_t)(line & (geometry->sets - 1)) * geometry->ways;
}

/* Returns where a line is, or the number of ways. */
static uint32_t find(const uint32_t *set, uint32_t ways, uint32_t line)
{
	uint32_t way = 0;

	while (way < ways && (set[way] == NONE || LINE(set[way]) != line))
		way++;
	return way;
}

static void put_first(uint32_t *set, uint32_t way, uint32_t word)
{
	memmove(set + 1, set, way * sizeof(*set));
	set[0] = word;
}

static void take_out(uint32_t *set, uint32_t ways, uint32_t way)
{
	memmove(set + way, set + way + 1, (ways - 1 - way) * sizeof(*set));
	set[ways - 1] = NONE;
}

/* Returns DIRTY where an L1 other than `but`'s had it so. Taken out there, or clean from now on. */
static uint32_t snoop(struct caches *c, const struct cpu *but, uint32_t line, bool takes)
{
	uint32_t dirty = 0;

	for (unsigned int n = 0; n < c->n_cpus; n++) {
		uint32_t ways = c->shape.l1d.ways, *set, way;

		if (&c->cpus[n] == but)
			continue;
		set = set_of(c->cpus[n].l1d, &c->shape.l1d, line);
		way = find(set, ways, line);
		if (way == ways)
			continue;
		dirty |= set[way] & DIRTY;
		if (takes)
			take_out(set, ways, way);
		else
			set[way] = line;
	}
	return dirty;
}

static void use_dram(struct caches *c, struct cpu *cpu)
{
	int64_t now = cpu->own;

	cpu->lines++;
	c->dram_lines++;
	cpu->dram_free = (cpu->dram_free > now ? cpu->dram_free : now) + c->shape.line_ticks;
}

/* Returns for how long DRAM is not to be had. */
static int64_t queue(struct caches *c, struct cpu *cpu)
{
	int64_t most = (int64_t)MOST_WAITING * c->shape.line_ticks, others = c->busy - cpu->busy;
	int64_t wait = cpu->dram_free > cpu->own ? cpu->dram_free - cpu->own : 0;

	if (wait > most)
		wait = most;
	if (others > 0)
		wait += c->shape.line_ticks * others / (2 * (WHOLE - c->busy));
	use_dram(c, cpu);
	cpu->counts.waited_ticks += (uint64_t)wait;
	return wait;
}

/* Returns whether L2 had a line, which it has from now on. */
static bool second(struct caches *c, struct cpu *cpu, uint32_t line, uint32_t dirty)
{
	uint32_t ways = c->shape.l2.ways, *set = set_of(c->l2, &c->shape.l2, line), way = find(set, ways, line), out;

	if (way < ways) {
		put_first(set, way, set[way] | dirty);
		return true;
	}
	out = set[ways - 1];
	if (out != NONE) {
		out |= snoop(c, NULL, LINE(out), true);
		if (out & DIRTY)
			use_dram(c, cpu);
	}
	put_first(set, ways - 1, line | dirty);
	return false;
}

static int64_t stall(struct cpu *cpu, int64_t ticks, uint32_t share)
{
	ticks = ticks * share / 256;
	cpu->own += ticks;
	cpu->counts.stalled_ticks += (uint64_t)ticks;
	return ticks;
}

/* Returns whether the prefetcher knew that a line would be asked for. */
static bool foreseen(struct cpu *cpu, uint32_t line)
{
	for (unsigned int n = 0; n < STREAMS; n++) {
		struct stream *stream = &cpu->streams[n];

		if (stream->line + 1 != line && stream->line - 1 != line)
			continue;
		if (stream->line / PAGE_LINES != line / PAGE_LINES)
			stream->trained = 0;
		else if (stream->trained < TRAINED)
			stream->trained++;
		stream->line = line;
		return stream->trained == TRAINED;
	}
	cpu->newest = (cpu->newest + 1) % STREAMS;
	cpu->streams[cpu->newest] = (struct stream){ line, 0 };
	return false;
}

static int64_t data_miss(struct caches *c, struct cpu *cpu, uint32_t *set, uint32_t line, bool write)
{
	uint32_t ways = c->shape.l1d.ways, theirs = c->n_cpus > 1 ? snoop(c, cpu, line, write) : 0, out;
	bool known = foreseen(cpu, line);
	int64_t ticks = known ? 0 : c->shape.l2_ticks;

	cpu->counts.l1d_misses++;
	cpu->counts.prefetched += known;
	if (!second(c, cpu, line, theirs)) {
		cpu->counts.l1d_dram++;
		ticks = queue(c, cpu) + (known ? 0 : c->shape.dram_ticks);
	}
	out = set[ways - 1]; /* what L2 lost is gone from here */
	put_first(set, ways - 1, line | (write ? DIRTY : 0));
	if (out != NONE && out & DIRTY)
		second(c, cpu, LINE(out), DIRTY);
	return stall(cpu, ticks, write ? c->shape.store_share : c->shape.load_share);
}

int64_t caches_access(struct caches *c, unsigned int index, uint32_t line, bool write)
{
	struct cpu *cpu = &c->cpus[index];
	uint32_t ways = c->shape.l1d.ways, *set = set_of(cpu->l1d, &c->shape.l1d, line), way;

	if (set[0] == (line | DIRTY) || (set[0] == line && !write))
		return 0;
	way = find(set, ways, line);
	if (way == ways)
		return data_miss(c, cpu, set, line, write);
	if (write && !(set[way] & DIRTY) && c->n_cpus > 1)
		snoop(c, cpu, line, true);
	put_first(set, way, set[way] | (write ? DIRTY : 0));
	return 0;
}

int64_t caches_fetch(struct caches *c, unsigned int index, uint32_t line)
{
	struct cpu *cpu = &c->cpus[index];
	uint32_t ways = c->shape.l1i.ways, last = cpu->fetched, *set, way;
	int64_t ticks = c->shape.l2_ticks;

	if (line == last)
		return 0;
	cpu->fetched = line;
	set = set_of(cpu->l1i, &c->shape.l1i, line);
	way = find(set, ways, line);
	put_first(set, way < ways ? way : ways - 1, line);
	if (way < ways)
		return 0;
	cpu->counts.l1i_misses++;
	if (!second(c, cpu, line, 0)) {
		cpu->counts.l1i_dram++;
		ticks = queue(c, cpu) + c->shape.dram_ticks;
	}
	return stall(cpu, ticks, last + 1 == line ? c->shape.next_line_share : 256);
}

void caches_ran(struct caches *c, unsigned int index, int64_t ticks)
{
	c->cpus[index].own += ticks;
}

void caches_halted(struct caches *c, unsigned int index)
{
	c->cpus[index].dram_free = c->cpus[index].own;
}

void caches_round(struct caches *c, int64_t round_ticks)
{
	int64_t busy = 0;

	for (unsigned int n = 0; n < c->n_cpus; n++) {
		struct cpu *cpu = &c->cpus[n];
		int64_t now = (int64_t)cpu->lines * c->shape.line_ticks * WHOLE / round_ticks;

		cpu->busy = (9 * cpu->busy + now) / 10;
		cpu->lines = 0;
		busy += cpu->busy;
	}
	c->busy = busy < MOST_BUSY ? busy : MOST_BUSY;
}

const struct counts *caches_counts(const struct caches *c, unsigned int index)
{
	return &c->cpus[index].counts;
}

uint64_t caches_dram_lines(const struct caches *c)
{
	return c->dram_lines;
}

static uint32_t *cold(const struct geometry *geometry)
{
	size_t bytes = (size_t)geometry->sets * geometry->ways * sizeof(uint32_t);
	uint32_t *cache = malloc(bytes);

	return cache ? memset(cache, 0xff, bytes) : NULL; /* NONE everywhere */
}

struct caches *caches_new(const struct shape *shape, unsigned int n_cpus)
{
	struct caches *c = calloc(1, sizeof(*c));

	if (!c || n_cpus > CACHES_MOST_CPUS)
		return NULL;
	c->shape = *shape;
	c->n_cpus = n_cpus;
	c->l2 = cold(&shape->l2);
	for (unsigned int n = 0; n < n_cpus; n++) {
		struct cpu *cpu = &c->cpus[n];

		cpu->l1i = cold(&shape->l1i);
		cpu->l1d = cold(&shape->l1d);
		if (!cpu->l1i || !cpu->l1d)
			return NULL;
		cpu->fetched = NONE - 1;
		for (unsigned int k = 0; k < STREAMS; k++)
			cpu->streams[k].line = NONE - 1; /* no neighbour of a line's */
	}
	return c->l2 ? c : NULL;
}

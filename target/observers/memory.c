// SPDX-License-Identifier: MIT
/*
 * memory - let QEMU's instruction clock tell the time of a board with caches, whose CPUs run side by side.
 *
 * QEMU counts each instruction as 1 ns (-icount shift=0). From the agent's mark on (from=mark; from=start: at once, in a
 * guest that was saved there) they take what the model says (insn=TICKS), and code and data that are not in a cache stall
 * the CPU that asks (caches.h; its keys are those of `numbers` below, and without them there are no caches). The caches
 * are cold there. What went on is written to log=FILE in the end, a name and a number a line.
 *
 * CPUs take turns in one thread on one clock. So that they seem to run at once, the clock goes on by a share of the time
 * only that a CPU takes: one in so many as ran in the round before. A turn ends by a CPU's own time. So N busy CPUs get
 * through as much as N do; what they do to each other is seen at the grain of a turn.
 *
 * This takes the place of clock.c in a job. Until the mark it does what that does.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caches.h"
#include "icount.h"
#include "insns.h"
#include "plugin.h"

enum {
	TURN_INSNS = 2000, /* clock.c's, until the mark */
	TURN_TICKS = 1000 * TICKS_A_NS,
	BLOCK_LINES = 2 + 2 * (4096 >> LINE_SHIFT), /* a block lies in two pages at most */
	LOADS = 0,
	STORES = 1,
};

/* QEMU looks this and qemu_plugin_install() up by name. */
const int qemu_plugin_version = PLUGIN_INTERFACE;

/* Not part of that interface; but QEMU exports them. */
struct RAMBlock;
struct CPUState *qemu_get_cpu(int index);
void cpu_exit(struct CPUState *cpu);
void tb_flush(struct CPUState *cpu);
struct RAMBlock *qemu_ram_block_from_host(void *host, bool round, uint64_t *offset);
uint64_t qemu_ram_get_used_length(struct RAMBlock *block);

/* Of that interface, and used here alone. */
struct hwaddr {
	bool is_io, is_store;
	char *host; /* of memory: where QEMU keeps it (version 1; later ones have other fields) */
};
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *insn);
struct hwaddr *qemu_plugin_get_hwaddr(uint32_t info, uint64_t vaddr);
void qemu_plugin_register_flush_cb(qemu_plugin_id_t id, void (*cb)(qemu_plugin_id_t id));

/* A block of instructions, and the lines of memory that it lies in. */
struct block {
	struct block *next;
	uint32_t insns, n_lines;
	uint32_t lines[];
};

struct cpu {
	struct CPUState *state;
	int64_t owed; /* ticks that the clock is still to go on by; fewer than none: that it went on too far */
	int64_t left; /* ticks of own time until its turn ends */
	uint64_t ran, insns; /* ticks of own time, with its stalls; instructions */
	int64_t last, expected; /* instructions: of its last block; left until the next timer since then */
};

/* A global because the interface hands no data to the translation callback. All CPUs share one thread. */
static struct {
	bool on, has_caches;
	const char *log;
	struct icount icount;
	struct shape shape;
	uint32_t insn_ticks, ram_mib;
	struct caches *caches;
	struct block *blocks;
	const char *ram; /* where QEMU keeps the guest's memory */
	unsigned int n_cpus;
	struct cpu cpus[CACHES_MOST_CPUS];
	size_t insns; /* before the mark, since a turn was ended */
	/* Rounds of turns. */
	unsigned int taker, n_running; /* whose turn it is; CPUs that ran in the round before */
	bool over;
	uint32_t ran; /* CPUs in this round, a bit each */
	uint64_t before, longest,
		awake; /* ticks: what the taker had run before; the round's longest turn; all rounds */
} g = { .n_running = 1, .over = true };

static const struct {
	const char *key;
	uint32_t *at;
	uint32_t most;
} numbers[] = {
	{ "l1i_sets", &g.shape.l1i.sets, 1 << 20 },         { "l1i_ways", &g.shape.l1i.ways, 64 },
	{ "l1d_sets", &g.shape.l1d.sets, 1 << 20 },         { "l1d_ways", &g.shape.l1d.ways, 64 },
	{ "l2_sets", &g.shape.l2.sets, 1 << 20 },           { "l2_ways", &g.shape.l2.ways, 64 },
	{ "l2", &g.shape.l2_ticks, 1000 * TICKS_A_NS },     { "dram", &g.shape.dram_ticks, 10000 * TICKS_A_NS },
	{ "line", &g.shape.line_ticks, 1000 * TICKS_A_NS }, { "load_share", &g.shape.load_share, 256 },
	{ "store_share", &g.shape.store_share, 256 },       { "next_line_share", &g.shape.next_line_share, 256 },
	{ "insn", &g.insn_ticks, 100 * TICKS_A_NS },        { "ram_mib", &g.ram_mib, 1 << 16 },
};

/* --- time ---------------------------------------------------------------------------------------- */

/* A CPU's own time goes on, and the clock by its share of that. */
static void pass(struct cpu *cpu, int64_t ticks)
{
	int64_t insns;

	cpu->ran += (uint64_t)ticks;
	cpu->left -= ticks;
	cpu->owed += ticks / g.n_running;
	insns = cpu->owed / TICKS_A_NS;
	if (!insns)
		return;
	cpu->owed -= insns * TICKS_A_NS;
	icount_charge(&g.icount, cpu->state, insns);
	cpu->expected = icount_left(&g.icount, cpu->state);
}

/* A block's instructions, which QEMU has counted; fewer than none are those that it took back. */
static void count(unsigned int index, int64_t insns)
{
	struct cpu *cpu = &g.cpus[index];
	int64_t ticks = insns * g.insn_ticks;

	cpu->insns += (uint64_t)insns;
	cpu->owed -= insns * TICKS_A_NS;
	pass(cpu, ticks);
	if (g.caches)
		caches_ran(g.caches, index, ticks);
}

/* A fault, or a device's register, ends a block before its end, and QEMU counts the rest back at once. The range tells
 * that from another timer. */
static void take_back(unsigned int index, int64_t insns)
{
	struct cpu *cpu = &g.cpus[index];
	int64_t left = icount_left(&g.icount, cpu->state), back = left + insns - cpu->expected;

	cpu->expected = left;
	if (back > 0 && back <= cpu->last)
		count(index, -back);
	cpu->last = insns;
}

static void end_round(void)
{
	g.n_running = g.ran ? (unsigned int)__builtin_popcount(g.ran) : 1;
	g.awake += g.longest;
	g.ran = 0;
	g.longest = 0;
	if (g.caches)
		caches_round(g.caches, TURN_TICKS);
}

/* A CPU that went beyond its last turn has that much less of this one. */
static void begin_turn(unsigned int index)
{
	struct cpu *cpu = &g.cpus[index];
	uint64_t ran = g.cpus[g.taker].ran - g.before;

	if (ran > g.longest)
		g.longest = ran;
	if (index <= g.taker)
		end_round();
	g.taker = index;
	g.before = cpu->ran;
	g.over = false;
	cpu->left = cpu->left < 0 ? cpu->left + TURN_TICKS : TURN_TICKS;
}

/* --- the guest ----------------------------------------------------------------------------------- */

static void on_block(unsigned int index, void *data)
{
	const struct block *block = data;
	struct cpu *cpu = &g.cpus[index];

	take_back(index, block->insns);
	if (g.over || index != g.taker)
		begin_turn(index);
	g.ran |= 1U << index;
	count(index, block->insns);
	for (uint32_t k = 0; g.caches && k < block->n_lines; k++) {
		int64_t stall = caches_fetch(g.caches, index, block->lines[k]);

		if (stall)
			pass(cpu, stall);
	}
	if (cpu->left > 0)
		return;
	g.over = true;
	if (g.n_cpus > 1)
		cpu_exit(cpu->state);
}

static void on_access(unsigned int index, uint32_t info, uint64_t vaddr, void *kind)
{
	struct hwaddr *hwaddr = qemu_plugin_get_hwaddr(info, vaddr);
	uint64_t line;
	int64_t stall;

	if (!hwaddr || hwaddr->is_io)
		return;
	line = (uint64_t)(hwaddr->host - g.ram) >> LINE_SHIFT;
	if (!g.ram || line >= (uint64_t)g.ram_mib << (20 - LINE_SHIFT))
		return;
	stall = caches_access(g.caches, index, (uint32_t)line, (uintptr_t)kind == STORES);
	if (stall)
		pass(&g.cpus[index], stall);
}

static void on_halt(unsigned int index, void *unused)
{
	(void)unused;
	icount_update(g.cpus[index].state);
	if (g.on && g.caches)
		caches_halted(g.caches, index);
}

static void on_mark(unsigned int index, void *unused)
{
	(void)unused;
	if (g.on)
		return;
	g.on = true;
	tb_flush(g.cpus[index].state); /* what was translated knows nothing of caches */
}

/* As clock.c has it. */
static void before_mark(unsigned int index, void *n_insns)
{
	g.insns += (uintptr_t)n_insns;
	if (g.insns < TURN_INSNS)
		return;
	g.insns = 0;
	cpu_exit(g.cpus[index].state);
}

/* --- QEMU ---------------------------------------------------------------------------------------- */

static void die(const char *why)
{
	fprintf(stderr, "memory: %s\n", why);
	_exit(1);
}

static void know_cpus(void)
{
	int n_cpus = qemu_plugin_num_vcpus();

	if (g.n_cpus == (unsigned int)n_cpus)
		return;
	if (n_cpus > CACHES_MOST_CPUS)
		die("so many CPUs are not modelled");
	g.n_cpus = (unsigned int)n_cpus;
	for (unsigned int n = 0; n < g.n_cpus; n++)
		g.cpus[n].state = qemu_get_cpu((int)n);
	g.caches = g.has_caches ? caches_new(&g.shape, g.n_cpus) : NULL;
	if (g.has_caches && !g.caches)
		die("there is no memory for its caches");
}

static void find_ram(char *host)
{
	uint64_t offset;
	struct RAMBlock *block = qemu_ram_block_from_host(host, false, &offset);

	if (block && qemu_ram_get_used_length(block) == (uint64_t)g.ram_mib << 20)
		g.ram = host - offset;
}

/* Adds the line that a byte of code lies in, where it is another than the last. */
static uint32_t add_line(uint32_t *lines, uint32_t n_lines, const char *host)
{
	uint64_t line = (uint64_t)(host - g.ram) >> LINE_SHIFT;

	if (line >= (uint64_t)g.ram_mib << (20 - LINE_SHIFT) || n_lines == BLOCK_LINES ||
	    (n_lines && lines[n_lines - 1] == line))
		return n_lines;
	lines[n_lines] = (uint32_t)line;
	return n_lines + 1;
}

static uint32_t lines_of(const struct qemu_plugin_tb *tb, uint32_t *lines)
{
	uint32_t n_lines = 0;

	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		char *host = qemu_plugin_insn_haddr(insn);

		if (host && !g.ram)
			find_ram(host);
		if (!host || !g.ram)
			continue;
		n_lines = add_line(lines, n_lines, host);
		n_lines = add_line(lines, n_lines, host + qemu_plugin_insn_size(insn) - 1);
	}
	return n_lines;
}

static void instrument_block(struct qemu_plugin_tb *tb)
{
	uint32_t lines[BLOCK_LINES], n_lines = g.has_caches ? lines_of(tb, lines) : 0;
	struct block *block = malloc(sizeof(*block) + n_lines * sizeof(*lines));

	if (!block)
		die("there is no memory for a block of instructions");
	block->next = g.blocks;
	block->insns = (uint32_t)qemu_plugin_tb_n_insns(tb);
	block->n_lines = n_lines;
	memcpy(block->lines, lines, n_lines * sizeof(*lines));
	g.blocks = block;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS, block);
	for (size_t i = 0; g.has_caches && i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_R,
						 (void *)(uintptr_t)LOADS);
		qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W,
						 (void *)(uintptr_t)STORES);
	}
}

static void instrument_tb(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n_insns = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n_insns - 1);

	(void)id;
	know_cpus();
	if (is_halt(last)) /* a halt ends its block */
		qemu_plugin_register_vcpu_insn_exec_cb(last, on_halt, QEMU_PLUGIN_CB_NO_REGS, NULL);
	if (g.on) {
		instrument_block(tb);
		return;
	}
	if (g.n_cpus > 1)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, before_mark, QEMU_PLUGIN_CB_NO_REGS, (void *)n_insns);
	for (size_t i = 0; i < n_insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (is_mark(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

/* QEMU has no translated block any more. */
static void forget_blocks(qemu_plugin_id_t id)
{
	(void)id;
	while (g.blocks) {
		struct block *next = g.blocks->next;

		free(g.blocks);
		g.blocks = next;
	}
}

static void tell(qemu_plugin_id_t id, void *unused)
{
	FILE *log = fopen(g.log, "we");
	struct counts all = { 0 };
	uint64_t insns = 0, ran = 0;

	(void)id;
	(void)unused;
	if (!log) {
		perror("memory: the log cannot be opened");
		return;
	}
	for (unsigned int n = 0; n < g.n_cpus; n++) {
		insns += g.cpus[n].insns;
		ran += g.cpus[n].ran;
		for (size_t k = 0; g.caches && k < sizeof(all) / sizeof(uint64_t); k++)
			((uint64_t *)&all)[k] += ((const uint64_t *)caches_counts(g.caches, n))[k];
	}
	fprintf(log, "instructions %" PRIu64 "\nran_ns %" PRIu64 "\nawake_ns %" PRIu64 "\n", insns, ran / TICKS_A_NS,
		g.awake / TICKS_A_NS);
	if (g.caches)
		fprintf(log,
			"l1i_misses %" PRIu64 "\nl1i_misses_to_dram %" PRIu64 "\nl1d_misses %" PRIu64
			"\nl1d_misses_to_dram %" PRIu64 "\nprefetched %" PRIu64 "\nstalled_ns %" PRIu64
			"\nwaited_for_dram_ns %" PRIu64 "\ndram_lines %" PRIu64 "\n",
			all.l1i_misses, all.l1i_dram, all.l1d_misses, all.l1d_dram, all.prefetched,
			all.stalled_ticks / TICKS_A_NS, all.waited_ticks / TICKS_A_NS, caches_dram_lines(g.caches));
	fclose(log);
}

/* KEY=NUMBER, of what the model says. */
static bool take_number(const char *key, const char *value)
{
	char *end;
	unsigned long long number = strtoull(value, &end, 10);

	for (size_t k = 0; k < sizeof(numbers) / sizeof(numbers[0]); k++) {
		if (strcmp(key, numbers[k].key))
			continue;
		*numbers[k].at = (uint32_t)number;
		return *value >= '0' && *value <= '9' && !*end && number <= numbers[k].most;
	}
	return false;
}

static bool is_power_of_two(uint32_t number)
{
	return number && !(number & (number - 1));
}

static bool is_whole(const struct geometry *geometry)
{
	return is_power_of_two(geometry->sets) && geometry->ways;
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	for (int i = 0; i < argc; i++) {
		char *value = strchr(argv[i], '=');

		if (!value)
			return -1;
		*value++ = '\0';
		if (!strcmp(argv[i], "log"))
			g.log = value;
		else if (!strcmp(argv[i], "from") && (!strcmp(value, "start") || !strcmp(value, "mark")))
			g.on = !strcmp(value, "start");
		else if (!take_number(argv[i], value)) {
			fprintf(stderr, "memory: %s=%s is not known, or too large\n", argv[i], value);
			return -1;
		}
	}
	g.has_caches = g.shape.l2.sets;
	if (!g.log || !g.insn_ticks || !g.ram_mib)
		return -1;
	if (g.has_caches &&
	    (!is_whole(&g.shape.l1i) || !is_whole(&g.shape.l1d) || !is_whole(&g.shape.l2) || !g.shape.line_ticks)) {
		fputs("memory: the caches are not whole\n", stderr);
		return -1;
	}
	if (PLUGIN_INTERFACE != 1 || !icount_find(&g.icount)) {
		fputs("memory: the instruction clock of this QEMU is not known\n", stderr);
		return -1;
	}
	g.log = strdup(g.log); /* QEMU takes its arguments back */
	qemu_plugin_register_vcpu_tb_trans_cb(id, instrument_tb);
	qemu_plugin_register_flush_cb(id, forget_blocks);
	qemu_plugin_register_atexit_cb(id, tell, NULL);
	return 0;
}

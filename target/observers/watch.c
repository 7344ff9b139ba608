// SPDX-License-Identifier: MIT
/*
 * watch - note what the guest's kernel does, and when, without a guest instruction.
 *
 * SPEC names the addresses of functions and variables. LOG gets records of 16 bytes in the host's order: the time in
 * the guest's ns with the kind in the highest byte, and a word. Kinds in capital letters are the events, which are
 * counted: the same run gives the same events, so one run tells the numbers between which the next is to look closer
 * (window FIRST LAST): there every block of instructions is noted.
 *
 * CPUs take turns in one thread, so the log has one order, and says whose turn it is (TURN) where that changes.
 *
 * Neither the guest nor its clock is changed. QEMU may be killed at any time: what is written is whole but for the end.
 * On x86-64 the instructions say what switches interrupts and preemption. On ARM they do not (a register is written back
 * whose value is not known here): the mask is looked at when a block begins, and preempt_count whenever it is stored.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qemu.h"
#include "watch.h"
#include "watch_log.h"
#include "watch_spec.h"
#include "watch_thread.h"

enum { COMM_BYTES = 16, LOOKED_MOST = 256, MOST_CPUS = 16 };

/* QEMU looks this and qemu_plugin_install() up by name. */
const int qemu_plugin_version = PLUGIN_INTERFACE;

/* An instruction or a block that is watched. */
struct place {
	uint64_t address;
	uint64_t word; /* of a block: where its call returns to, or 0; of preempt_count: what is added */
	uint32_t ahead_ns; /* QEMU counts a block when it begins: what it counted from here on */
	char kind;
};

struct section {
	uint64_t since_ns, from;
	bool open;
};

/* What a CPU does. */
struct cpu {
	uint64_t base; /* of its own variables */
	uint64_t task, next; /* that runs; that is switched to */
	struct section irqs, preempt;
	int32_t preempt_count;
	bool halted;
	bool unsure; /* the mask may have changed */
};

/* A global because the interface hands no data to the translation callback. All CPUs share one thread. */
static struct {
	struct log log;
	struct spec spec;
	struct arm arm;
	size_t window;
	bool close; /* inside a window */
	uint64_t events;
	unsigned int looked; /* at threads, for these: */
	int comm_at, prio_at; /* in a task_struct; 0 until they are found */
	uint64_t count_further; /* than the spec says, preempt_count lies */
	struct cpu cpus[MOST_CPUS];
	unsigned int at; /* whose turn it is */
	struct {
		uint64_t task;
		char comm[COMM_BYTES];
		int32_t prio;
	} seen[1024];
} g;

static uint64_t now_ns(void)
{
	struct CPUState *cpu = current_cpu;
	int64_t ns;

	/* Once counted, the clock can be read as if by another thread: asked as this CPU, it dies inside a block. */
	icount_update(cpu);
	current_cpu = NULL;
	ns = icount_get();
	current_cpu = cpu;
	return (uint64_t)ns;
}

static void put(char kind, uint64_t ns, uint64_t word)
{
	log_put(&g.log, g.at, kind, ns, word);
}

static struct cpu *cpu_at(unsigned int vcpu_index)
{
	if (vcpu_index >= MOST_CPUS) {
		fputs("watch: so many CPUs are not watched\n", stderr);
		_exit(1);
	}
	g.at = vcpu_index;
	return &g.cpus[vcpu_index];
}

/* A pointer of the guest. */
static bool peek_pointer(uint64_t address, uint64_t *to)
{
	*to = 0;
	return peek(g.spec.word_bytes == 4 ? (uint32_t)address : address, to, g.spec.word_bytes);
}

/* How a CPU begins a window. */
static void put_state(const struct cpu *cpu, uint64_t ns)
{
	put(STATE, cpu->irqs.open ? cpu->irqs.since_ns : ns, !cpu->irqs.open);
	if (cpu->irqs.open)
		put(CLI, cpu->irqs.since_ns, cpu->irqs.from);
	put(COUNT, cpu->preempt.open ? cpu->preempt.since_ns : ns, (uint32_t)cpu->preempt_count);
}

/* An event; windows begin and end with one. */
static void event(char kind, uint64_t ns, uint64_t word)
{
	if (g.window < g.spec.n_windows && !g.close && g.events == g.spec.windows[g.window].first) {
		unsigned int at = g.at;

		g.close = true;
		for (int index = 0; index < qemu_plugin_num_vcpus(); index++)
			put_state(cpu_at((unsigned int)index), ns);
		g.at = at;
	}
	put(kind, ns, word);
	if (g.close && g.events >= g.spec.windows[g.window].last) {
		g.close = false;
		g.window++;
	}
	g.events++;
}

static void begin(struct section *one, uint64_t ns, uint64_t from)
{
	*one = (struct section){ ns, from, true };
}

static void end(struct section *one, uint64_t ns, uint64_t to, char off, char on)
{
	if (one->open && ns - one->since_ns >= g.spec.section_ns) {
		put(off, one->since_ns, one->from);
		put(on, ns, to);
	}
	one->open = false;
}

static void count_is(struct cpu *cpu, uint64_t ns, uint64_t where, int32_t count)
{
	bool off = count & INT32_MAX; /* the highest bit says that nothing is to be scheduled */

	if (off && !cpu->preempt.open)
		begin(&cpu->preempt, ns, where);
	if (!off && cpu->preempt.open)
		end(&cpu->preempt, ns, where, PREEMPT_OFF, PREEMPT_ON);
	if (g.close && (count ^ cpu->preempt_count) & INT32_MAX)
		put(COUNT, ns, (uint32_t)count);
	cpu->preempt_count = count;
}

static uint64_t count_address(const struct cpu *cpu)
{
	return (g.spec.count_in_task ? cpu->task : cpu->base) + g.spec.count + g.count_further;
}

static void recount(struct cpu *cpu, uint64_t ns, uint64_t where)
{
	int32_t count;

	if ((cpu->base || cpu->task) && g.spec.count && peek(count_address(cpu), &count, sizeof(count)))
		count_is(cpu, ns, where, count);
}

/* 64-bit ARM keeps a page table before it where CONFIG_ARM64_SW_TTBR0_PAN asks for that. Here it is 2, or 0 in a kernel
 * that does not count. */
static void find_count(uint64_t task)
{
	uint32_t count;

	if (g.arm.wide && peek(task + g.spec.count, &count, sizeof(count)) && count > 2)
		g.count_further = sizeof(uint64_t);
}

static void on_switch(struct cpu *cpu, uint64_t ns, uint64_t where)
{
	uint64_t task = 0;
	char comm[COMM_BYTES] = "";
	int32_t prio = -1;
	size_t slot;

	if (g.spec.count_in_task)
		task = cpu->next;
	else if ((g.spec.per_cpu && !cpu->base &&
		  !peek_pointer(g.spec.per_cpu + g.at * g.spec.word_bytes, &cpu->base)) ||
		 !peek_pointer(cpu->base + g.spec.current, &task))
		return;
	if (!task)
		return;
	if (g.spec.count_in_task && !cpu->task)
		find_count(task);
	cpu->task = task;
	if (!g.spec.comm_at && g.looked < LOOKED_MOST && ++g.looked)
		thread_find(g.spec.init_task ? g.spec.init_task : task, &g.comm_at, &g.prio_at);
	recount(cpu, ns, where);
	if (g.comm_at && g.prio_at) {
		peek(task + (uint64_t)g.comm_at, comm, sizeof(comm));
		peek(task + (uint64_t)g.prio_at, &prio, sizeof(prio));
	}
	slot = (task >> 6) % (sizeof(g.seen) / sizeof(g.seen[0]));
	if (g.seen[slot].task != task || memcmp(g.seen[slot].comm, comm, sizeof(comm)) || g.seen[slot].prio != prio) {
		uint64_t words[2];

		memcpy(words, comm, sizeof(words));
		put(NAME, ns, words[0]);
		put(NAME, ns, words[1]);
		put(PRIORITY, ns, (uint32_t)prio);
		g.seen[slot].task = task;
		memcpy(g.seen[slot].comm, comm, sizeof(comm));
		g.seen[slot].prio = prio;
	}
	event(SWITCH, ns, task);
}

/* A function that the spec names is entered. */
static void on_entry(unsigned int vcpu_index, void *data)
{
	const struct place *place = data;
	struct cpu *cpu = cpu_at(vcpu_index);
	uint64_t ns = now_ns() - place->ahead_ns;

	if (place->kind == NEXT) { /* at a block's begin registers are as they are told here */
		cpu->next = arm_argument(current_cpu, g.arm.wide);
		return;
	}
	if (place->kind == CLOCK)
		put(CLOCK, ns, place->address);
	else if (place->kind == SWITCH)
		on_switch(cpu, ns, place->address);
	if (place->kind == CLOCK || place->kind == SWITCH)
		return;
	if (!cpu->irqs.open)
		begin(&cpu->irqs, ns, place->address);
	if (cpu->halted && cpu->preempt.open)
		begin(&cpu->preempt, ns, place->address); /* idle is no section */
	cpu->halted = false;
	event(place->kind, ns, place->address);
}

static void on_insn(unsigned int vcpu_index, void *data)
{
	const struct place *place = data;
	struct cpu *cpu = cpu_at(vcpu_index);
	uint64_t ns = now_ns() - place->ahead_ns, task;

	switch (place->kind) {
	case RECOUNT:
		recount(cpu, ns, place->address);
		return;
	case COUNT:
		count_is(cpu, ns, place->address, cpu->preempt_count + (int32_t)place->word);
		return;
	case CLI:
		if (!cpu->irqs.open)
			begin(&cpu->irqs, ns, place->address);
		break;
	case STI:
		end(&cpu->irqs, ns, place->address, IRQS_OFF, IRQS_ON);
		break;
	case HALT:
		cpu->halted = true;
		/* fall through */
	case LEAVE:
		cpu->unsure = true;
		if (!g.spec.arm_bits || cpu->halted)
			end(&cpu->irqs, ns, place->address, IRQS_OFF, IRQS_ON);
		if (g.spec.at_leave && peek_pointer(g.spec.current, &task) && task != cpu->task)
			on_switch(cpu, ns, place->address);
		event(place->kind, ns, place->address);
		return;
	default:
		event(place->kind, ns, place->address);
		return;
	}
	if (g.close)
		put(place->kind, ns, place->address);
}

static void on_store(unsigned int vcpu_index, uint32_t info, uint64_t address, void *data)
{
	const struct place *place = data;
	struct cpu *cpu = cpu_at(vcpu_index);

	(void)info;
	if (address == count_address(cpu) && (cpu->base || cpu->task))
		recount(cpu, now_ns() - place->ahead_ns, place->address);
}

static void on_block(unsigned int vcpu_index, void *data)
{
	const struct place *place = data;
	struct cpu *cpu = cpu_at(vcpu_index);
	bool on = !cpu->irqs.open;
	uint64_t ns;

	if (g.spec.arm_bits && (g.close || cpu->unsure || place->kind == MASK)) {
		on = arm_interrupts_on(current_cpu, g.arm.wide);
		cpu->unsure = false;
	}
	if (!g.close && on == !cpu->irqs.open)
		return;
	ns = now_ns() - place->ahead_ns;
	if (g.close) {
		put(BLOCK, ns, place->address);
		if (place->word)
			put(CALL, ns, place->word);
	}
	if (on == !cpu->irqs.open)
		return;
	if (on)
		end(&cpu->irqs, ns, place->address, IRQS_OFF, IRQS_ON);
	else
		begin(&cpu->irqs, ns, place->address);
	if (g.close)
		put(on ? STI : CLI, ns, place->address);
}

static struct place *new_place(uint64_t address, size_t insns_ahead, char kind, uint64_t word)
{
	struct place *place = malloc(sizeof(*place)); /* QEMU never says that it needs it no more */

	if (!place) {
		perror("watch");
		_exit(1);
	}
	*place = (struct place){ address, word, (uint32_t)(insns_ahead * g.spec.ns), kind };
	return place;
}

static void watch(struct qemu_plugin_insn *insn, vcpu_udata_cb_t cb, struct place *place)
{
	qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, QEMU_PLUGIN_CB_NO_REGS, place);
}

static void watch_arm(struct qemu_plugin_insn *insn, uint64_t address, size_t insns_ahead)
{
	char kind = arm_kind_of(insn_bytes(insn), qemu_plugin_insn_size(insn), address, &g.arm);

	if (kind == READING && address >= g.spec.kernel && !g.spec.at_leave)
		return; /* the kernel's own */
	if (kind == STORE)
		qemu_plugin_register_vcpu_mem_cb(insn, on_store, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_W,
						 new_place(address, insns_ahead, kind, 0));
	else if (kind)
		watch(insn, on_insn, new_place(address, insns_ahead, kind, 0));
}

/* Whether the instruction before a block may change the mask, or is not known. */
static bool follows_mask(uint64_t start)
{
	uint8_t before[4];

	return g.spec.arm_bits && start >= g.spec.kernel &&
	       (!peek(start - sizeof(before), before, sizeof(before)) || arm_masks(before, &g.arm));
}

static void instrument(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n_insns = qemu_plugin_tb_n_insns(tb);
	uint64_t start = qemu_plugin_tb_vaddr(tb);
	bool recounts = false;

	(void)id;
	if (g.spec.arm_bits == 32)
		g.arm.thumb = arm_is_thumb(current_cpu);
	if (g.spec.n_windows || g.spec.arm_bits) {
		struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n_insns - 1);
		const uint8_t *bytes = insn_bytes(last);
		size_t size = qemu_plugin_insn_size(last);
		bool call = g.spec.arm_bits ? arm_is_call(bytes, size, &g.arm) : is_call(bytes, size);
		uint64_t back = call ? qemu_plugin_insn_vaddr(last) + size : 0;

		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_block, QEMU_PLUGIN_CB_NO_REGS,
						     new_place(start, n_insns, follows_mask(start) ? MASK : BLOCK,
							       back));
	}
	for (size_t i = 0; i < n_insns; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t address = qemu_plugin_insn_vaddr(insn);
		const uint8_t *bytes = insn_bytes(insn);
		size_t size = qemu_plugin_insn_size(insn);
		char kind = address >= g.spec.kernel ? spec_entry(&g.spec, address) : 0;

		if (kind)
			watch(insn, on_entry, new_place(address, n_insns - i, kind, 0));
		if (recounts)
			watch(insn, on_insn, new_place(address, n_insns - i, RECOUNT, 0));
		if (g.spec.arm_bits) {
			watch_arm(insn, address, n_insns - i - 1);
			continue;
		}
		kind = kind_of(bytes, size, address, g.spec.count);
		recounts = kind == RECOUNT; /* once it is done; the last of a block shows at the next switch */
		if (kind && !recounts) { /* a reading gives the time at its end, the others matter at theirs */
			uint64_t change = (uint64_t)(int64_t)count_change(bytes, size, address, g.spec.count);

			watch(insn, on_insn, new_place(address, n_insns - i - 1, kind, change));
		}
	}
}

static void finish(qemu_plugin_id_t id, void *unused)
{
	(void)id;
	(void)unused;
	put(ENDED, 0, g.events);
	log_close(&g.log);
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 2 || strncmp(argv[0], "spec=", 5) || strncmp(argv[1], "log=", 4) ||
	    !spec_read(&g.spec, argv[0] + 5))
		return -1;
	g.arm = (struct arm){ g.spec.arm_bits == 64, false, g.spec.kernel, g.spec.count_in_task ? g.spec.count : 0 };
	if (g.spec.arm_bits && !arm_is_offered(g.arm.wide)) {
		fputs("watch: this QEMU does not tell registers\n", stderr);
		return -1;
	}
	g.comm_at = (int)g.spec.comm_at;
	g.prio_at = (int)g.spec.prio_at;
	if (!log_open(&g.log, argv[1] + 4))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, instrument);
	qemu_plugin_register_atexit_cb(id, finish, NULL);
	return 0;
}

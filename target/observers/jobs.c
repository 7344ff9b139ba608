// SPDX-License-Identifier: MIT
/*
 * jobs - note what the threads of a program wait for, when it was due, when it came and who ran instead; without a guest
 * instruction, and without a change of its clock.
 *
 * SPEC has lines `NAME HEX`: addresses of the kernel's functions (several of a name where it has several ways in) and
 * variables, and offsets of members from its own BTF (jobs.py writes it). Watched is all that the process `rtqual-program` starts. LOG has a line an event,
 * `NS KIND CPU TID A B C [NAME]`, times in the guest's ns:
 *
 *   n  a thread is seen first, or has another name or priority: its process, the kernel's prio, its policy
 *   s  it makes a system call that may wait (one that waits for no time only looks): number, first argument, and of clock_nanosleep to a moment that moment, of
 *      others the second argument
 *   x  its own timer expires: when it was due
 *   t  a timer expires that wakes by a signal or a descriptor (no thread): when it was due, the timer's address, and in
 *      which thread it expires (one of the kernel's own on PREEMPT_RT; else whichever the interrupt hit)
 *   f  it takes a page fault
 *   w  it is woken: by which thread
 *   i  it runs
 *   o  it runs no more: the kernel's state it waits in, 0 where it could run on; who runs next
 *   r  another thread runs, while one of these waits for a CPU or before a timer that came late: prio
 *   c  the kernel's CLOCK_MONOTONIC: how much further it is
 *
 * The last line is `end`, or `full` where the log would have been too long.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "qemu.h"

int x86_cpu_gdb_read_register(struct CPUState *cpu, GByteArray *to, int number) __attribute__((weak));

/* QEMU looks this and qemu_plugin_install() up by name. */
const int qemu_plugin_version = PLUGIN_INTERFACE;

enum { MOST_CPUS = 16, MOST_PROCESSES = 1024, MOST_THREADS = 4096, RING = 4096, COMM = 16 };
enum { MOST_LINES = 8 << 20, MOST_PLACES = 32, LATE_NS = 2000 };
enum { CLOCK_NANOSLEEP_ABSOLUTE = 1, CLOCKS = 2 };
enum { CALLS = 1024, NUMBER = 0xfff, AT_MOST_SHIFT = 12, AT_MOST = 7, BY_ADDRESS = 1 << 16, WAITS = 1 << 17 };

enum value {
	/* Functions: a block begins there, so registers are as they are told. */
	SWITCH,
	NEXT,
	NEW,
	WAKE,
	CALL,
	SLEEPER,
	POSIX,
	TIMERFD,
	REAL,
	CLOCK,
	FAULT,
	N_PLACES,
	/* Variables. */
	PER_CPU = N_PLACES,
	CURRENT,
	TIMEKEEPER,
	/* Members. */
	PID,
	TGID,
	NAME,
	PRIO,
	POLICY,
	STATE,
	ON_RQ,
	SOFT,
	BASE,
	CLOCKID,
	SLEEPER_TASK,
	TK_LAST,
	TK_MULT,
	TK_SHIFT,
	TK_NSEC,
	TK_BASE,
	TK_REAL,
	CALL_NUMBER,
	CALL_ARGUMENT0,
	CALL_ARGUMENT1,
	CALL_ARGUMENT2,
	CALL_ARGUMENT3,
	CALL_ARGUMENT4,
	/* And the rest. */
	WORD_BYTES,
	NS,
	NEXT_ARGUMENT,
	CALL_IN_REGISTERS,
	CALL_SLEEP,
	CALL_SLEEP32, /* the same, by words of 32 bits */
	ARM_BITS,
	N_VALUES
};
static const char *const names[N_VALUES] = {
	"switch",
	"next",
	"new",
	"wake",
	"call",
	"sleeper",
	"posix",
	"timerfd",
	"real",
	"clock",
	"fault",
	"per_cpu",
	"current",
	"timekeeper",
	"pid",
	"tgid",
	"name",
	"prio",
	"policy",
	"state",
	"on_rq",
	"soft",
	"base",
	"clockid",
	"sleeper_task",
	"tk_last",
	"tk_mult",
	"tk_shift",
	"tk_nsec",
	"tk_base",
	"tk_real",
	"call_number",
	"call_argument0",
	"call_argument1",
	"call_argument2",
	"call_argument3",
	"call_argument4",
	"word_bytes",
	"ns",
	"next_argument",
	"call_in_registers",
	"call_sleep",
	"call_sleep32",
	"arm_bits",
};

struct place {
	enum value what;
	uint32_t ahead_ns; /* QEMU counts a block when it begins */
};

struct thread {
	uint64_t task;
	int tid;
	bool ready; /* it could run and does not */
	int prio, policy;
	char name[COMM + 1];
};

struct passing {
	uint64_t ns;
	unsigned int cpu;
	int tid, prio;
	char name[COMM + 1];
	bool told;
};

/* A global because the interface hands no data to the translation callback. All CPUs share one thread. */
static struct {
	uint64_t values[N_VALUES];
	struct {
		enum value what;
		uint64_t address;
	} places[MOST_PLACES];
	size_t n_places;
	FILE *log;
	uint64_t lines;
	uint64_t running[MOST_CPUS], next[MOST_CPUS], base[MOST_CPUS];
	uint32_t cpus; /* that ran anything, a bit each */
	int processes[MOST_PROCESSES];
	size_t n_processes;
	struct thread threads[MOST_THREADS];
	size_t n_threads, n_ready;
	struct passing ring[RING];
	size_t passed;
	uint32_t calls[CALLS]; /* by number: WAITS, and `waits` of the spec */
	int64_t offset; /* of the kernel's clock from the log's */
	bool offset_told;
	GByteArray *held;
} g;

/* --- the guest ----------------------------------------------------------------------------------- */

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

static uint64_t peek(uint64_t at, size_t bytes)
{
	uint64_t value = 0;

	if (cpu_memory_rw_debug(current_cpu, at, &value, bytes, false))
		return 0;
	return value;
}

static int peek_int(uint64_t at)
{
	return (int)(uint32_t)peek(at, 4);
}

static uint64_t peek_pointer(uint64_t at)
{
	return peek(at, (size_t)g.values[WORD_BYTES]);
}

static uint64_t reg(int number)
{
	uint64_t value = 0;
	int size;

	g_byte_array_set_size(g.held, 0);
	if (g.values[ARM_BITS] == 0)
		size = x86_cpu_gdb_read_register(current_cpu, g.held, number);
	else if (g.values[ARM_BITS] == 64)
		size = aarch64_cpu_gdb_read_register(current_cpu, g.held, number);
	else
		size = arm_cpu_gdb_read_register(current_cpu, g.held, number);
	if (size > 0 && (size_t)size <= sizeof(value))
		memcpy(&value, g.held->data, (size_t)size);
	return value;
}

static uint64_t argument(int number)
{
	static const int x86[] = { 5, 4, 3 }; /* RDI, RSI, RDX as a debugger numbers them */

	return reg(g.values[ARM_BITS] ? number : x86[number]);
}

static uint64_t current_task(unsigned int cpu)
{
	if (!g.values[CURRENT])
		return g.running[cpu];
	if (!g.base[cpu])
		g.base[cpu] = peek_pointer(g.values[PER_CPU] + cpu * g.values[WORD_BYTES]);
	return peek_pointer(g.base[cpu] + g.values[CURRENT]);
}

static int member(uint64_t task, enum value offset)
{
	return task ? peek_int(task + g.values[offset]) : 0;
}

static void read_name(uint64_t task, char name[COMM + 1])
{
	memset(name, 0, COMM + 1);
	cpu_memory_rw_debug(current_cpu, task + g.values[NAME], name, COMM, false);
	for (int i = 0; i < COMM && name[i]; i++)
		if (name[i] < ' ' || name[i] > '~')
			name[i] = '?'; /* a thread calls itself as it likes */
}

/* What the kernel's clock says, worked out as the kernel does; `clock` as hrtimers number them. */
static uint64_t kernel_ns(uint64_t ns, int clock)
{
	uint64_t tk = g.values[TIMEKEEPER];
	uint64_t cycles = ns - peek(tk + g.values[TK_LAST], 8); /* the guest's counter counts the log's ns */
	uint64_t mono = peek(tk + g.values[TK_BASE], 8) +
			((cycles * peek(tk + g.values[TK_MULT], 4) + peek(tk + g.values[TK_NSEC], 8)) >>
			 peek(tk + g.values[TK_SHIFT], 4));

	return clock == 0 ? mono + peek(tk + g.values[TK_REAL], 8) : mono;
}

/* --- the log ------------------------------------------------------------------------------------- */

static void cut(void)
{
	if (g.lines <= MOST_LINES)
		fputs("full\n", g.log);
	g.lines = MOST_LINES + 1;
}

static bool has_room(void)
{
	if (g.lines == MOST_LINES)
		cut();
	return g.lines < MOST_LINES && ++g.lines;
}

static void put(uint64_t ns, char kind, unsigned int cpu, int tid, int64_t a, int64_t b, int64_t c, const char *name)
{
	if (has_room())
		fprintf(g.log, "%" PRIu64 " %c %u %d %" PRId64 " %" PRId64 " %" PRId64 "%s%s\n", ns, kind, cpu, tid, a,
			b, c, name ? " " : "", name ? name : "");
}

static void tell_clock(uint64_t ns, unsigned int cpu)
{
	int64_t offset = (int64_t)(kernel_ns(ns, 1) - ns);

	if (g.offset_told && offset == g.offset)
		return;
	g.offset = offset;
	g.offset_told = true;
	put(ns, 'c', cpu, 0, offset, 0, 0, NULL);
}

/* --- the program's threads ------------------------------------------------------------------------ */

static bool is_ours(uint64_t task)
{
	int tgid = g.n_processes && task ? member(task, TGID) : 0;

	for (size_t i = 0; tgid && i < g.n_processes; i++)
		if (g.processes[i] == tgid)
			return true;
	return false;
}

static struct thread *thread_of(uint64_t task, int tid)
{
	for (size_t i = 0; i < g.n_threads; i++)
		if (g.threads[i].task == task) {
			if (g.threads[i].tid != tid) { /* another in the memory of one that has ended */
				g.n_ready -= g.threads[i].ready;
				g.threads[i] = (struct thread){ .task = task, .tid = tid, .prio = -1 };
			}
			return &g.threads[i];
		}
	if (g.n_threads == MOST_THREADS) {
		cut();
		return &g.threads[0];
	}
	g.threads[g.n_threads] = (struct thread){ .task = task, .tid = tid, .prio = -1 };
	return &g.threads[g.n_threads++];
}

static void set_ready(struct thread *one, bool ready)
{
	g.n_ready += (size_t)ready - (size_t)one->ready;
	one->ready = ready;
}

static struct thread *seen(uint64_t ns, unsigned int cpu, uint64_t task)
{
	struct thread *one = thread_of(task, member(task, PID));
	int prio = member(task, PRIO), policy = member(task, POLICY);
	char name[COMM + 1];

	read_name(task, name);
	if (prio != one->prio || policy != one->policy || strcmp(name, one->name)) {
		one->prio = prio;
		one->policy = policy;
		memcpy(one->name, name, sizeof(name));
		put(ns, 'n', cpu, one->tid, member(task, TGID), prio, policy, name);
	}
	return one;
}

static void tell_passing(struct passing *one)
{
	if (!one->told)
		put(one->ns, 'r', one->cpu, one->tid, one->prio, 0, 0, one->name);
	one->told = true;
}

/* Who ran since then on each CPU, those that ran at that moment too. */
static void tell_since(uint64_t ns)
{
	uint32_t done = 0;

	for (size_t back = 1; back <= RING && back <= g.passed && done != g.cpus; back++) {
		struct passing *one = &g.ring[(g.passed - back) % RING];
		uint32_t cpu = UINT32_C(1) << one->cpu;

		if (done & cpu)
			continue;
		tell_passing(one);
		done |= one->ns < ns ? cpu : 0;
	}
}

static void on_switch(uint64_t ns, unsigned int cpu)
{
	uint64_t last = g.running[cpu], task = g.values[CURRENT] ? current_task(cpu) : g.next[cpu];
	struct passing *passing;

	if (!task || task == last)
		return;
	g.running[cpu] = task;
	g.cpus |= UINT32_C(1) << cpu;
	passing = &g.ring[g.passed++ % RING];
	*passing = (struct passing){ ns, cpu, member(task, PID), member(task, PRIO), "", false };
	read_name(task, passing->name);
	if (!g.n_processes)
		return;
	if (is_ours(last)) {
		struct thread *one = seen(ns, cpu, last);
		bool on = member(last, ON_RQ);

		set_ready(one, on);
		put(ns, 'o', cpu, one->tid, on ? 0 : member(last, STATE), passing->tid, 0, NULL);
	}
	if (is_ours(task)) {
		struct thread *one = seen(ns, cpu, task);

		set_ready(one, false);
		passing->told = true;
		put(ns, 'i', cpu, one->tid, 0, 0, 0, NULL);
	} else if (g.n_ready) {
		tell_passing(passing);
	}
}

/* A thread or process begins. */
static void on_new(uint64_t ns, unsigned int cpu)
{
	uint64_t from = current_task(cpu), task = argument(0);
	char name[COMM + 1];

	if (is_ours(task) || member(task, TGID) == member(from, TGID))
		return;
	read_name(from, name);
	if (!is_ours(from) && (g.n_processes || strcmp(name, "rtqual-program")))
		return;
	if (g.n_processes == MOST_PROCESSES || !g.values[TIMEKEEPER]) {
		cut();
		return;
	}
	g.processes[g.n_processes++] = member(task, TGID);
	tell_clock(ns, cpu);
}

static void on_wake(uint64_t ns, unsigned int cpu)
{
	uint64_t task = argument(0);

	if (!is_ours(task) || !((uint32_t)member(task, STATE) & (uint32_t)argument(1)))
		return;
	set_ready(seen(ns, cpu, task), true);
	tell_since(ns); /* who runs as it becomes ready */
	put(ns, 'w', cpu, member(task, PID), member(current_task(cpu), PID), 0, 0, NULL);
}

static uint64_t call_word(uint64_t regs, int which)
{
	if (g.values[CALL_IN_REGISTERS])
		return reg(which == 0 ? 7 : which - 1);
	return peek_pointer(regs + g.values[CALL_NUMBER + which]);
}

/* Whether a call waits for no time. */
static bool only_looks(uint64_t regs, uint32_t waits)
{
	uint64_t most;

	if (!(waits >> AT_MOST_SHIFT & AT_MOST))
		return false;
	most = call_word(regs, (int)(waits >> AT_MOST_SHIFT & AT_MOST));
	if (waits & BY_ADDRESS)
		return most && !peek(most, 8) && !peek(most + 8, 8);
	return !(uint32_t)most;
}

static void on_call(uint64_t ns, unsigned int cpu)
{
	uint64_t regs, number, until, asked;
	uint64_t task = current_task(cpu);
	size_t seconds_bytes;
	int clock;

	if (!is_ours(task))
		return;
	regs = argument(0);
	number = call_word(regs, 0) & 0xffffffff;
	if (number >= CALLS || !g.calls[number] || only_looks(regs, g.calls[number]))
		return;
	asked = call_word(regs, 2);
	clock = (int)call_word(regs, 1);
	if (number == g.values[CALL_SLEEP] || number == g.values[CALL_SLEEP32]) {
		seconds_bytes = number == g.values[CALL_SLEEP] ? 8 : 4;
		until = (asked & CLOCK_NANOSLEEP_ABSOLUTE) && clock < CLOCKS ? call_word(regs, 3) : 0;
		asked = until ? peek(until, seconds_bytes) * 1000000000 + peek(until + seconds_bytes, 4) : 0;
		asked = until ? ns - (kernel_ns(ns, clock) - asked) : 0;
	}
	put(ns, 's', cpu, member(task, PID), (int64_t)number, (int64_t)call_word(regs, 1), (int64_t)asked, NULL);
}

static void on_fault(uint64_t ns, unsigned int cpu)
{
	uint64_t task = current_task(cpu);

	if (is_ours(task))
		put(ns, 'f', cpu, member(task, PID), 0, 0, 0, NULL);
}

static void on_timer(uint64_t ns, unsigned int cpu, enum value what)
{
	uint64_t timer = argument(0), task, due;
	int clock = peek_int(peek_pointer(timer + g.values[BASE]) + g.values[CLOCKID]);

	if (!g.n_processes)
		return;
	due = ns - (kernel_ns(ns, clock) - peek(timer + g.values[SOFT], 8));
	task = what == SLEEPER ? peek_pointer(timer + g.values[SLEEPER_TASK]) : 0;
	if (what == SLEEPER && !is_ours(task))
		return;
	tell_clock(ns, cpu);
	if ((int64_t)(ns - due) > LATE_NS)
		tell_since(due);
	if (what == SLEEPER)
		put(ns, 'x', cpu, member(task, PID), (int64_t)due, 0, 0, NULL);
	else
		put(ns, 't', cpu, 0, (int64_t)due, (int64_t)timer, member(current_task(cpu), PID), NULL);
}

/* --- QEMU ---------------------------------------------------------------------------------------- */

static void at(unsigned int cpu, void *data)
{
	const struct place *place = data;
	uint64_t ns;

	if (cpu >= MOST_CPUS)
		return;
	ns = now_ns() - place->ahead_ns;
	switch (place->what) {
	case SWITCH:
		on_switch(ns, cpu);
		break;
	case NEXT:
		g.next[cpu] = argument((int)g.values[NEXT_ARGUMENT]);
		break;
	case NEW:
		on_new(ns, cpu);
		break;
	case WAKE:
		on_wake(ns, cpu);
		break;
	case CALL:
		on_call(ns, cpu);
		break;
	case FAULT:
		on_fault(ns, cpu);
		break;
	case CLOCK:
		g.values[TIMEKEEPER] = argument(0);
		break;
	default:
		on_timer(ns, cpu, place->what);
	}
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t start = qemu_plugin_tb_vaddr(tb);

	(void)id;
	for (size_t i = 0; i < g.n_places; i++) {
		struct place *place;

		if (start != g.places[i].address)
			continue;
		place = malloc(sizeof(*place)); /* QEMU never says that it needs it no more */
		if (!place)
			abort();
		*place = (struct place){ g.places[i].what, (uint32_t)(qemu_plugin_tb_n_insns(tb) * g.values[NS]) };
		qemu_plugin_register_vcpu_tb_exec_cb(tb, at, QEMU_PLUGIN_CB_NO_REGS, place);
	}
}

static void finish(qemu_plugin_id_t id, void *unused)
{
	(void)id;
	(void)unused;
	if (g.lines <= MOST_LINES)
		fputs("end\n", g.log);
	fclose(g.log);
}

static bool read_spec(const char *path)
{
	char line[128], name[32];
	FILE *from = fopen(path, "re");
	uint64_t value;
	bool good = true;

	while (from && good && fgets(line, sizeof(line), from)) {
		int i = 0;

		good = sscanf(line, "%31s %" SCNx64, name, &value) == 2;
		if (good && !strcmp(name, "waits")) {
			good = (value & NUMBER) < CALLS &&
			       (value >> AT_MOST_SHIFT & AT_MOST) <= CALL_ARGUMENT4 - CALL_NUMBER;
			if (good)
				g.calls[value & NUMBER] = (uint32_t)value | WAITS;
			continue;
		}
		while (i < N_VALUES && strcmp(name, names[i]))
			i++;
		good = good && i < N_VALUES && (i >= N_PLACES || g.n_places < MOST_PLACES);
		if (good && i < N_PLACES) {
			g.places[g.n_places].what = (enum value)i;
			g.places[g.n_places++].address = value;
		}
		if (good)
			g.values[i] = value;
	}
	if (from)
		fclose(from);
	return from && good && g.values[SWITCH] && g.values[NS] && g.values[WORD_BYTES];
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 2 || strncmp(argv[0], "spec=", 5) || strncmp(argv[1], "log=", 4) || !read_spec(argv[0] + 5))
		return -1;
	if (!(g.values[ARM_BITS] == 0  ? x86_cpu_gdb_read_register :
	      g.values[ARM_BITS] == 64 ? aarch64_cpu_gdb_read_register :
					 arm_cpu_gdb_read_register)) {
		fputs("jobs: this QEMU does not tell registers\n", stderr);
		return -1;
	}
	g.log = fopen(argv[1] + 4, "we");
	if (!g.log) {
		perror("jobs: the log cannot be opened");
		return -1;
	}
	g.held = g_byte_array_new();
	qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
	qemu_plugin_register_atexit_cb(id, finish, NULL);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * clock - keep QEMU's instruction clock repeatable.
 *
 * Idle: a CPU that halts is seen as idle by QEMU's other thread a moment before the instructions it executed are
 * counted. If that thread happens to look just then, it moves the clock on to the next timer from a count that lags. So
 * they are counted before the halt.
 *
 * Pausing: a guest that asks to be paused would go on, or be taken for idle, until QEMU's other thread comes round to
 * it. With the argument pause=on it is held at the agent's mark until the machine is stopped.
 *
 * Several CPUs: under -icount they run in turn on one thread, and a turn lasts until the next timer is due. A CPU that
 * spins until another one has done something leaves it no time to do it, and Linux stops where it starts its second CPU.
 * So a turn has to end earlier, and to keep a run repeatable it has to end by a count of instructions, not by a host
 * timer.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "insns.h"
#include "plugin.h"

/*
 * The longest turn, in guest instructions. The other CPUs wait for its end, so it is part of the latencies that the
 * guest measures; the shorter it is, the slower the host gets through a run.
 */
#define TURN_INSNS 2000

/* Not part of that interface, which can neither end a turn nor count; but QEMU exports them. */
struct CPUState;
struct CPUState *qemu_get_cpu(int index);
void cpu_exit(struct CPUState *cpu);
void icount_update(struct CPUState *cpu);
bool runstate_is_running(void);

/* QEMU looks this and qemu_plugin_install() up by name. */
const int qemu_plugin_version = PLUGIN_INTERFACE;

/*
 * Instructions since the last turn was ended. It is a global because QEMU hands the translation callback no user data,
 * and the only word that an execution callback gets already holds the block's length. One count serves all CPUs, since
 * they share a thread.
 */
static size_t insns;

static void count_insns(unsigned int vcpu_index, void *n_insns)
{
	insns += (uintptr_t)n_insns;
	if (insns < TURN_INSNS)
		return;

	insns = 0;
	cpu_exit(qemu_get_cpu((int)vcpu_index));
}

static void count_before_halt(unsigned int vcpu_index, void *unused)
{
	(void)unused;
	icount_update(qemu_get_cpu((int)vcpu_index));
}

static void hold_until_stopped(unsigned int vcpu_index, void *unused)
{
	(void)vcpu_index;
	(void)unused;
	while (runstate_is_running())
		usleep(1000);
}

static void instrument_tb(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t n_insns = qemu_plugin_tb_n_insns(tb);
	struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(tb, n_insns - 1);

	(void)id;
	if (qemu_plugin_num_vcpus() > 1)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, count_insns, QEMU_PLUGIN_CB_NO_REGS, (void *)n_insns);
	if (is_halt(last)) /* a halt ends its block */
		qemu_plugin_register_vcpu_insn_exec_cb(last, count_before_halt, QEMU_PLUGIN_CB_NO_REGS, NULL);
}

static void instrument_mark(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	instrument_tb(id, tb);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (is_mark(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, hold_until_stopped, QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	bool pause = argc == 1 && !strcmp(argv[0], "pause=on");

	(void)info;
	if (argc && !pause)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, pause ? instrument_mark : instrument_tb);
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * channel - what QEMU's own devices do on other boards, on one that has none: tell the host that the guest is ready to
 * be saved, hand in the job, end QEMU. The guest asks at the agent's mark (machine_pi.c), and no time passes for it.
 *
 * With pause=on it is held there until the machine is stopped, as clock.c does where a device tells the host.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "channel.h"
#include "insns.h"
#include "qemu.h"

/* QEMU looks this and qemu_plugin_install() up by name. */
const int qemu_plugin_version = PLUGIN_INTERFACE;

/* Exported, but not part of the interface. The lock has another name from QEMU 9.0 on. */
void qemu_system_guest_panicked(void *information);
void qemu_system_shutdown_request(int cause);
bool runstate_is_running(void);
void qemu_mutex_lock_iothread_impl(const char *file, int line) __attribute__((weak));
void qemu_mutex_unlock_iothread(void) __attribute__((weak));
void bql_lock_impl(const char *file, int line) __attribute__((weak));
void bql_unlock(void) __attribute__((weak));

enum { GUEST_SHUTDOWN = 6 }; /* qapi/run-state.json: ShutdownCause */
enum { WHAT, AT };      /* registers */

/* A global because the interface hands no data to the translation callback. */
static struct {
	const char *job_path;
	bool pauses;
	struct channel_job job;
} g;

static uint64_t read_register(int number)
{
	static GByteArray *bytes;
	uint64_t value = 0;

	if (!bytes)
		bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, 0);
	aarch64_cpu_gdb_read_register(current_cpu, bytes, number);
	memcpy(&value, bytes->data, bytes->len < sizeof(value) ? bytes->len : sizeof(value));
	return value;
}

static void hold(void)
{
	while (runstate_is_running())
		usleep(1000);
}

/* The monitor tells of a panic, which is what saving waits for on every board. */
static void tell_host(void)
{
	if (bql_lock_impl)
		bql_lock_impl(__FILE__, __LINE__);
	else
		qemu_mutex_lock_iothread_impl(__FILE__, __LINE__);
	qemu_system_guest_panicked(NULL);
	if (bql_unlock)
		bql_unlock();
	else
		qemu_mutex_unlock_iothread();
}

static void hand_in(uint64_t at)
{
	FILE *file = g.job_path ? fopen(g.job_path, "re") : NULL;

	g.job.size = file ? fread(g.job.text, 1, sizeof(g.job.text), file) : 0;
	if (file && fgetc(file) != EOF) {
		fprintf(stderr, "channel: the job is longer than %d octets\n", CHANNEL_JOB_SIZE);
		g.job.size = 0;
	}
	if (file)
		fclose(file);
	if (cpu_memory_rw_debug(current_cpu, at, &g.job, sizeof(g.job.size) + g.job.size, true))
		fprintf(stderr, "channel: the guest has no memory for the job\n");
}

static void serve(unsigned int vcpu_index, void *unused)
{
	(void)vcpu_index;
	(void)unused;
	switch (read_register(WHAT)) {
	case CHANNEL_PAUSE:
		if (!g.pauses)
			return;
		tell_host();
		hold();
		break;
	case CHANNEL_JOB:
		hand_in(read_register(AT));
		break;
	case CHANNEL_LEAVE:
		qemu_system_shutdown_request(GUEST_SHUTDOWN);
		hold();
		break;
	}
}

static void instrument(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

		if (is_mark(insn))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, serve, QEMU_PLUGIN_CB_NO_REGS, NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	static const char job[] = "job=";

	(void)info;
	if (!aarch64_cpu_gdb_read_register)
		return -1;
	for (int i = 0; i < argc; i++) {
		if (!strcmp(argv[i], "pause=on"))
			g.pauses = true;
		else if (!strncmp(argv[i], job, strlen(job)))
			g.job_path = strdup(argv[i] + strlen(job)); /* for as long as QEMU runs */
		else
			return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, instrument);
	return 0;
}

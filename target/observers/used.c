// SPDX-License-Identifier: MIT
/*
 * used - note which code of the guest's kernel is executed.
 *
 * QEMU translates a block of instructions when it is first about to run, so the blocks translated are the code that
 * ran. Their addresses go into the file given as log=FILE, eight bytes each in the host's order, as they come: QEMU may
 * be killed at any time. Some addresses come more than once. Neither the guest nor its clock is changed.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "plugin.h"

/* Addresses noted last, to leave most of the repetitions out. */
#define SLOTS 65536

/* QEMU looks this and qemu_plugin_install() up by name. */
const int qemu_plugin_version = PLUGIN_INTERFACE;

/* A global because the interface hands no data to the translation callback. */
static int log_fd;
static uint64_t noted[SLOTS];

static void note(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint64_t address = qemu_plugin_tb_vaddr(tb);
	size_t slot = (address >> 1) % SLOTS;

	(void)id;
	if (!(address >> 63) || noted[slot] == address) /* the kernel lies in the upper half */
		return;
	noted[slot] = address;
	if (write(log_fd, &address, sizeof(address)) != sizeof(address)) {
		perror("used: the log cannot be written");
		_exit(1);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv)
{
	static const char key[] = "log=";

	(void)info;
	if (argc != 1 || strncmp(argv[0], key, strlen(key)))
		return -1;
	log_fd = open(argv[0] + strlen(key), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (log_fd < 0) {
		perror("used: the log cannot be opened");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, note);
	return 0;
}

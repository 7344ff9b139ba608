/* SPDX-License-Identifier: MIT */
/*
 * QEMU's plugin interface, as far as our plugins use it; Debian ships no header for it.
 *
 * It comes in two versions that matter here: 1, which QEMU has up to 8.2 (Debian 12: 7.2), and 3, which QEMU has from
 * 9.1 on (Debian 13: 10.0) and which copies an instruction's bytes. Each plugin is built for both (meson.build), and
 * engine/boards/machine.py gives QEMU the one that it takes.
 */
#ifndef PLUGIN_H
#define PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef PLUGIN_INTERFACE
#define PLUGIN_INTERFACE 1
#endif

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t qemu_plugin_id_t;
typedef void (*vcpu_tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*vcpu_udata_cb_t)(unsigned int vcpu_index, void *userdata);
typedef void (*vcpu_mem_cb_t)(unsigned int vcpu_index, uint32_t info, uint64_t vaddr, void *userdata);
typedef void (*udata_cb_t)(qemu_plugin_id_t id, void *userdata);
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, vcpu_udata_cb_t cb,
					    enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, vcpu_tb_trans_cb_t cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, vcpu_udata_cb_t cb,
					  enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, vcpu_mem_cb_t cb, enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw rw, void *userdata);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, udata_cb_t cb, void *userdata);

#if PLUGIN_INTERFACE == 1
#define qemu_plugin_num_vcpus qemu_plugin_n_vcpus
#define insn_bytes qemu_plugin_insn_data

int qemu_plugin_n_vcpus(void);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
#else
int qemu_plugin_num_vcpus(void);
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *insn, void *to, size_t size);

/* They hold until the next call: all CPUs of a guest under the instruction clock share one thread. */
static inline const uint8_t *insn_bytes(const struct qemu_plugin_insn *insn)
{
	static uint8_t bytes[16]; /* no processor of ours has longer instructions */

	qemu_plugin_insn_data(insn, bytes, sizeof(bytes));
	return bytes;
}
#endif

#endif

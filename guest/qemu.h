/* SPDX-License-Identifier: MIT */
/* What watch.c uses of QEMU. */
#ifndef QEMU_H
#define QEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* QEMU's plugin interface; Debian ships no header for it. */
struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t qemu_plugin_id_t;
typedef void (*vcpu_tb_trans_cb_t)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);
typedef void (*vcpu_udata_cb_t)(unsigned int vcpu_index, void *userdata);
typedef void (*udata_cb_t)(qemu_plugin_id_t id, void *userdata);
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

int qemu_plugin_n_vcpus(void);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn, vcpu_udata_cb_t cb,
					    enum qemu_plugin_cb_flags flags, void *userdata);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, vcpu_tb_trans_cb_t cb);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb, vcpu_udata_cb_t cb,
					  enum qemu_plugin_cb_flags flags, void *userdata);
typedef void (*vcpu_mem_cb_t)(unsigned int vcpu_index, uint32_t info, uint64_t vaddr, void *userdata);
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_W = 2 };
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, vcpu_mem_cb_t cb, enum qemu_plugin_cb_flags flags,
				      enum qemu_plugin_mem_rw rw, void *userdata);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id, udata_cb_t cb, void *userdata);

/* Not part of that interface, which knows neither time nor memory; but QEMU exports them. */
struct CPUState;
extern __thread struct CPUState *current_cpu;
void icount_update(struct CPUState *cpu);
int64_t icount_get(void);
int cpu_memory_rw_debug(struct CPUState *cpu, uint64_t addr, void *ptr, uint64_t len, bool is_write);

/* Nor registers. Only QEMU for ARM has these, which give a register as a debugger would have it. */
typedef struct {
	uint8_t *data;
	unsigned int len;
} GByteArray;
GByteArray *g_byte_array_new(void);
GByteArray *g_byte_array_set_size(GByteArray *array, unsigned int length);
int arm_cpu_gdb_read_register(struct CPUState *cpu, GByteArray *to, int number) __attribute__((weak));
int aarch64_cpu_gdb_read_register(struct CPUState *cpu, GByteArray *to, int number) __attribute__((weak));

#endif

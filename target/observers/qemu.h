/* SPDX-License-Identifier: MIT */
/* What watch.c and scene.c use of QEMU. */
#ifndef QEMU_H
#define QEMU_H

#include "plugin.h"

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

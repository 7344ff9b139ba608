/* SPDX-License-Identifier: MIT */
/* What watch.c notes, and which instructions these are: watch_x86.c, watch_arm.c. */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct CPUState;

enum {
	SWITCH = 'S', /* another thread runs from here on: its task_struct */
	INTERRUPT = 'I', /* entries of the kernel: the function */
	SYSCALL = 'E',
	EXCEPTION = 'X',
	LEAVE = 'O', /* back from there: where */
	READING = 'R', /* the counter is read (under Linux, by user space): where */
	HALT = 'H',
	NEXT = 'x', /* never written: __switch_to, whose argument is the thread of the next SWITCH (ARM) */
	/* not counted */
	TURN = 'a', /* another CPU has its turn, and what follows is of it: its number */
	CLOCK = 'g', /* the kernel takes another clock, or the same at another rate: the function */
	NAME = 'n', /* of the thread of the next SWITCH, in two records: 16 bytes */
	PRIORITY = 'y', /* of that thread, as the kernel counts: below 100 real-time */
	IRQS_OFF = 'c', /* a long section without interrupts: from */
	IRQS_ON = 't', /* and to */
	PREEMPT_OFF = 'p', /* and one without preemption */
	PREEMPT_ON = 'q',
	/* in windows only */
	BLOCK = 'b', /* a block: its address */
	CALL = 'k', /* that block ends with a call: where it returns to */
	CLI = 'v',
	STI = 'w',
	COUNT = 'm', /* preempt_count from here on */
	RECOUNT = 'r', /* never written: preempt_count may have changed by what a register held */
	STORE = 'u', /* never written either: preempt_count may be stored */
	MASK = 'f', /* never written: a block that may begin with another mask than the one before it */
	STATE = 's', /* at a window's first event: 1 if interrupts are on; the section began then */
	ENDED = 'z', /* the log is whole: the number of events */
};

/* The kind of an instruction, or 0. `count`: where preempt_count lies in a CPU's variables, or 0 if it is not watched. */
char kind_of(const uint8_t *bytes, size_t size, uint64_t address, uint64_t count);

/* What an instruction of kind COUNT adds to it. */
int32_t count_change(const uint8_t *bytes, size_t size, uint64_t address, uint64_t count);

bool is_call(const uint8_t *bytes, size_t size);

/* How to read ARM's instructions. */
struct arm {
	bool wide; /* 64 bits */
	bool thumb; /* else A32 */
	uint64_t kernel; /* its lowest address */
	uint64_t count; /* how far in a task preempt_count lies; 0: it has an address of its own */
};

char arm_kind_of(const uint8_t *bytes, size_t size, uint64_t address, const struct arm *arm);

bool arm_is_call(const uint8_t *bytes, size_t size, const struct arm *arm);

/* Whether an instruction of 4 bytes may change the mask. */
bool arm_masks(const uint8_t *bytes, const struct arm *arm);

/* Whether this QEMU has what the following need. */
bool arm_is_offered(bool wide);

bool arm_interrupts_on(struct CPUState *cpu, bool wide);

/* At the first instruction of Linux's __switch_to or cpu_switch_to: the thread that runs next. */
uint64_t arm_argument(struct CPUState *cpu, bool wide);

/* What a CPU of 32 bits is about to run. */
bool arm_is_thumb(struct CPUState *cpu);

#endif

/* SPDX-License-Identifier: MIT */
/* What the port needs of the machine below FreeRTOS: virt/ is an ARM board of QEMU, posix/ FreeRTOS's simulator. */
#ifndef RTQUAL_MACHINE_H
#define RTQUAL_MACHINE_H

#include "port.h"

/* Ready the clock and the output, given main's arguments. Returns NULL, or the reason for a failure. */
const char *machine_start(int count, char **words);
/* The words of the command line, the program's name left out; at most `most` of them. */
int machine_arguments(const char **words, int most);
/* Ends the program. */
void machine_exit(int code) __attribute__((noreturn));

uint64_t machine_now_ns(void);
uint64_t machine_cycles(void);
uint64_t machine_cycles_per_s(void);
uint64_t machine_clock_step_ns(void);

/* The time of the first tick at or after a time, where the machine knows when ticks come; else that time. */
uint64_t machine_tick_from(uint64_t from_ns);

/* Ticks from now until the first at or after a time that lies ahead, as near as the machine can tell; at least 1. */
TickType_t machine_ticks_until(uint64_t due_ns);

/* A timer beside the tick's, whose interrupt calls port_alarm_expired() at `due_ns`; false if there is none. */
bool machine_alarm_offered(void);
void machine_alarm_set(uint64_t due_ns);
/* In timer.c, called from the interrupt. */
void port_alarm_expired(void);

enum port_status machine_disturbance(struct port_disturbance *disturbance);
uint32_t *machine_sample_memory(size_t *capacity);
enum port_status machine_write(const char *bytes, size_t count);

#endif

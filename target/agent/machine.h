/* SPDX-License-Identifier: MIT */
/* How rtqual-agent reaches the devices of a virtual board. */
#ifndef RTQUAL_MACHINE_H
#define RTQUAL_MACHINE_H

#include <stdint.h>

void die(const char *format, ...) __attribute__((noreturn, format(printf, 1, 2)));
void sleep_ns(int64_t ns);

/* QEMU's fw_cfg device: choose an item, then read it byte by byte. */
void machine_fw_select(uint16_t item);
uint8_t machine_fw_byte(void);

/* Tell the host that the guest is ready to be saved, and wait at clock.c's mark meanwhile. */
void machine_pause(void);

/* Time since the machine was switched on, in ns. Includes firmware, and a kernel that unpacks itself. */
uint64_t machine_now_ns(void);

/* Leave the emulator. */
void machine_leave(int code) __attribute__((noreturn));

#endif

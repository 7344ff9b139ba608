/* SPDX-License-Identifier: MIT */
#ifndef RTQUAL_SYLIXOS_BOARD_H
#define RTQUAL_SYLIXOS_BOARD_H

#include <stdint.h>

enum { BOARD_PRIORITY_MAIN = 150 };
#ifndef BOARD_LOG
#define BOARD_LOG "no"
#endif

/* A tick of 1 ms for sleeps and high-speed timers; the thread of application timers runs every so many of them. */
#ifndef BOARD_TICK_US
#define BOARD_TICK_US "1000"
#endif
#ifndef BOARD_RATES
#define BOARD_RATES "hz=1000 hhz=1000 irate=1"
#endif

/* The first thread. When it returns the board is switched off. */
void board_main(void);
uint64_t board_next_tick_ns(void);
uint64_t board_tick_ns(void);

#endif

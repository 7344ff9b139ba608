/* SPDX-License-Identifier: MIT */
/* System time and its one alarm, by the architecture's virtual timer: what ChibiOS's kernel asks where it is tickless. */
#ifndef CHCORE_TIMER_H
#define CHCORE_TIMER_H

#include "virt_devices.h"

enum { PORT_TIMER_OFF, PORT_TIMER_ENABLED };

static inline uint64_t port_timer_get_time(void)
{
	return read_counter();
}

static inline void port_timer_control(uint32_t value)
{
	__asm__ volatile("mcr p15, 0, %0, c14, c3, 1\n\tisb" : : "r"(value)); /* CNTV_CTL */
}

static inline void port_timer_set_alarm(uint64_t due)
{
	__asm__ volatile("mcrr p15, 3, %Q0, %R0, c14\n\tisb" : : "r"(due)); /* CNTV_CVAL */
}

static inline void port_timer_start_alarm(uint64_t due)
{
	port_timer_set_alarm(due);
	port_timer_control(PORT_TIMER_ENABLED);
}

static inline void port_timer_stop_alarm(void)
{
	port_timer_control(PORT_TIMER_OFF);
}

#endif

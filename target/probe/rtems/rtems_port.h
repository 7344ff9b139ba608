/* SPDX-License-Identifier: MIT */
/* What the files of the RTEMS port share. */
#ifndef RTQUAL_RTEMS_PORT_H
#define RTQUAL_RTEMS_PORT_H

#include "rtos.h"

enum { RTEMS_PORT_TICK_NS = 1000000 };

/* PORT_OK, or PORT_FAILED with what failed kept. */
enum port_status rtems_port_done(rtems_status_code code, const char *what);

/* Ready what is measured with. */
enum port_status rtems_port_setup(void);

#endif

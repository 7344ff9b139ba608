/* SPDX-License-Identifier: MIT */
#ifndef RTQUAL_FREERTOS_PORT_H
#define RTQUAL_FREERTOS_PORT_H

#include "machine.h"

/* Keep the text for port_failure(); returns the status. */
enum port_status freertos_fail(enum port_status status, const char *why);

#endif

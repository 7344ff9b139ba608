/* SPDX-License-Identifier: MIT */
/* What the files of the EVL port share. What is the same as on Linux they take from linux.h. */
#ifndef RTQUAL_EVL_PORT_H
#define RTQUAL_EVL_PORT_H

#include "linux.h"

/* What a call of libevl returned, 0 or more or a negative errno, as a status; a failure is noted. */
enum port_status evl_status(int result, const char *what);

/* Whether the calling thread is the Linux end of a pipe: a thread below PORT_HIGH. */
bool evl_linux_end(void);

struct timespec evl_timespec(uint64_t time_ns);

#endif

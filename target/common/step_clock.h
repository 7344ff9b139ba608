/* SPDX-License-Identifier: MIT */
/* Sets the real-time clock forwards or back. Returns why it could not, or NULL. */
#ifndef COMMON_STEP_CLOCK_H
#define COMMON_STEP_CLOCK_H

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

static inline const char *step_clock(int64_t by_ns)
{
	const int64_t second = 1000000000;
	struct timespec now;
	int64_t to_ns;

	clock_gettime(CLOCK_REALTIME, &now);
	to_ns = now.tv_sec * second + now.tv_nsec + by_ns;
	if (to_ns < 0)
		return "the clock would be before 1970";
	now.tv_sec = to_ns / second;
	now.tv_nsec = to_ns % second;
	return clock_settime(CLOCK_REALTIME, &now) ? strerror(errno) : NULL;
}

#endif

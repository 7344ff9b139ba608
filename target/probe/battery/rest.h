/* SPDX-License-Identifier: MIT */
/*
 * Benchmarks that repeat an operation without pause rest now and then for as long as they worked. Linux takes a CPU
 * away from real-time threads that use more than 950 ms of a second, and lets them wait 50 ms: no sample must contain
 * that. Resting also keeps a benchmark at real-time priority from starving a small system.
 */
#ifndef RTQUAL_REST_H
#define RTQUAL_REST_H

#include "battery.h"

struct rest {
	struct port_timer timer;
	uint64_t since_ns;
};

enum { REST_EVERY = 256 }; /* iterations */

static inline enum port_status rest_open(struct rest *rest)
{
	TRY(port_timer_open(&rest->timer, PORT_PATH_SLEEP));
	rest->since_ns = port_now_ns();
	return PORT_OK;
}

static inline enum port_status rest_take(struct rest *rest)
{
	uint64_t now_ns = port_now_ns();
	enum port_status status = port_timer_wait(&rest->timer, now_ns + (now_ns - rest->since_ns));

	rest->since_ns = port_now_ns();
	return status;
}

/* At the end of iteration `i`, outside of what is measured. */
static inline enum port_status rest_after(struct rest *rest, uint32_t i)
{
	return i % REST_EVERY == REST_EVERY - 1 ? rest_take(rest) : PORT_OK;
}

static inline void rest_close(struct rest *rest)
{
	port_timer_close(&rest->timer);
}

#endif

/* SPDX-License-Identifier: MIT */
/* What a guest without QEMU's own devices asks for at the agent's mark: channel.c answers machine_pi.c. */
#ifndef CHANNEL_H
#define CHANNEL_H

#include <stdint.h>

/* In the first register; the second has an address. */
enum { CHANNEL_PAUSE = 1, CHANNEL_JOB, CHANNEL_LEAVE };
enum { CHANNEL_JOB_SIZE = 1 << 20 };

struct channel_job {
	uint64_t size; /* 0 where there is none */
	uint8_t text[CHANNEL_JOB_SIZE];
};

#endif

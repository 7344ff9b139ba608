/* SPDX-License-Identifier: MIT */
/* One connection to a USB host: bytes of a socket to the device and back, frames in time, commands from a FIFO. */
#ifndef EMULATOR_SESSION_H
#define EMULATOR_SESSION_H

#include "device.h"
#include "server.h"

enum session_end {
	SESSION_HOST_LEFT, /* the other side closed or broke the connection */
	SESSION_UNPLUGGED, /* by a fault: device->replug_ms says for how long */
	SESSION_DONE,      /* all frames asked for were sent */
	SESSION_SIGNAL,    /* SIGTERM or SIGINT */
};

struct session {
	struct device *device;
	struct server *server; /* NULL: attached to this machine */
	int socket; /* the host's */
	int signals; /* signalfd */
	int control; /* FIFO, or -1 */
	char line[64]; /* the command read from the FIFO so far */
	unsigned int line_length;
};

uint64_t monotonic_ns(void);
/* Talks with the host at `socket` until the connection ends; closes nothing. */
enum session_end session_run(struct session *session);
/* Waits `ms` milliseconds; only signals and commands are handled. Returns SESSION_SIGNAL, or SESSION_HOST_LEFT: go on.
 */
enum session_end session_wait(struct session *session, uint64_t ms);
/* Waits until a client of the server has imported the camera; returns like session_wait(). */
enum session_end session_await_host(struct session *session);

#endif

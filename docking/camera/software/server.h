/* SPDX-License-Identifier: MIT */
/*
 * The TCP side of USB/IP: lists the camera for the standard `usbip` tools and hands it to one client at a time.
 *
 * Callers are clients that have not imported the camera. No call here waits for any of them, so none holds up another:
 * the owner polls all their sockets together, with its own.
 */
#ifndef EMULATOR_SERVER_H
#define EMULATOR_SERVER_H

#include <poll.h>
#include <stdbool.h>

#include "device.h"

enum { CALLERS = 8, SERVER_POLLED = CALLERS + 1, ASKED_MOST = 40, PATIENCE_MS = 5000 };

struct caller {
	int socket; /* -1: this place is free */
	uint64_t until_ns; /* when it is given up */
	uint8_t asked[ASKED_MOST]; /* its request so far */
	uint32_t have;
};

struct server {
	const struct settings *settings;
	int listener;
	int host; /* the client that has imported the camera; -1: none */
	struct caller callers[CALLERS];
};

/* Dies with a line on what is needed if this is no `[ADDRESS:]PORT`. */
void server_check(const char *where);
/* Listens at `[ADDRESS:]PORT` and prints where. The default address is 127.0.0.1, since connections are not protected.
 */
void server_listen(struct server *server, const struct settings *settings, const char *where);
/* What to poll, in SERVER_POLLED places, and until when at most. */
uint64_t server_polled(const struct server *server, struct pollfd *polled);
/* Takes what came from callers, answers them, gives up those that are late, accepts the next. */
void server_serve(struct server *server, const struct pollfd *polled, uint64_t now_ns);
/* Answers those who waited for the host to go; call it when `host` has been closed. */
void server_free(struct server *server);
void server_close(struct server *server);

#endif

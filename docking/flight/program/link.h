/* SPDX-License-Identifier: MIT */
/* Those at the other end. */
#ifndef FLIGHT_LINK_H
#define FLIGHT_LINK_H

#include "cobs.h"
#include "world.h"

enum {
	LINK_CONNECTIONS = 4,
	LINK_SERIAL = LINK_CONNECTIONS, /* the serial line's place, after those of TCP */
	LINK_PEERS,
	LINK_PATIENCE_MS = 1000, /* for the rest of a packet */
	LINK_LINGER_MS = 300, /* for the report on garbage, before its connection is closed */
	LINK_REST_MS = 100, /* before a serial line without another end is tried again */
	LINK_WINDOW_MS = 10, /* in which, from each ground, */
	LINK_MOST = 10, /* telecommands are taken; the rest waits, so that a flood takes no frame its time */
};

struct peer {
	int fd; /* -1: none */
	bool serial, overrun; /* overrun: the frame was too long already */
	size_t have, waiting; /* octets in `in`, `out` */
	uint32_t taken; /* telecommands in this window */
	uint64_t came_ns, heard_ns, since_ns; /* connected; last sound packet; the first octet in `in` */
	uint64_t close_ns, rest_ns; /* when it is closed; until when it is left alone */
	uint8_t in[COBS_MOST(PACKET_LARGEST) + 1024], out[32 * 1024];
};

struct links {
	struct world *world;
	int listener, first; /* first: of the peers, whose telecommands are taken first in this turn */
	uint64_t window_ns; /* when it began */
	struct peer peer[LINK_PEERS];
};

/* --- link_open.c; they die with what is wrong --- */
int link_listen(const struct options *options);
int link_serial(const struct options *options);
int link_accept(int listener); /* -1: nobody */

#endif

/* SPDX-License-Identifier: MIT */
/* Those at the other end. */
#ifndef FLIGHT_LINK_H
#define FLIGHT_LINK_H

#include "cobs.h"
#include "world.h"

enum {
	LINK_PATIENCE_MS = 1000, /* for the rest of a packet */
	LINK_LINGER_MS = 300, /* for the report on garbage, before its connection is closed */
	LINK_REST_MS = 100, /* before a serial line without another end is tried again */
	LINK_WINDOW_MS = 10, /* in which, from each ground, */
	LINK_MOST = 10, /* telecommands are taken, and of all so many connections; the rest waits, so that a flood
			 * takes no frame its time */
	LINK_BACKLOG = 16, /* connections that wait for a place */
	LINK_TRIAL_MS = 50, /* that a new one has to show that it may command, before another one takes its place */
	LINK_REFUSED_MS = 1000, /* in which, to each ground, */
	LINK_REFUSED_MOST = 20, /* refusals are told */
	LINK_OUT = 32 * 1024, /* octets that wait for a ground to read them; of these */
	LINK_ANSWERS = 4 * 1024, /* are for answers to itself alone, */
	LINK_OTHERS = 2 * 1024, /* and only so many may be of what others asked for, and of files */
};

struct peer {
	int fd; /* -1: none */
	uint32_t ground; /* which connection it is: the count of them, and its place */
	bool serial, was_refused;
	bool overrun, met; /* of a serial line: the frame was too long already; there was a sound one */
	size_t have, waiting; /* octets in `in`, `out` */
	uint32_t taken; /* telecommands in this window */
	uint64_t came_ns, heard_ns, since_ns; /* connected; last accepted telecommand; the first octet in `in` */
	uint64_t close_ns, rest_ns; /* when it is closed; until when it is left alone */
	uint32_t refused; /* told of late */
	bool skips; /* some reports were not for it: its own counts do not have them */
	uint16_t skipped, skipped_of[256]; /* so many, and by service */
	uint8_t in[COBS_MOST(PACKET_LARGEST) + 1024], out[LINK_OUT];
};

struct links {
	struct world *world;
	int listener, first; /* first: of the peers, whose telecommands are taken first in this turn */
	uint32_t grounds, came; /* connections so far, and in this window */
	uint64_t window_ns, refused_ns; /* when they began */
	struct peer peer[LINK_PEERS];
};

/* --- link_open.c; they die with what is wrong --- */
int link_listen(const struct options *options);
int link_serial(const struct options *options);
int link_accept(int listener); /* -1: nobody */

#endif

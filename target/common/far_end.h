/* SPDX-License-Identifier: MIT */
/* What the other ends of links have in common: when it is, what came, and whether anybody listens. */
#ifndef COMMON_FAR_END_H
#define COMMON_FAR_END_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { RETRY_NS = 2000000, PATIENCE_MS_MOST = 600000 }; /* between two tries of a link; how long it is tried */

int64_t clock_ns(void); /* CLOCK_MONOTONIC */

void print_octets(FILE *log, const uint8_t *octets, size_t bytes); /* in hexadecimal digits, which end the line */

size_t read_octets(char *hex); /* of hexadecimal digits, in their place; 0: there are none, or others */

bool sends_at_once(int fd); /* a TCP connection, from now on; false: it is closed */

int connect_to(const struct sockaddr_in *where); /* a TCP connection; -1: nobody listens. Dies without a socket. */

bool comes_within(int fd, int64_t most_ns); /* whether there is something to read. `fd` may be -1. */

#endif

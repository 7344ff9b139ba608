/* SPDX-License-Identifier: MIT */
#ifndef GROUND_STRANGER_H
#define GROUND_STRANGER_H

#include <netinet/in.h>
#include <stdint.h>
#include <sys/types.h>

/* `what`: comes, goes. NULL, or why it could not. */
const char *stranger(pid_t *process, const struct sockaddr_in *where, const char *what);

#endif

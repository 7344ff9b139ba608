/* SPDX-License-Identifier: MIT */
/* The TCP side of USB/IP: tells the standard `usbip` tools of the camera and hands it to one of them at a time. */
#ifndef EMULATOR_SERVER_H
#define EMULATOR_SERVER_H

#include <stdbool.h>

#include "device.h"

/* Dies with a line on what is needed if this is no `[ADDRESS:]PORT`. */
void server_check(const char *where);
/* Listens at `[ADDRESS:]PORT` (default address: 127.0.0.1, for nothing protects a connection); says where on stdout. */
int server_listen(const char *where);
/* Speaks with a client that was accepted. True: it has imported the camera, and URBs come next. */
bool server_greet(int client, const struct settings *settings);

#endif

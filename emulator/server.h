/* SPDX-License-Identifier: MIT */
/* The TCP side of USB/IP: lists the camera for the standard `usbip` tools and hands it to one client at a time. */
#ifndef EMULATOR_SERVER_H
#define EMULATOR_SERVER_H

#include <stdbool.h>

#include "device.h"

/* Dies with a line on what is needed if this is no `[ADDRESS:]PORT`. */
void server_check(const char *where);
/* Listens at `[ADDRESS:]PORT` and prints where. The default address is 127.0.0.1, since connections are not protected.
 */
int server_listen(const char *where);
/* Talks to a client that was accepted. True if it has imported the camera; URBs come next. */
bool server_greet(int client, const struct settings *settings);

#endif

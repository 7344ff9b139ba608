// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "options.h"
#include "vhci.h"

#define CONTROLLER "/sys/devices/platform/vhci_hcd.0/"

/* Room for some frames, so that sending one need not wait for the controller's thread. */
enum { SOCKET_BYTES = 4 << 20, PORT_FREE = 4, SPEED_OF_HIGH = 3, SPEED_OF_SUPER = 5 };

/* The first free port of the hub for this speed. Lines: hub, port, state, and more, as drivers/usb/usbip/vhci_sysfs.c
 * writes them. */
static int free_port(enum speed speed)
{
	FILE *file = fopen(CONTROLLER "status", "re");
	const char *wanted = speed == SPEED_SUPER ? "ss" : "hs";
	char line[256], hub[4];
	int port, state, found = -1;

	if (!file)
		die(RUN_FAILED, "there is no " CONTROLLER ": `modprobe vhci-hcd` first");
	while (found < 0 && fgets(line, sizeof(line), file))
		if (sscanf(line, "%3s %d %d", hub, &port, &state) == 3 && !strcmp(hub, wanted) && state == PORT_FREE)
			found = port;
	fclose(file);
	if (found < 0)
		die(RUN_FAILED, "no port of vhci_hcd is free");
	return found;
}

int vhci_attach(enum speed speed)
{
	int ends[2], file, length;
	int room = SOCKET_BYTES;
	char text[64];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
		die(RUN_FAILED, "no socket: %s", strerror(errno));
	/* Without the right to do so the usual size is enough, with more switches between threads. */
	if (setsockopt(ends[0], SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof(room)) && errno != EPERM)
		die(RUN_FAILED, "the socket's buffer: %s", strerror(errno));
	/* Port, socket, device id (bus 1, device 1: any will do), speed. */
	length = snprintf(text, sizeof(text), "%d %d %d %d", free_port(speed), ends[1], 1 << 16 | 1,
			  speed == SPEED_SUPER ? SPEED_OF_SUPER : SPEED_OF_HIGH);
	file = open(CONTROLLER "attach", O_WRONLY | O_CLOEXEC);
	if (file < 0 || write(file, text, (size_t)length) != length)
		die(RUN_FAILED, CONTROLLER "attach does not take the camera: %s (is this root?)", strerror(errno));
	close(file);
	close(ends[1]); /* the controller has its own descriptor */
	return ends[0];
}

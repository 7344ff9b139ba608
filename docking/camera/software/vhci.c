// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

static bool is_of_controller(const char *pid)
{
	char path[32], name[16] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%.10s/comm", pid);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(name, sizeof(name), file))
		name[0] = '\0';
	fclose(file);
	return !strcmp(name, "vhci_rx\n") || !strcmp(name, "vhci_tx\n");
}

/* They stand for a USB host's interrupts, which no plug takes the priority from; these begin anew with each connection. */
static void raise_threads(int fifo)
{
	const struct sched_param param = { .sched_priority = fifo };
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	int raised = 0;

	if (!processes)
		die(RUN_FAILED, "/proc cannot be read: %s", strerror(errno));
	while ((entry = readdir(processes))) {
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !is_of_controller(entry->d_name))
			continue;
		if (syscall(SYS_sched_setscheduler, (pid_t)strtol(entry->d_name, NULL, 10), SCHED_FIFO, &param))
			die(RUN_FAILED, "no real-time priority %d for vhci_hcd's threads: %s", fifo, strerror(errno));
		raised++;
	}
	closedir(processes);
	if (raised < 2)
		die(RUN_FAILED, "vhci_hcd's threads, vhci_rx and vhci_tx, are not to be found");
}

int vhci_attach(enum speed speed, int fifo)
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
	if (fifo)
		raise_threads(fifo);
	return ends[0];
}

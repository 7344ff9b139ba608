// SPDX-License-Identifier: MIT
/* Where the links lead. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "link.h"

int link_listen(const struct options *options)
{
	struct sockaddr_in where = { .sin_family = AF_INET, .sin_port = htons((uint16_t)options->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1;

	inet_pton(AF_INET, options->address, &where.sin_addr);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (const struct sockaddr *)&where, sizeof(where)) || listen(fd, LINK_BACKLOG))
		die(RUN_FAILED, "--port=%u: %s", options->port, strerror(errno));
	return fd;
}

int link_accept(int listener)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;

	if (fd >= 0 && setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on))) {
		close(fd);
		return -1;
	}
	return fd;
}

static speed_t speed(uint32_t baud)
{
	static const struct {
		uint32_t baud;
		speed_t speed;
	} known[] = { { 9600, B9600 },       { 19200, B19200 },     { 38400, B38400 },     { 57600, B57600 },
		      { 115200, B115200 },   { 230400, B230400 },   { 460800, B460800 },   { 921600, B921600 },
		      { 1000000, B1000000 }, { 2000000, B2000000 }, { 3000000, B3000000 }, { 4000000, B4000000 } };

	for (size_t one = 0; one < sizeof(known) / sizeof(*known); one++)
		if (known[one].baud == baud)
			return known[one].speed;
	die(BAD_INPUT, "--baud=%u: no serial line has this speed", baud);
}

int link_serial(const struct options *options)
{
	const speed_t asked = options->baud ? speed(options->baud) : 0;
	int fd = open(options->serial, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	struct termios line;

	if (fd < 0)
		die(RUN_FAILED, "--serial=%s: %s", options->serial, strerror(errno));
	if (tcgetattr(fd, &line))
		die(RUN_FAILED, "--serial=%s: it is no serial line: %s", options->serial, strerror(errno));
	cfmakeraw(&line);
	line.c_cflag |= CLOCAL | CREAD;
	if (asked)
		cfsetspeed(&line, asked);
	if (tcsetattr(fd, TCSANOW, &line))
		die(RUN_FAILED, "--serial=%s: %s", options->serial, strerror(errno));
	return fd;
}

// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include "common/far_end.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/command_line.h"

int64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void print_octets(FILE *log, const uint8_t *octets, size_t bytes)
{
	static const char digits[] = "0123456789abcdef";

	while (bytes--) {
		fputc(digits[*octets >> 4], log);
		fputc(digits[*octets++ & 15], log);
	}
	fputc('\n', log);
}

static int digit(char hex)
{
	static const char digits[] = "0123456789abcdef";
	const char *found = hex ? strchr(digits, hex) : NULL;

	return found ? (int)(found - digits) : -1;
}

size_t read_octets(char *hex)
{
	const size_t count = strlen(hex) / 2;

	if (strlen(hex) % 2)
		return 0;
	for (size_t at = 0; at < count; at++) {
		int high = digit(hex[2 * at]), low = digit(hex[2 * at + 1]);

		if (high < 0 || low < 0)
			return 0;
		hex[at] = (char)(high << 4 | low);
	}
	return count;
}

bool sends_at_once(int fd)
{
	const int yes = 1;

	if (!setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)))
		return true;
	close(fd);
	return false;
}

int connect_to(const struct sockaddr_in *where)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die(RUN_FAILED, "no socket: %s", strerror(errno));
	if (connect(fd, (const struct sockaddr *)where, sizeof(*where))) {
		close(fd);
		return -1;
	}
	return sends_at_once(fd) ? fd : -1;
}

bool comes_within(int fd, int64_t most_ns)
{
	struct pollfd link = { .fd = fd, .events = POLLIN };
	const struct timespec wait = { most_ns > 0 ? most_ns / 1000000000 : 0, most_ns > 0 ? most_ns % 1000000000 : 0 };

	return ppoll(&link, fd >= 0, &wait, NULL) > 0;
}

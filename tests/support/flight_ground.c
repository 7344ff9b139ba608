// SPDX-License-Identifier: MIT
/*
 * flight_ground PORT SCRIPT: a ground inside the guest. Lines "MS HEX" are sent, each so many ms after the start; what
 * comes back is written as "NS HEX", a packet a line, by CLOCK_MONOTONIC. A line "MS end" ends it. A connection that was
 * closed is made again; lines "NS closed" and "NS connected" tell of it.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct ground {
	int fd; /* -1: not connected */
	uint16_t port;
	uint8_t in[65536];
	size_t have;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void lost(struct ground *ground)
{
	printf("%llu closed\n", (unsigned long long)now_ns());
	close(ground->fd);
	ground->fd = -1;
	ground->have = 0;
}

static void find(struct ground *ground)
{
	const struct sockaddr_in where = { .sin_family = AF_INET,
					   .sin_port = htons(ground->port),
					   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	ground->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (ground->fd < 0 || connect(ground->fd, (const struct sockaddr *)&where, sizeof(where))) {
		close(ground->fd);
		ground->fd = -1;
		usleep(5000);
		return;
	}
	printf("%llu connected\n", (unsigned long long)now_ns());
}

static void hear(struct ground *ground)
{
	ssize_t got = read(ground->fd, ground->in + ground->have, sizeof(ground->in) - ground->have);
	const uint64_t at_ns = now_ns();
	size_t length;

	if (got <= 0) {
		lost(ground);
		return;
	}
	ground->have += (size_t)got;
	while (ground->have >= 6 && (length = ((size_t)ground->in[4] << 8 | ground->in[5]) + 7u) <= ground->have) {
		printf("%llu ", (unsigned long long)at_ns);
		for (size_t one = 0; one < length; one++)
			printf("%02x", ground->in[one]);
		putchar('\n');
		ground->have -= length;
		memmove(ground->in, ground->in + length, ground->have);
	}
}

static void listen_until(struct ground *ground, uint64_t until_ns)
{
	for (uint64_t now = now_ns(); now < until_ns; now = now_ns()) {
		struct pollfd polled = { .fd = ground->fd, .events = POLLIN };
		const uint64_t wait_ns = until_ns - now;
		const struct timespec wait = { (time_t)(wait_ns / 1000000000), (long)(wait_ns % 1000000000) };

		if (ground->fd < 0)
			find(ground);
		else if (ppoll(&polled, 1, &wait, NULL) > 0)
			hear(ground);
	}
}

int main(int argc, char **argv)
{
	static struct ground ground = { .fd = -1 };
	static char line[4096];
	FILE *script = argc == 3 ? fopen(argv[2], "re") : NULL;
	const uint64_t begin_ns = now_ns();

	if (!script)
		return 2;
	ground.port = (uint16_t)atoi(argv[1]);
	while (fgets(line, sizeof(line), script)) {
		uint8_t packet[2048];
		size_t octets = 0;
		unsigned int octet;
		char *at;
		const unsigned long ms = strtoul(line, &at, 10);

		listen_until(&ground, begin_ns + ms * 1000000ull);
		for (at++; strncmp(at, "end", 3) && octets < sizeof(packet) && sscanf(at, "%2x", &octet) == 1; at += 2)
			packet[octets++] = (uint8_t)octet;
		printf("%llu sent\n", (unsigned long long)now_ns());
		if (octets && ground.fd >= 0 && write(ground.fd, packet, octets) != (ssize_t)octets)
			lost(&ground);
	}
	return 0;
}

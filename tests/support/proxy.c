// SPDX-License-Identifier: MIT
/*
 * A link that is no good: it stands between the ground, which connects to port 10035, and a program that listens at
 * 10025, and does one thing to the answers (service 1) that come by. Which, the ground says in two octets that no
 * telecommand begins with: 0xFA and a fault's number. What goes to the program, and all other reports, go by untouched.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	PROGRAM = 10025,
	GROUND = 10035,
	MOST = 4096,
	SERVICE_AT = 7,
	HURT = 3,
	SWAPPED = 5,
	DELAY_NS = 300000000,
	ORDER = 0xFA
};
enum fault { NONE, DROP, DELAY, TWICE, SWAP, FLIP, NEVER };

struct proxy {
	enum fault fault;
	int ground, program;
	unsigned int answers;
	uint8_t came[MOST], held[MOST];
	size_t came_bytes, held_bytes;
};

static struct sockaddr_in at_port(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void must(bool done, const char *what)
{
	if (!done) {
		perror(what);
		exit(1);
	}
}

static void put(int fd, const uint8_t *octets, size_t bytes)
{
	must(send(fd, octets, bytes, MSG_NOSIGNAL) == (ssize_t)bytes, "send");
}

static void answer(struct proxy *proxy, uint8_t *octets, size_t bytes)
{
	const bool hurt = ++proxy->answers == HURT;

	if (proxy->fault == NEVER || (hurt && proxy->fault == DROP))
		return;
	if (hurt && proxy->fault == DELAY)
		nanosleep(&(struct timespec){ .tv_nsec = DELAY_NS }, NULL);
	if (hurt && proxy->fault == FLIP)
		octets[bytes - 3] ^= 4;
	if (proxy->answers == SWAPPED && proxy->fault == SWAP) { /* an acceptance, behind its completion */
		memcpy(proxy->held, octets, bytes);
		proxy->held_bytes = bytes;
		return;
	}
	put(proxy->ground, octets, bytes);
	if (hurt && proxy->fault == TWICE)
		put(proxy->ground, octets, bytes);
	if (proxy->held_bytes)
		put(proxy->ground, proxy->held, proxy->held_bytes);
	proxy->held_bytes = 0;
}

static bool pass_up(struct proxy *proxy)
{
	uint8_t octets[MOST];
	const ssize_t got = recv(proxy->ground, octets, sizeof(octets), 0);

	if (got == 2 && octets[0] == ORDER)
		proxy->fault = octets[1];
	else if (got > 0)
		put(proxy->program, octets, (size_t)got);
	return got > 0;
}

static bool pass_down(struct proxy *proxy)
{
	const ssize_t got = recv(proxy->program, proxy->came + proxy->came_bytes, MOST - proxy->came_bytes, 0);
	uint8_t *const octets = proxy->came;
	size_t bytes;

	proxy->came_bytes += got > 0 ? (size_t)got : 0;
	while (proxy->came_bytes >= 6 && (bytes = (size_t)(octets[4] << 8 | octets[5]) + 7) <= proxy->came_bytes) {
		if (octets[SERVICE_AT] == 1)
			answer(proxy, octets, bytes);
		else
			put(proxy->ground, octets, bytes);
		proxy->came_bytes -= bytes;
		memmove(octets, octets + bytes, proxy->came_bytes);
	}
	return got > 0 && proxy->came_bytes < MOST;
}

/* Else an answer behind another waits for the first one's acknowledgement, 40 ms. */
static void at_once(int fd)
{
	const int yes = 1;

	must(!setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)), "TCP_NODELAY");
}

int main(void)
{
	struct proxy proxy = { .fault = NONE };
	const struct sockaddr_in here = at_port(GROUND), there = at_port(PROGRAM);
	const int listening = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
	bool open = true;

	must(listening >= 0 && !setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) &&
		     !bind(listening, (const struct sockaddr *)&here, sizeof(here)) && !listen(listening, 1),
	     "listen");
	proxy.ground = accept(listening, NULL, NULL);
	proxy.program = socket(AF_INET, SOCK_STREAM, 0);
	must(proxy.ground >= 0 && !connect(proxy.program, (const struct sockaddr *)&there, sizeof(there)), "connect");
	at_once(proxy.ground);
	at_once(proxy.program);
	while (open) {
		struct pollfd look[] = { { .fd = proxy.ground, .events = POLLIN },
					 { .fd = proxy.program, .events = POLLIN } };

		must(poll(look, 2, -1) > 0, "poll");
		if (look[0].revents)
			open = pass_up(&proxy);
		if (look[1].revents)
			open = pass_down(&proxy) && open;
	}
	return 0;
}

// SPDX-License-Identifier: MIT
/*
 * ground - listens where F´ connects to, and prints each value of a channel of four octets as it comes.
 *
 *   ground PORT NAME=ID ...      # prints lines such as `rg1 214`
 *
 * A channel is looked for by its id with the head of a time of TB_WORKSTATION_TIME, context 0, behind it: packets hold
 * several channels, whose sizes only the dictionary knows. TCP_QUICKACK, or F´ waits 40 ms for an acknowledgement.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define HEAD 7 /* id, time base, context */
#define TIME 8 /* seconds, microseconds */
#define NEEDED (HEAD + TIME + 4)
#define MOST 8

struct channel {
	const char *name;
	unsigned char head[HEAD];
	uint32_t last;
	int seen;
};

static void look(struct channel *channel, const unsigned char *at)
{
	uint32_t value;

	if (memcmp(at, channel->head, HEAD) != 0)
		return;
	memcpy(&value, at + HEAD + TIME, sizeof(value));
	value = ntohl(value);
	if (!channel->seen || value != channel->last)
		printf("%s %u\n", channel->name, value);
	channel->seen = 1;
	channel->last = value;
}

static int listen_at(uint16_t port)
{
	struct sockaddr_in here = { .sin_family = AF_INET,
				    .sin_port = htons(port),
				    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int on = 1, wait = socket(AF_INET, SOCK_STREAM, 0);

	if (wait < 0 || setsockopt(wait, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(wait, (struct sockaddr *)&here, sizeof(here)) || listen(wait, 1)) {
		perror("ground");
		exit(1);
	}
	return accept(wait, NULL, NULL);
}

int main(int argc, char **argv)
{
	static unsigned char held[65536];
	struct channel channels[MOST] = { 0 };
	int fd, on = 1, count = argc - 2;
	size_t kept = 0;
	ssize_t got;

	if (count < 1 || count > MOST)
		return 2;
	for (int i = 0; i < count; i++) {
		char *number = strchr(argv[i + 2], '=');
		uint32_t id;

		if (!number)
			return 2;
		*number = '\0';
		id = htonl((uint32_t)strtoul(number + 1, NULL, 0));
		channels[i].name = argv[i + 2];
		memcpy(channels[i].head, &id, sizeof(id));
		channels[i].head[5] = 2; /* TB_WORKSTATION_TIME */
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	fd = listen_at((uint16_t)atoi(argv[1]));
	while ((got = read(fd, held + kept, sizeof(held) - kept)) > 0) {
		size_t all = kept + (size_t)got, at = 0;

		setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
		for (; at + NEEDED <= all; at++)
			for (int i = 0; i < count; i++)
				look(&channels[i], held + at);
		memmove(held, held + at, all - at);
		kept = all - at;
	}
	return 0;
}

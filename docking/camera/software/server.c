// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bytes.h"
#include "options.h"
#include "server.h"

enum {
	VERSION_BCD = 0x0111,
	ASK_LIST = 0x8005,
	TELL_LIST = 0x0005,
	ASK_IMPORT = 0x8003,
	TELL_IMPORT = 0x0003,
	BUS_ID_BYTES = 32,
	DEVICE_BYTES = 312,
	SPEED_OF_HIGH = 3,
	SPEED_OF_SUPER = 5,
	ASKED_HEADER = 8,
	STATUS_BAD = 1,  /* usbip's ST_NA, ... */
	STATUS_BUSY = 2, /* ... and ST_DEV_BUSY: "Device busy (exported)" */
	WAITING = 16, /* connections that the kernel keeps until there is a place */
	/* A silent host is asked after this whether it is there. */
	ALIVE_IDLE_S = 5,
	ALIVE_STEP_S = 5,
};

static const char bus_id[] = "1-1";

static void __attribute__((noreturn)) bad_address(const char *where)
{
	die(BAD_INPUT, "--listen %s: [ADDRESS:]PORT in figures is needed, as 127.0.0.1:3240", where);
}

static struct sockaddr_in parse_address(const char *where)
{
	const char *colon = strrchr(where, ':');
	const char *digits = colon ? colon + 1 : where;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	char host[INET_ADDRSTRLEN] = "";
	char *end;
	unsigned long port = strtoul(digits, &end, 10);

	if (*digits < '0' || *digits > '9' || *end || port > 65535 || (colon && colon - where >= INET_ADDRSTRLEN))
		bad_address(where);
	if (colon) {
		memcpy(host, where, (size_t)(colon - where));
		if (inet_pton(AF_INET, host, &address.sin_addr) != 1)
			bad_address(where);
	}
	address.sin_port = htons((uint16_t)port);
	return address;
}

void server_check(const char *where)
{
	parse_address(where);
}

void server_listen(struct server *server, const struct settings *settings, const char *where)
{
	struct sockaddr_in address = parse_address(where);
	socklen_t length = sizeof(address);
	char host[INET_ADDRSTRLEN];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), yes = 1;

	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(listener, (struct sockaddr *)&address, length) || listen(listener, WAITING) ||
	    getsockname(listener, (struct sockaddr *)&address, &length))
		die(RUN_FAILED, "cannot listen at %s: %s", where, strerror(errno));
	printf("listening at %s port %u, bus id %s\n", inet_ntop(AF_INET, &address.sin_addr, host, sizeof(host)),
	       ntohs(address.sin_port), bus_id);
	fflush(stdout);
	*server = (struct server){ .settings = settings, .listener = listener, .host = -1 };
	for (int i = 0; i < CALLERS; i++)
		server->callers[i].socket = -1;
}

/* struct usbip_usb_device of the tools: path, bus id, numbers, ids, class, configurations, interfaces. */
static void describe(uint8_t at[DEVICE_BYTES], const struct settings *settings)
{
	memset(at, 0, DEVICE_BYTES);
	snprintf((char *)at, 256, "/sys/devices/ds325-emulator/usb1/%s", bus_id);
	snprintf((char *)at + 256, BUS_ID_BYTES, "%s", bus_id);
	put_be32(at + 288, 1);
	put_be32(at + 292, 1);
	put_be32(at + 296, settings->speed == SPEED_SUPER ? SPEED_OF_SUPER : SPEED_OF_HIGH);
	put_be16(at + 300, DS325_USB_VENDOR);
	put_be16(at + 302, DS325_USB_PRODUCT);
	put_be16(at + 304, 0x0100);
	at[306] = 239;
	at[307] = 2;
	at[308] = 1;
	at[310] = 1; /* configurations; 309 is the one in use, none yet */
	at[311] = 2; /* interfaces */
}

/* An answer fits into an empty socket's buffer; whoever has no room for it does without. */
static void tell(int client, const void *bytes, size_t size)
{
	(void)!send(client, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void tell_list(int client, const struct settings *settings)
{
	static const uint8_t interfaces[8] = { 14, 1, 0, 0, 14, 2, 0, 0 };
	uint8_t out[12 + DEVICE_BYTES + sizeof(interfaces)] = { 0 };

	put_be16(out, VERSION_BCD);
	put_be16(out + 2, TELL_LIST);
	put_be32(out + 8, 1);
	describe(out + 12, settings);
	memcpy(out + 12 + DEVICE_BYTES, interfaces, sizeof(interfaces));
	tell(client, out, sizeof(out));
}

static void tell_import(int client, const struct settings *settings, uint32_t status)
{
	uint8_t out[8 + DEVICE_BYTES] = { 0 };

	put_be16(out, VERSION_BCD);
	put_be16(out + 2, TELL_IMPORT);
	put_be32(out + 4, status);
	describe(out + 8, settings);
	tell(client, out, status ? 8 : sizeof(out));
}

static void give_up(struct caller *caller)
{
	close(caller->socket);
	caller->socket = -1;
}

/* A host that has said that it goes is about to go. */
static bool leaves(int host)
{
	struct pollfd polled = { .fd = host, .events = POLLRDHUP };

	return host >= 0 && poll(&polled, 1, 0) > 0;
}

static void set(int client, int level, int name, int value)
{
	setsockopt(client, level, name, &value, sizeof(value)); /* better with it, but it works without */
}

static void make_host(struct server *server, struct caller *caller)
{
	server->host = caller->socket;
	caller->socket = -1;
	set(server->host, SOL_SOCKET, SO_KEEPALIVE, 1);
	set(server->host, IPPROTO_TCP, TCP_KEEPIDLE, ALIVE_IDLE_S);
	set(server->host, IPPROTO_TCP, TCP_KEEPINTVL, ALIVE_STEP_S);
	/* Neither an answer to that, nor what was sent to it, may be overdue for longer. */
	set(server->host, IPPROTO_TCP, TCP_USER_TIMEOUT, PATIENCE_MS);
}

/* How much of a request has to be there; 0: this is none. */
static uint32_t wanted(const struct caller *caller)
{
	uint32_t code = get_be16(caller->asked + 2);

	if (caller->have < ASKED_HEADER)
		return ASKED_HEADER;
	if (get_be16(caller->asked) != VERSION_BCD || (code != ASK_LIST && code != ASK_IMPORT))
		return 0;
	return code == ASK_LIST ? ASKED_HEADER : ASKED_HEADER + BUS_ID_BYTES;
}

static bool complete(const struct caller *caller)
{
	return caller->have >= wanted(caller);
}

/* Answers a request that is complete, or leaves it until the host that goes has gone. */
static void answer(struct server *server, struct caller *caller)
{
	uint32_t code = wanted(caller) ? get_be16(caller->asked + 2) : 0;
	bool ours = code == ASK_IMPORT && !memcmp(caller->asked + ASKED_HEADER, bus_id, sizeof(bus_id));
	bool free = server->host < 0;

	if (ours && leaves(server->host))
		return;
	if (code == ASK_LIST)
		tell_list(caller->socket, server->settings);
	else if (code == ASK_IMPORT)
		tell_import(caller->socket, server->settings, !ours ? STATUS_BAD : free ? 0 : STATUS_BUSY);
	if (ours && free)
		make_host(server, caller);
	else
		give_up(caller);
}

static void hear(struct server *server, struct caller *caller)
{
	while (!complete(caller)) {
		ssize_t got = recv(caller->socket, caller->asked + caller->have, wanted(caller) - caller->have,
				   MSG_DONTWAIT);

		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		if (got <= 0) {
			give_up(caller);
			return;
		}
		caller->have += (uint32_t)got;
	}
	answer(server, caller);
}

/* With no place free, whoever has waited longest makes room: a client that asks at once loses nothing. */
static void accept_caller(struct server *server, uint64_t now_ns)
{
	struct caller *place = server->callers;
	int client = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC);

	if (client < 0)
		return;
	for (struct caller *one = server->callers; one < server->callers + CALLERS && place->socket >= 0; one++)
		if (one->socket < 0 || one->until_ns < place->until_ns)
			place = one;
	if (place->socket >= 0)
		give_up(place);
	*place = (struct caller){ .socket = client, .until_ns = now_ns + PATIENCE_MS * 1000000ull };
	set(client, IPPROTO_TCP, TCP_NODELAY, 1);
}

uint64_t server_polled(const struct server *server, struct pollfd *polled)
{
	uint64_t until_ns = UINT64_MAX;

	for (int i = 0; i < CALLERS; i++) {
		const struct caller *caller = server->callers + i;

		polled[i] = (struct pollfd){ .fd = caller->socket, .events = complete(caller) ? 0 : POLLIN };
		if (caller->socket >= 0 && caller->until_ns < until_ns)
			until_ns = caller->until_ns;
	}
	polled[CALLERS] = (struct pollfd){ .fd = server->listener, .events = POLLIN };
	return until_ns;
}

void server_serve(struct server *server, const struct pollfd *polled, uint64_t now_ns)
{
	for (int i = 0; i < CALLERS; i++) {
		struct caller *caller = server->callers + i;

		if (caller->socket < 0)
			continue;
		if (polled[i].revents & (POLLERR | POLLHUP | POLLNVAL) && complete(caller))
			give_up(caller);
		else if (polled[i].revents || complete(caller))
			hear(server, caller);
		if (caller->socket >= 0 && caller->until_ns <= now_ns)
			give_up(caller);
	}
	if (polled[CALLERS].revents)
		accept_caller(server, now_ns);
}

void server_free(struct server *server)
{
	server->host = -1;
	for (int i = 0; i < CALLERS; i++)
		if (server->callers[i].socket >= 0 && complete(server->callers + i))
			answer(server, server->callers + i);
}

void server_close(struct server *server)
{
	for (int i = 0; i < CALLERS; i++)
		if (server->callers[i].socket >= 0)
			give_up(server->callers + i);
	close(server->listener);
}

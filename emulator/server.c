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
#include <sys/time.h>
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
	PATIENCE_S = 5, /* a client that sends or takes nothing is given up after this */
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

int server_listen(const char *where)
{
	struct sockaddr_in address = parse_address(where);
	socklen_t length = sizeof(address);
	char host[INET_ADDRSTRLEN];
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;

	if (listener < 0 || setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) ||
	    bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4) ||
	    getsockname(listener, (struct sockaddr *)&address, &length))
		die(RUN_FAILED, "cannot listen at %s: %s", where, strerror(errno));
	printf("listening at %s port %u, bus id %s\n", inet_ntop(AF_INET, &address.sin_addr, host, sizeof(host)),
	       ntohs(address.sin_port), bus_id);
	fflush(stdout);
	return listener;
}

static bool read_all(int socket, uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t got = recv(socket, bytes, size, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		bytes += got;
		size -= (size_t)got;
	}
	return true;
}

static bool write_all(int socket, const uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t sent = send(socket, bytes, size, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		bytes += sent;
		size -= (size_t)sent;
	}
	return true;
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

static void tell_list(int client, const struct settings *settings)
{
	static const uint8_t interfaces[8] = { 14, 1, 0, 0, 14, 2, 0, 0 };
	uint8_t out[12 + DEVICE_BYTES + sizeof(interfaces)] = { 0 };

	put_be16(out, VERSION_BCD);
	put_be16(out + 2, TELL_LIST);
	put_be32(out + 8, 1);
	describe(out + 12, settings);
	memcpy(out + 12 + DEVICE_BYTES, interfaces, sizeof(interfaces));
	write_all(client, out, sizeof(out));
}

static bool tell_import(int client, const struct settings *settings)
{
	uint8_t asked[BUS_ID_BYTES], out[8 + DEVICE_BYTES] = { 0 };
	bool ours;

	if (!read_all(client, asked, sizeof(asked)))
		return false;
	ours = !memcmp(asked, bus_id, sizeof(bus_id));
	put_be16(out, VERSION_BCD);
	put_be16(out + 2, TELL_IMPORT);
	put_be32(out + 4, !ours);
	describe(out + 8, settings);
	return write_all(client, out, ours ? sizeof(out) : 8) && ours;
}

bool server_greet(int client, const struct settings *settings)
{
	struct timeval patience = { .tv_sec = PATIENCE_S };
	uint8_t header[8];
	int yes = 1;

	if (setsockopt(client, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) ||
	    setsockopt(client, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)))
		return false;
	setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)); /* matters for speed only */
	if (!read_all(client, header, sizeof(header)) || get_be16(header) != VERSION_BCD)
		return false;
	switch (get_be16(header + 2)) {
	case ASK_LIST:
		tell_list(client, settings);
		return false;
	case ASK_IMPORT:
		return tell_import(client, settings);
	default:
		return false;
	}
}

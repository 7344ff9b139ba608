// SPDX-License-Identifier: MIT
/*
 * The emulator's callers: several clients at once say what a client could say, in any pieces, close, half close or
 * wait, while a host comes and goes. What must hold: at most one host; every answer is a whole one that was asked for;
 * nobody who asked in full is left without an answer once nothing stands in the way.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "camera/software/bytes.h"
#include "camera/software/server.h"
#include "fuzz.h"

enum { CLIENTS = 12, STEPS = 60, LIST_BYTES = 332, IMPORT_BYTES = 320 };
enum { LISTS, IMPORTS, BUSY, WRONG, CLOSED, AFTERWARDS };

const char *const reaches[] = {
	"lists", "imports", "busy", "of an unknown bus id", "closed without an answer", "closed after it", NULL
};

struct client {
	int socket;
	uint8_t said[128];
	size_t length, sent;
	bool answered;
};

static struct sockaddr address;
static socklen_t address_length = sizeof(address);
static struct server server;

void prepare(void)
{
	server.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	address.sa_family = AF_UNIX;
	/* A name of the kernel's choice. */
	if (server.listener < 0 || bind(server.listener, &address, sizeof(address.sa_family)) ||
	    listen(server.listener, CLIENTS) || getsockname(server.listener, &address, &address_length))
		abort();
}

static void begin(struct client *client)
{
	bool list = draw(3) == 0;

	client->socket = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (client->socket < 0 || connect(client->socket, &address, address_length))
		broken("no connection");
	client->length = list ? 8 : 40;
	client->sent = 0;
	client->answered = false;
	memset(client->said, 0, sizeof(client->said));
	put_be16(client->said, 0x0111);
	put_be16(client->said + 2, list ? 0x8005 : 0x8003);
	memcpy(client->said + 8, draw(5) ? "1-1" : "7-7", 3);
	if (draw(4) == 0)
		client->length = mutate(client->said, client->length, sizeof(client->said));
}

static void end(struct client *client)
{
	close(client->socket);
	client->socket = -1;
}

/* What has come for a client is nothing, one whole answer to what it asked, or the end. */
static void look(struct client *client)
{
	uint8_t bytes[2048];
	ssize_t got = recv(client->socket, bytes, sizeof(bytes), MSG_DONTWAIT);
	uint32_t asked = get_be16(client->said + 2), status;

	if (got < 0)
		return;
	if (!got) {
		reached(client->answered ? AFTERWARDS : CLOSED);
		end(client);
		return;
	}
	status = get_be32(bytes + 4);
	if (client->answered || client->sent < 8 || get_be16(client->said) != 0x0111)
		broken("an answer that was not asked for");
	client->answered = true;
	if (asked == 0x8005 && got == LIST_BYTES && get_be16(bytes + 2) == 5)
		reached(LISTS);
	else if (asked == 0x8003 && client->sent >= 40 && get_be16(bytes + 2) == 3 &&
		 got == (status ? 8 : IMPORT_BYTES) && status <= 2)
		reached(status == 0 ? IMPORTS : status == 2 ? BUSY : WRONG);
	else
		broken("an answer of %zd bytes with status %u to %04x", got, status, asked);
	if ((status == 1) != (asked == 0x8003 && memcmp(client->said + 8, "1-1", 4) != 0))
		broken("status %u for another bus id", status);
}

static void serve(uint64_t now_ns)
{
	struct pollfd polled[SERVER_POLLED];

	server_polled(&server, polled);
	poll(polled, SERVER_POLLED, 0);
	server_serve(&server, polled, now_ns);
}

static void act(struct client *client)
{
	size_t part;

	switch (draw(8)) {
	case 0:
		shutdown(client->socket, SHUT_WR);
		break;
	case 1:
		end(client);
		break;
	default:
		part = draw(3) ? client->length - client->sent : draw((uint32_t)(client->length - client->sent) + 1);
		if (part && send(client->socket, client->said + client->sent, part, MSG_NOSIGNAL) == (ssize_t)part)
			client->sent += part;
	}
}

void one_input(void)
{
	static const struct settings settings = { .speed = SPEED_SUPER };
	struct client clients[CLIENTS];
	uint64_t now_ns = 1;

	server = (struct server){ .settings = &settings, .listener = server.listener, .host = -1 };
	for (int i = 0; i < CALLERS; i++)
		server.callers[i].socket = -1;
	for (int i = 0; i < CLIENTS; i++)
		clients[i].socket = -1;
	for (uint32_t steps = 1 + draw(STEPS); steps; steps--) {
		struct client *client = clients + draw(CLIENTS);

		if (client->socket < 0)
			begin(client);
		else
			act(client);
		if (draw(2))
			serve(now_ns);
		now_ns += draw(10) ? 1000000 : draw(2) * 6000000000ull;
		if (server.host >= 0 && draw(6) == 0) {
			close(server.host);
			server_free(&server);
		}
		for (int i = 0; i < CLIENTS; i++)
			if (clients[i].socket >= 0)
				look(clients + i);
	}
	if (server.host >= 0)
		close(server.host);
	server_free(&server);
	for (int i = 0; i < CLIENTS; i++) /* once to accept each, and to hear it */
		serve(now_ns);
	serve(now_ns);
	serve(now_ns + PATIENCE_MS * 1000000ull);
	for (int i = 0; i < CALLERS; i++)
		if (server.callers[i].socket >= 0)
			broken("a caller is still there after the server's patience");
	for (int i = 0; i < CLIENTS; i++)
		if (clients[i].socket >= 0)
			end(clients + i);
	if (server.host >= 0)
		close(server.host);
}

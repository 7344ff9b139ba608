// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "session.h"
#include "usbip.h"

enum {
	PART_MOST = 8,
	QUIET_MS = 50, /* a host that asks nothing for this long is done */
	LEAVE_MOST_MS = 500,
};

uint64_t monotonic_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void obey(struct session *session)
{
	struct fault fault;

	if (!fault_parse(session->line, &session->device->log->sequence, &fault))
		fprintf(stderr, "ds325-emulator: \"%s\" is no fault; ignored\n", session->line);
	else if (!faults_add(session->device->faults, &fault))
		fprintf(stderr, "ds325-emulator: %d faults wait already; \"%s\" is ignored\n", FAULTS, session->line);
}

static void read_commands(struct session *session)
{
	char bytes[256];
	ssize_t count = read(session->control, bytes, sizeof(bytes));

	for (ssize_t i = 0; i < count; i++) {
		if (bytes[i] != '\n' && session->line_length < sizeof(session->line) - 1) {
			session->line[session->line_length++] = bytes[i];
			continue;
		}
		session->line[session->line_length] = '\0';
		session->line_length = 0;
		if (session->line[0])
			obey(session);
	}
}

/* Polls the descriptors until `until_ns`, and serves the server's callers; false when a signal came. `signals` is -1
 * when an earlier signal is already known. */
static bool wait_until(struct session *session, int signals, struct pollfd *other, uint64_t until_ns)
{
	struct pollfd all[3 + SERVER_POLLED] = { { .fd = signals, .events = POLLIN },
						 { .fd = session->control, .events = POLLIN },
						 *other };
	uint64_t callers_ns = session->server ? server_polled(session->server, all + 3) : UINT64_MAX;
	uint64_t now = monotonic_ns(), end = callers_ns < until_ns ? callers_ns : until_ns;
	uint64_t left = end > now ? end - now : 0;
	struct timespec timeout = { (time_t)(left / 1000000000), (long)(left % 1000000000) };

	if (ppoll(all, session->server ? 3 + SERVER_POLLED : 3, end == UINT64_MAX ? NULL : &timeout, NULL) < 0)
		return errno == EINTR;
	other->revents = all[2].revents;
	if (all[1].revents & POLLIN)
		read_commands(session);
	if (session->server)
		server_serve(session->server, all + 3, monotonic_ns());
	return !all[0].revents;
}

/* Waits until the host takes more, but not beyond `*until_ns`, which a signal brings nearer. */
static bool wait_for_room(struct session *session, bool *signalled, uint64_t *until_ns)
{
	struct pollfd other = { .fd = session->socket, .events = POLLOUT };

	while (!other.revents && monotonic_ns() < *until_ns) {
		if (!wait_until(session, *signalled ? -1 : session->signals, &other, *until_ns)) {
			uint64_t last_ns = monotonic_ns() + LEAVE_MOST_MS * 1000000ull;

			*signalled = true;
			*until_ns = last_ns < *until_ns ? last_ns : *until_ns;
		}
	}
	return other.revents;
}

/* Until the host has taken all of it. Over TCP it has PATIENCE_MS for that, in which others are served. */
static int send_all(void *with, const struct iovec *parts, int count)
{
	struct session *session = with;
	struct iovec rest[PART_MOST];
	struct msghdr message = { .msg_iov = rest, .msg_iovlen = (size_t)count };
	const int flags = MSG_NOSIGNAL | (session->server ? MSG_DONTWAIT : 0);
	uint64_t until_ns = 0;
	bool signalled = false;

	memcpy(rest, parts, (size_t)count * sizeof(*parts));
	while (message.msg_iovlen) {
		ssize_t sent = sendmsg(session->socket, &message, flags);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent < 0 && errno == EAGAIN && session->server) {
			until_ns = until_ns ? until_ns : monotonic_ns() + PATIENCE_MS * 1000000ull;
			if (wait_for_room(session, &signalled, &until_ns))
				continue;
			fputs("ds325-emulator: the host takes nothing: unplugged\n", stderr);
			return -ETIMEDOUT;
		}
		if (sent < 0)
			return -errno;
		while (message.msg_iovlen && (size_t)sent >= message.msg_iov->iov_len) {
			sent -= (ssize_t)message.msg_iov->iov_len;
			message.msg_iov++;
			message.msg_iovlen--;
		}
		if (message.msg_iovlen) {
			message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
			message.msg_iov->iov_len -= (size_t)sent;
		}
	}
	return 0;
}

enum session_end session_wait(struct session *session, uint64_t ms)
{
	uint64_t end = monotonic_ns() + ms * 1000000;
	struct pollfd none = { .fd = -1 };

	while (monotonic_ns() < end)
		if (!wait_until(session, session->signals, &none, end))
			return SESSION_SIGNAL;
	return SESSION_HOST_LEFT;
}

enum session_end session_await_host(struct session *session)
{
	struct pollfd none = { .fd = -1 };

	while (session->server->host < 0)
		if (!wait_until(session, session->signals, &none, UINT64_MAX))
			return SESSION_SIGNAL;
	session->socket = session->server->host;
	return SESSION_HOST_LEFT;
}

static bool done(const struct device *device)
{
	const struct settings *settings = device->settings;

	return settings->count && device->log->sequence >= settings->count && !device->transfer.active;
}

/*
 * When to close after a signal. If a driver submits a transfer and takes it back before vhci_hcd's sending thread has
 * run, and the connection ends right then, vhci_hcd never gives the transfer back and the driver waits for ever. So
 * after a signal the host is given time to end first.
 */
static uint64_t close_at(uint64_t heard_ns, uint64_t signal_ns)
{
	uint64_t quiet_ns = heard_ns + QUIET_MS * 1000000ull, last_ns = signal_ns + LEAVE_MOST_MS * 1000000ull;

	return quiet_ns < last_ns ? quiet_ns : last_ns;
}

enum session_end session_run(struct session *session)
{
	struct device *device = session->device;
	uint8_t bytes[2 * (USBIP_HEADER + USBIP_OUT_MOST)];
	uint64_t signal_ns = 0, heard_ns = 0;
	uint32_t have = 0;

	device->send = send_all;
	device->with = session;
	device_plug(device);
	for (;;) {
		uint64_t wake = device_pump(device, monotonic_ns(), monotonic_ns);
		struct pollfd other = { .fd = session->socket, .events = POLLIN };
		ssize_t got;
		int taken;

		if (device->unplugged)
			return SESSION_UNPLUGGED;
		if (device->gone)
			return SESSION_HOST_LEFT;
		if (done(device))
			return SESSION_DONE;
		if (signal_ns) {
			uint64_t close_ns = close_at(heard_ns, signal_ns);

			if (monotonic_ns() >= close_ns)
				return SESSION_SIGNAL;
			wake = wake < close_ns ? wake : close_ns;
		}
		if (!wait_until(session, signal_ns ? -1 : session->signals, &other, wake)) {
			signal_ns = heard_ns = monotonic_ns();
			device->leaving = true;
		}
		if (!other.revents)
			continue;
		got = recv(session->socket, bytes + have, sizeof(bytes) - have, MSG_DONTWAIT);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return SESSION_HOST_LEFT;
		have += (uint32_t)got;
		heard_ns = monotonic_ns();
		taken = device_receive(device, bytes, have);
		if (taken < 0) {
			if (device->why)
				fprintf(stderr, "ds325-emulator: the host asked for %s: unplugged\n", device->why);
			return SESSION_HOST_LEFT;
		}
		have -= (uint32_t)taken;
		memmove(bytes, bytes + taken, have);
	}
}

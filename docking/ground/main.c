// SPDX-License-Identifier: MIT
/*
 * rtqual-ground: the other end of the link. Plays a timed script of telecommands and faults (script.h), and logs every
 * packet that it sends or gets with ns since the link came up. It judges nothing. The log, a line each:
 *
 *   NS up | closed            the link; tried again every few ms while it should be there
 *   NS reset               the machine has been reset: a ground with --now-ns goes on with its log and script
 *   NS lost OCTETS            the other end closed it; so many octets were no whole packet
 *   NS send STEP HEX          sent; STEP counts the script's lines from 1
 *   NS unsent STEP            there was no link
 *   NS did STEP               another step
 *   NS failed STEP WHY        it could not be done
 *   NS recv HEX               one packet, cut by its length field; those of files have lines of their own:
 *   NS begun TRANSACTION      the first packet of a file
 *   NS file TRANSACTION CONDITION NAME OCTETS CRC32 DIFFER PACKETS MISSING LOST ASKED
 *                             it ended (cfdp.h: 0 is whole); octets that are others on the board, "-" where nothing was
 *                             compared; packets that came, never came, were lost on purpose; pieces asked for again
 *   NS end SENT RECEIVED      the last line, with how many lines `send` and `recv` there are
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/command_line.h"
#include "common/far_end.h"
#include "files.h"
#include "script.h"
#include "stranger.h"

enum { PACKET_MOST = 65542 };

struct options {
	const char *host, *script, *log, *file;
	uint32_t port, patience_ms;
	int64_t now_ns;
};

struct ground {
	struct sockaddr_in where;
	FILE *log;
	int fd; /* -1: no link */
	bool kept; /* the log outlives a reset: it is written line by line, and synced after each fault */
	bool wanted; /* whether there should be one */
	int64_t start_ns; /* when it came up first */
	unsigned long sent, received;
	uint8_t in[2 * PACKET_MOST];
	size_t have;
	struct files files;
	pid_t stranger; /* 0: none */
};

static const struct option options_table[] = {
	{ "host", "ADDRESS", "where the flight program listens (127.0.0.1)", OPTION_TEXT(struct options, host) },
	{ "port", "N", "its TCP port (10025)", OPTION_WHOLE(struct options, port, 1, 65535) },
	{ "script", "FILE", "what to do and when", OPTION_TEXT(struct options, script) },
	{ "log", "FILE", "what was sent and what came", OPTION_TEXT(struct options, log) },
	{ "file", "FILE", "the board's, with which a file that comes down is compared",
	  OPTION_TEXT(struct options, file) },
	{ "patience-ms", "MS", "how long the link may take to come up (10000)",
	  OPTION_WHOLE(struct options, patience_ms, 1, PATIENCE_MS_MOST) },
	{ "now-ns", "NS", "the machine's clock, which no reset sets back: the log outlives one",
	  OPTION_WHOLE(struct options, now_ns, 1, INT64_MAX) },
	{ 0 },
};

const struct program program = {
	.name = "rtqual-ground",
	.synopsis = "plays telecommands and faults at their times, logs what comes back",
	.tables = { options_table },
};

static int64_t now_ns(const struct ground *ground)
{
	return clock_ns() - ground->start_ns;
}

static bool try_link(struct ground *ground)
{
	const int fd = connect_to(&ground->where);

	if (fd < 0)
		return false;
	ground->fd = fd;
	ground->have = 0;
	files_up(&ground->files);
	return true;
}

static void drop_link(struct ground *ground)
{
	if (ground->fd >= 0)
		close(ground->fd);
	ground->fd = -1;
}

static void lost(struct ground *ground, int64_t at_ns)
{
	fprintf(ground->log, "%lld lost %zu\n", (long long)at_ns, ground->have);
	drop_link(ground);
}

/* All whole packets that are there get the time at which they were read. */
static void receive(struct ground *ground)
{
	ssize_t got = recv(ground->fd, ground->in + ground->have, sizeof(ground->in) - ground->have, MSG_DONTWAIT);
	int64_t at_ns = now_ns(ground);
	size_t done = 0;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		lost(ground, at_ns);
		return;
	}
	ground->have += (size_t)got;
	while (ground->have - done >= 6) {
		const uint8_t *packet = ground->in + done;
		size_t bytes = (size_t)(packet[4] << 8 | packet[5]) + 7;

		if (ground->have - done < bytes)
			break;
		done += bytes;
		if (files_take(&ground->files, packet, bytes, at_ns))
			continue;
		fprintf(ground->log, "%lld recv ", (long long)at_ns);
		print_octets(ground->log, packet, bytes);
		ground->received++;
	}
	ground->have -= done;
	memmove(ground->in, ground->in + done, ground->have);
}

/* Takes what comes, and brings up a link that should be there, until `until_ns`. */
static void listen_until(struct ground *ground, int64_t until_ns)
{
	for (;;) {
		const int64_t next_ns = files_next_ns(&ground->files),
			      wake_ns = until_ns < next_ns ? until_ns : next_ns;
		int64_t left = wake_ns - now_ns(ground);

		if (ground->fd < 0 && ground->wanted) {
			if (try_link(ground)) {
				fprintf(ground->log, "%lld up\n", (long long)now_ns(ground));
				continue;
			}
			left = left < RETRY_NS ? left : RETRY_NS;
		}
		if (until_ns - now_ns(ground) <= 0)
			return;
		if (comes_within(ground->fd, left))
			receive(ground);
		files_due(&ground->files, now_ns(ground));
	}
}

/* To the board's end of a file. It fits, or the link is not what it was. */
static void put(void *world, const uint8_t *packet, size_t octets)
{
	struct ground *ground = world;
	const ssize_t done = ground->fd < 0 ? -1 : send(ground->fd, packet, octets, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (done >= 0 && done != (ssize_t)octets)
		lost(ground, now_ns(ground));
}

static void send_octets(struct ground *ground, const struct step *step, size_t number)
{
	int64_t at_ns = now_ns(ground);
	ssize_t done = ground->fd < 0 ? -1 : send(ground->fd, step->octets, step->bytes, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (done != (ssize_t)step->bytes) {
		fprintf(ground->log, "%lld unsent %zu\n", (long long)at_ns, number);
		return;
	}
	fprintf(ground->log, "%lld send %zu ", (long long)at_ns, number);
	print_octets(ground->log, step->octets, step->bytes);
	ground->sent++;
}

static void told(struct ground *ground, size_t number, int64_t at_ns, const char *why)
{
	if (why)
		fprintf(ground->log, "%lld failed %zu %s\n", (long long)at_ns, number, why);
	else
		fprintf(ground->log, "%lld did %zu\n", (long long)at_ns, number);
}

static void play(struct ground *ground, const struct step *step, size_t number)
{
	int64_t at_ns;
	const char *why;

	listen_until(ground, step->at_ns);
	at_ns = now_ns(ground);
	switch (step->verb) {
	case SEND:
		send_octets(ground, step, number);
		break;
	case CLOSE:
		drop_link(ground);
		ground->wanted = false;
		fprintf(ground->log, "%lld closed\n%lld did %zu\n", (long long)at_ns, (long long)at_ns, number);
		break;
	case OPEN:
		ground->wanted = true;
		fprintf(ground->log, "%lld did %zu\n", (long long)at_ns, number);
		break;
	case LOSE:
		files_lose(&ground->files, (uint32_t)step->number);
		fprintf(ground->log, "%lld did %zu\n", (long long)at_ns, number);
		break;
	case STRANGER:
		told(ground, number, at_ns, stranger(&ground->stranger, &ground->where, step->word));
		break;
	case END:
		stranger(&ground->stranger, &ground->where, "goes");
		fprintf(ground->log, "%lld end %lu %lu\n", (long long)at_ns, ground->sent, ground->received);
		break;
	case KERNEL: /* nothing is logged after it */
		fprintf(ground->log, "%lld did %zu\n", (long long)at_ns, number);
		log_sync(ground->log);
		why = fault_do(step);
		fprintf(ground->log, "%lld failed %zu %s\n", (long long)at_ns, number, why ? why : "it goes on");
		break;
	default:
		told(ground, number, at_ns, fault_do(step));
		if (ground->kept)
			log_sync(ground->log);
	}
}

static void await_link(struct ground *ground, const struct options *options)
{
	const int64_t latest_ns = clock_ns() + options->patience_ms * 1000000ll;

	while (!try_link(ground)) {
		if (clock_ns() > latest_ns)
			die(RUN_FAILED, "nobody listens at %s:%u", options->host, options->port);
		usleep(RETRY_NS / 1000);
	}
}

static void begin(struct ground *ground, const struct options *options, int64_t began_ns)
{
	await_link(ground, options);
	ground->start_ns = clock_ns();
	if (options->now_ns)
		log_began(options->log, options->now_ns + ground->start_ns - began_ns);
	fputs("0 up\n", ground->log);
}

/* After a reset. The step that was being done is not done again; those that were due meanwhile are, once there is a link. */
static void go_on(struct ground *ground, const struct begun *begun, const struct step *steps,
		  const struct options *options, int64_t began_ns)
{
	for (size_t one = 0; one < begun->steps; one++)
		if (steps[one].verb == CLOSE || steps[one].verb == OPEN)
			ground->wanted = steps[one].verb == OPEN;
		else if (steps[one].verb == LOSE)
			files_lose(&ground->files, (uint32_t)steps[one].number);
	ground->sent = begun->sent;
	ground->received = begun->received;
	ground->start_ns = began_ns - (options->now_ns - begun->start_ns);
	fprintf(ground->log, "%lld reset\n", (long long)now_ns(ground));
	if (ground->wanted) {
		await_link(ground, options);
		fprintf(ground->log, "%lld up\n", (long long)now_ns(ground));
	}
}

int main(int argc, char **argv)
{
	static struct options options = { .host = "127.0.0.1", .port = 10025, .patience_ms = 10000 };
	static struct step steps[STEPS_MOST];
	static struct ground ground; /* large, so nothing of it lies in the program's file */
	static char buffer[1 << 20], *held;
	const int64_t began_ns = clock_ns();
	struct begun begun = { 0 };
	size_t count;

	ground.fd = -1;
	ground.wanted = true;
	command_line_read(argc, argv, &options);
	if (!options.script || !options.log)
		die(BAD_INPUT, "--script and --log are needed");
	ground.where.sin_family = AF_INET;
	ground.where.sin_port = htons((uint16_t)options.port);
	if (inet_pton(AF_INET, options.host, &ground.where.sin_addr) != 1)
		die(BAD_INPUT, "--host %s: write an IPv4 address, as 127.0.0.1", options.host);
	count = script_read(options.script, steps, &held);
	if (options.now_ns && log_begun(options.log, &begun) && begun.ended)
		return 0;
	ground.log = options.now_ns ? log_kept(options.log, begun.octets) : fopen(options.log, "we");
	if (!ground.log)
		die(RUN_FAILED, "the log %s cannot be written: %s", options.log, strerror(errno));
	ground.kept = options.now_ns;
	ground.files.world = &ground;
	ground.files.put = put;
	ground.files.log = ground.log;
	ground.files.path = options.file;
	files_ready(&ground.files);
	/* A disk does not disturb what is timed, but what outlives any reset is written line by line. */
	setvbuf(ground.log, buffer, ground.kept ? _IOLBF : _IOFBF, sizeof(buffer));
	if (begun.start_ns)
		go_on(&ground, &begun, steps, &options, began_ns);
	else
		begin(&ground, &options, began_ns);
	for (size_t one = begun.steps; one < count; one++)
		play(&ground, steps + one, one + 1);
	if (fflush(ground.log) || fclose(ground.log))
		die(RUN_FAILED, "the log %s cannot be written: %s", options.log, strerror(errno));
	return 0;
}

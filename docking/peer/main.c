// SPDX-License-Identifier: MIT
/*
 * rtqual-peer: both ends of the way that poses take to another spacecraft. With --poses it sends what the flight program
 * tells, a datagram each, numbered from 0, and writes a line of each for a log; with --listen it gets them. Both ends
 * have one clock, so that a pose's age when it has come is known. SIGTERM ends either. With --lossy the way loses some.
 * What they print:
 *
 *   NUMBER FRAME_NS STATUS X Y Z    the sender: the frame's end, enum pose_status, the target's place in mm
 *   sent N unsent N unlogged N      and, to stderr, when it ends: datagrams and lines that the system did not take
 *   NUMBER AGE_NS                   the receiver, when it ends
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/command_line.h"
#include "flight/program/poses.h"
#include "lossy.h"

enum { POSES_MOST = 65536 }; /* 18 minutes at 60 frames/s */

struct options {
	const char *poses, *to, *lossy;
	uint32_t port, percent;
	bool listen;
};

static const struct option options_table[] = {
	{ "poses", "FIFO", "what the flight program tells, sent to the other end", OPTION_TEXT(struct options, poses) },
	{ "to", "ADDRESS", "of the other end", OPTION_TEXT(struct options, to) },
	{ "listen", NULL, "be the other end", OPTION_FLAG(struct options, listen) },
	{ "port", "N", "UDP (10030)", OPTION_WHOLE(struct options, port, 1, 65535) },
	{ "lossy", "INTERFACE", "have the kernel lose packets that leave by it, and end",
	  OPTION_TEXT(struct options, lossy) },
	{ "percent", "N", "of them (10)", OPTION_WHOLE(struct options, percent, 0, 100) },
	{ 0 },
};

const struct program program = {
	.name = "rtqual-peer",
	.synopsis = "rtqual-peer --poses=FIFO --to=ADDRESS\nrtqual-peer --listen\nrtqual-peer --lossy=INTERFACE "
		    "--percent=N\n",
	.notes = "docs/verify.md and docs/docking/lidar.md explain it.\n",
	.tables = { options_table },
};

struct datagram {
	uint64_t number;
	struct pose_told pose;
};

static volatile sig_atomic_t ended;

static void end(int signal)
{
	(void)signal;
	ended = 1;
}

static uint64_t clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* A log that takes no more must hold up no pose: such a line is counted. */
static bool logged(const struct datagram *sent)
{
	const double *at = sent->pose.position;
	char line[160];
	const int octets = snprintf(line, sizeof(line), "%llu %llu %u %.3f %.3f %.3f\n",
				    (unsigned long long)sent->number, (unsigned long long)sent->pose.frame_ns,
				    sent->pose.status, at[0] * 1000, at[1] * 1000, at[2] * 1000);

	return write(STDOUT_FILENO, line, (size_t)octets) == octets;
}

static void send_poses(const struct options *options, struct sockaddr_in *to)
{
	struct datagram sent = { 0 };
	unsigned long unsent = 0, unlogged = 0;
	struct stat status;
	/* For writing too: then its end is not the flight program's. */
	const int fifo = open(options->poses, O_RDWR | O_CLOEXEC), way = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fifo < 0 || fstat(fifo, &status) || !S_ISFIFO(status.st_mode))
		die(BAD_INPUT, "--poses=%s is no FIFO that can be opened: make one with mkfifo", options->poses);
	if (way < 0 || connect(way, (const struct sockaddr *)to, sizeof(*to)))
		die(RUN_FAILED, "no way to %s: %s", options->to, strerror(errno));
	if (fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK))
		die(RUN_FAILED, "the output: %s", strerror(errno));
	while (!ended) {
		const ssize_t got = read(fifo, &sent.pose, sizeof(sent.pose));

		if (got != sizeof(sent.pose)) {
			if (got >= 0 || errno != EINTR)
				die(RUN_FAILED, "--poses=%s gave no whole pose", options->poses);
			continue;
		}
		unsent += send(way, &sent, sizeof(sent), MSG_DONTWAIT) != sizeof(sent);
		unlogged += !logged(&sent);
		sent.number++;
	}
	fprintf(stderr, "sent %llu unsent %lu unlogged %lu\n", (unsigned long long)sent.number, unsent, unlogged);
}

static void receive_poses(const struct options *options, struct sockaddr_in *at)
{
	static struct {
		uint64_t number, age_ns;
	} came[POSES_MOST];
	const int way = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	unsigned count = 0;

	at->sin_addr.s_addr = htonl(INADDR_ANY);
	if (way < 0 || bind(way, (const struct sockaddr *)at, sizeof(*at)))
		die(RUN_FAILED, "port %u: %s", options->port, strerror(errno));
	while (!ended) {
		struct datagram got;
		const ssize_t octets = recv(way, &got, sizeof(got), 0);
		const uint64_t now_ns = clock_ns();

		if (octets != sizeof(got)) {
			if (octets >= 0 || errno != EINTR)
				die(RUN_FAILED, "what came was no pose");
			continue;
		}
		if (count == POSES_MOST)
			die(RUN_FAILED, "more than %d poses came", POSES_MOST);
		came[count].number = got.number;
		came[count++].age_ns = now_ns - got.pose.frame_ns;
	}
	for (unsigned one = 0; one < count; one++)
		printf("%llu %llu\n", (unsigned long long)came[one].number, (unsigned long long)came[one].age_ns);
	if (fflush(stdout))
		die(RUN_FAILED, "the output: %s", strerror(errno));
}

int main(int argc, char **argv)
{
	static struct options options = { .port = 10030, .percent = 10 };
	const struct sigaction ending = { .sa_handler = end }; /* no SA_RESTART: it ends a wait */
	struct sockaddr_in where = { .sin_family = AF_INET };

	command_line_read(argc, argv, &options);
	if (!!options.listen + !!options.lossy + (options.poses && options.to) != 1 || !options.poses != !options.to)
		die(BAD_INPUT, "--listen alone, --lossy alone, or --poses and --to, are needed");
	if (options.lossy) {
		const int error = lossy_make(options.lossy, options.percent);

		if (error)
			die(RUN_FAILED, "%s cannot be made to lose packets (it needs root and sch_netem): %s",
			    options.lossy, strerror(error));
		return 0;
	}
	if (options.to && inet_pton(AF_INET, options.to, &where.sin_addr) != 1)
		die(BAD_INPUT, "--to=%s: write an IPv4 address, as 10.0.0.2", options.to);
	where.sin_port = htons((uint16_t)options.port);
	if (sigaction(SIGTERM, &ending, NULL) || mlockall(MCL_CURRENT | MCL_FUTURE))
		die(RUN_FAILED, "getting ready (be root): %s", strerror(errno));
	if (options.listen)
		receive_poses(&options, &where);
	else
		send_poses(&options, &where);
	return 0;
}

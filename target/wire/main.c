// SPDX-License-Identifier: MIT
/*
 * rtqual-wire: the other end of a program's link. Opens its end, starts what runs the program, waits until that says that
 * it is ready, and then plays a timed script of octets and faults; logs every octet that it sends or gets with ns since
 * the link came up. It judges nothing, and cuts no packets. At the end it has the program ended (SIGTERM).
 *
 *   rtqual-wire --link=LINK --script=FILE --log=FILE --report=FILE -- SUPERVISOR [ARG...]
 *
 * LINK: connect:PORT and listen:PORT (TCP), udp:TO:FROM, pty:PATH (a serial line, whose other end is at PATH). All is on
 * the board itself.
 *
 * The script, in the order of its times: NS send HEX, NS signal NUMBER (to the program), NS clock NS (the real-time
 * clock, by so much), NS close, NS open, NS end.
 *
 * The log: as that of rtqual-ground (docking/ground/main.c), with `recv` for what one read gave, and with the threads of
 * the program and its children when the script begins and when it ends: NS thread begin|end RAN_NS NAME, the name in
 * hex.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "common/command_line.h"
#include "common/far_end.h"
#include "common/step_clock.h"

enum { MOST_READ = 65536, LOOK_NS = 10000000, MOST_THREADS = 256, DEEPEST = 64 };
enum { LOG_MOST = 6 << 20 }; /* a program that floods its link ends the log, not the board's memory */
enum way { CONNECT, LISTEN, UDP, PTY };

struct options {
	const char *link, *script, *log, *report;
	uint32_t patience_ms;
};

struct wire {
	enum way way;
	int to, from; /* ports */
	const char *path; /* of a pty */
	int fd, listening; /* -1: none */
	bool wanted; /* whether there should be a link */
	pid_t supervisor;
	FILE *log;
	const char *report;
	int64_t start_ns;
	unsigned long sent, received;
	long long logged; /* octets */
};

static const struct option options_table[] = {
	{ "link", "LINK", "connect:PORT, listen:PORT, udp:TO:FROM or pty:PATH", OPTION_TEXT(struct options, link) },
	{ "script", "FILE", "what to do and when", OPTION_TEXT(struct options, script) },
	{ "log", "FILE", "what was sent and what came", OPTION_TEXT(struct options, log) },
	{ "report", "FILE", "where the supervisor says `pid` and `begin`", OPTION_TEXT(struct options, report) },
	{ "patience-ms", "MS", "how long the link may take to come up (10000)",
	  OPTION_WHOLE(struct options, patience_ms, 1, PATIENCE_MS_MOST) },
	{ 0 },
};

const struct program program = {
	.name = "rtqual-wire",
	.synopsis = "plays octets and faults at their times to a program, logs what comes back",
	.tables = { options_table },
};

static int64_t now_ns(const struct wire *wire)
{
	return clock_ns() - wire->start_ns;
}

static struct sockaddr_in at_port(int port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons((uint16_t)port),
				     .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

/* --- the link ------------------------------------------------------------------------------------ */

static void read_link(struct wire *wire, const char *text)
{
	char rest;

	if (sscanf(text, "connect:%d%c", &wire->to, &rest) == 1)
		wire->way = CONNECT;
	else if (sscanf(text, "listen:%d%c", &wire->from, &rest) == 1)
		wire->way = LISTEN;
	else if (sscanf(text, "udp:%d:%d%c", &wire->to, &wire->from, &rest) == 2)
		wire->way = UDP;
	else if (!strncmp(text, "pty:/", 5))
		wire->way = PTY, wire->path = text + 4;
	else
		die(BAD_INPUT, "--link %s: write connect:PORT, listen:PORT, udp:TO:FROM or pty:PATH", text);
}

static void bind_to(int fd, int port)
{
	const struct sockaddr_in here = at_port(port);
	const int one = 1;

	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (const struct sockaddr *)&here, sizeof(here)))
		die(RUN_FAILED, "port %d cannot be had: %s", port, strerror(errno));
}

static int listening_at(int port)
{
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		die(RUN_FAILED, "no socket: %s", strerror(errno));
	bind_to(fd, port);
	if (listen(fd, 1))
		die(RUN_FAILED, "port %d cannot be listened at: %s", port, strerror(errno));
	return fd;
}

/* Both ends raw: octets, no lines. The other end stays open here, so that the program may close and open it. */
static int open_pty(const char *path)
{
	struct termios raw;
	int fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), other;

	if (fd < 0 || grantpt(fd) || unlockpt(fd))
		die(RUN_FAILED, "no pseudo terminal: %s", strerror(errno));
	other = open(ptsname(fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (other < 0 || tcgetattr(other, &raw))
		die(RUN_FAILED, "%s cannot be opened: %s", ptsname(fd), strerror(errno));
	cfmakeraw(&raw);
	if (tcsetattr(other, TCSANOW, &raw) || symlink(ptsname(fd), path))
		die(RUN_FAILED, "%s cannot be made: %s", path, strerror(errno));
	return fd;
}

/* What must be there before the program starts. */
static void open_end(struct wire *wire)
{
	switch (wire->way) {
	case CONNECT:
		break;
	case PTY:
		wire->fd = open_pty(wire->path);
		break;
	case UDP:
		wire->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
		if (wire->fd < 0)
			die(RUN_FAILED, "no socket: %s", strerror(errno));
		bind_to(wire->fd, wire->from);
		break;
	case LISTEN:
		wire->listening = listening_at(wire->from);
		break;
	}
}

/* Whether there is a link, or can be one now. */
static bool try_link(struct wire *wire)
{
	const struct sockaddr_in there = at_port(wire->to);

	if (wire->way == CONNECT)
		wire->fd = connect_to(&there);
	else if (wire->way == LISTEN) {
		wire->fd = accept4(wire->listening, NULL, NULL, SOCK_CLOEXEC);
		if (wire->fd >= 0 && !sends_at_once(wire->fd))
			wire->fd = -1;
	}
	return wire->fd >= 0;
}

static void drop_link(struct wire *wire)
{
	if (wire->fd >= 0 && (wire->way == CONNECT || wire->way == LISTEN)) {
		close(wire->fd);
		wire->fd = -1;
	}
}

static void receive(struct wire *wire)
{
	static uint8_t octets[MOST_READ];
	const int one = 1;
	ssize_t got = recv(wire->fd, octets, sizeof(octets), MSG_DONTWAIT);
	int64_t at_ns = now_ns(wire);

	if (got < 0 && errno == ENOTSOCK)
		got = read(wire->fd, octets, sizeof(octets));
	if (got < 0 && (errno == EAGAIN || errno == EINTR || errno == ECONNREFUSED))
		return;
	if (got <= 0 && wire->way != UDP) {
		fprintf(wire->log, "%lld lost 0\n", (long long)at_ns);
		drop_link(wire);
		return;
	}
	/* Else Nagle's algorithm at the other end waits 40 ms for an acknowledgement that is delayed here. */
	if (wire->way == CONNECT || wire->way == LISTEN)
		setsockopt(wire->fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof(one));
	if (got <= 0 || !wire->wanted)
		return;
	wire->logged += 2 * got + 32;
	if (wire->logged > LOG_MOST)
		die(RUN_FAILED, "the program sent more than is logged (%d MiB as text)", LOG_MOST >> 20);
	fprintf(wire->log, "%lld recv ", (long long)at_ns);
	print_octets(wire->log, octets, (size_t)got);
	wire->received++;
}

static void listen_until(struct wire *wire, int64_t until_ns)
{
	for (;;) {
		int64_t left = until_ns - now_ns(wire);

		if (wire->fd < 0 && wire->wanted) {
			if (try_link(wire)) {
				fprintf(wire->log, "%lld up\n", (long long)now_ns(wire));
				continue;
			}
			left = left < RETRY_NS ? left : RETRY_NS;
		}
		if (until_ns - now_ns(wire) <= 0)
			return;
		if (comes_within(wire->fd, left))
			receive(wire);
	}
}

/* --- the program --------------------------------------------------------------------------------- */

/* The number that a line of the supervisor's report begins with this word; 0: there is no such line yet. */
static long long reported(const char *path, const char *word)
{
	char line[512];
	const size_t length = strlen(word);
	long long found = 0;
	FILE *report = fopen(path, "re");

	while (report && !found && fgets(line, sizeof(line), report))
		if (!strncmp(line, word, length) && line[length] == ' ')
			found = atoll(line + length);
	if (report)
		fclose(report);
	return found;
}

static bool is_there(struct wire *wire, int *status)
{
	return waitpid(wire->supervisor, status, WNOHANG) == 0;
}

static void start(struct wire *wire, char **argv)
{
	wire->supervisor = fork();
	if (wire->supervisor < 0)
		die(RUN_FAILED, "the program cannot be started: %s", strerror(errno));
	if (!wire->supervisor) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		execvp(argv[0], argv);
		_exit(127);
	}
}

static void await_link(struct wire *wire, const struct options *options)
{
	const int64_t latest_ns = clock_ns() + options->patience_ms * 1000000ll;
	const struct timespec look = { .tv_nsec = LOOK_NS }, retry = { .tv_nsec = RETRY_NS };
	int status = 0;

	while (!reported(options->report, "begin")) {
		if (!is_there(wire, &status))
			die(RUN_FAILED, "the program ended before it was ready");
		nanosleep(&look, NULL);
	}
	while (!try_link(wire)) {
		if (!is_there(wire, &status))
			die(RUN_FAILED, "the program ended before there was a link");
		if (clock_ns() > latest_ns) {
			kill(wire->supervisor, SIGTERM);
			waitpid(wire->supervisor, &status, 0);
			die(RUN_FAILED, "%s: there was no link within %u ms", options->link, options->patience_ms);
		}
		nanosleep(&retry, NULL);
	}
}

/* --- its threads --------------------------------------------------------------------------------- */

static bool read_text(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	text[got < 0 ? 0 : got] = '\0';
	return got > 0;
}

static bool is_of(pid_t pid, pid_t program)
{
	char path[64], text[512];

	for (int depth = 0; pid > 1 && pid != program && depth < DEEPEST; depth++) {
		const char *after;
		int parent = 0;

		snprintf(path, sizeof(path), "/proc/%d/stat", pid);
		if (!read_text(path, text, sizeof(text)) || !(after = strrchr(text, ')')) ||
		    sscanf(after + 1, " %*c %d", &parent) != 1)
			return false;
		pid = parent;
	}
	return pid == program;
}

static void tell_threads_of(struct wire *wire, pid_t pid, const char *when, int *left)
{
	char path[80], name[64], ran[128];
	const struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && *left > 0 && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/comm", pid, entry->d_name);
		if (entry->d_name[0] == '.' || !read_text(path, name, sizeof(name)))
			continue;
		name[strcspn(name, "\n")] = '\0';
		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/schedstat", pid, entry->d_name);
		if (!name[0] || !read_text(path, ran, sizeof(ran)))
			ran[0] = '\0';
		fprintf(wire->log, "%lld thread %s %lld ", (long long)now_ns(wire), when, atoll(ran));
		print_octets(wire->log, (const uint8_t *)name, strlen(name));
		--*left;
	}
	if (tasks)
		closedir(tasks);
}

static void tell_threads(struct wire *wire, const char *when)
{
	const pid_t program = (pid_t)reported(wire->report, "pid");
	const struct dirent *entry;
	int left = MOST_THREADS;
	DIR *all = opendir("/proc");

	while (all && program > 0 && (entry = readdir(all))) {
		const pid_t pid = atoi(entry->d_name);

		if (pid > 0 && is_of(pid, program))
			tell_threads_of(wire, pid, when, &left);
	}
	if (all)
		closedir(all);
}

/* --- the script ---------------------------------------------------------------------------------- */

static void send_octets(struct wire *wire, const uint8_t *octets, size_t count, size_t number)
{
	const struct sockaddr_in there = at_port(wire->to);
	const int64_t at_ns = now_ns(wire);
	ssize_t done = -1;

	if (wire->way == UDP)
		done = sendto(wire->fd, octets, count, MSG_DONTWAIT, (const struct sockaddr *)&there, sizeof(there));
	else if (wire->way == PTY)
		done = write(wire->fd, octets, count);
	else if (wire->fd >= 0)
		done = send(wire->fd, octets, count, MSG_NOSIGNAL | MSG_DONTWAIT);
	/* ECONNREFUSED tells of an earlier datagram, which nobody took; so does silence. */
	if (done < 0 && wire->way == UDP && errno == ECONNREFUSED)
		done = sendto(wire->fd, octets, count, MSG_DONTWAIT, (const struct sockaddr *)&there, sizeof(there));
	if (done != (ssize_t)count || !wire->wanted) {
		fprintf(wire->log, "%lld unsent %zu\n", (long long)at_ns, number);
		return;
	}
	fprintf(wire->log, "%lld send %zu ", (long long)at_ns, number);
	print_octets(wire->log, octets, count);
	wire->sent++;
}

/* Returns false after the script's last line. */
static bool play(struct wire *wire, char *line, size_t number)
{
	char *left = line, *at = strsep(&left, " "), *verb = strsep(&left, " "), *stop = NULL;
	const int64_t due_ns = at ? strtoll(at, &stop, 10) : -1;
	const char *why = NULL;
	int64_t at_ns;
	size_t count;

	if (!verb || due_ns < 0 || *stop)
		die(BAD_INPUT, "line %zu of the script is no step", number);
	listen_until(wire, due_ns);
	at_ns = now_ns(wire);
	if (!strcmp(verb, "end")) {
		tell_threads(wire, "end");
		fprintf(wire->log, "%lld end %lu %lu\n", (long long)now_ns(wire), wire->sent, wire->received);
		return false;
	}
	if (!strcmp(verb, "send") && left && (count = read_octets(left))) {
		send_octets(wire, (const uint8_t *)left, count, number);
		return true;
	}
	if (!strcmp(verb, "close")) {
		drop_link(wire);
		wire->wanted = false;
		if (wire->way == LISTEN) { /* else the kernel would go on to take connections, and what comes by them */
			close(wire->listening);
			wire->listening = -1;
		}
		fprintf(wire->log, "%lld closed\n", (long long)at_ns);
	} else if (!strcmp(verb, "open")) {
		wire->wanted = true;
		if (wire->way == LISTEN && wire->listening < 0)
			wire->listening = listening_at(wire->from);
		if (wire->fd >= 0)
			fprintf(wire->log, "%lld up\n", (long long)at_ns);
	} else if (!strcmp(verb, "signal") && left) {
		const pid_t pid = (pid_t)reported(wire->report, "pid");

		why = pid > 0 && !kill(pid, atoi(left)) ? NULL : "the program does not run";
	} else if (!strcmp(verb, "clock") && left) {
		why = step_clock(strtoll(left, NULL, 10));
	} else {
		die(BAD_INPUT, "line %zu of the script is no step", number);
	}
	if (why)
		fprintf(wire->log, "%lld failed %zu %s\n", (long long)at_ns, number, why);
	else
		fprintf(wire->log, "%lld did %zu\n", (long long)at_ns, number);
	return true;
}

int main(int argc, char **argv)
{
	static struct options options = { .patience_ms = 10000 };
	static struct wire wire = { .fd = -1, .listening = -1, .wanted = true };
	static char buffer[1 << 20];
	char *line = NULL;
	size_t room = 0, number = 0;
	int words = 1, status = 0;
	FILE *script;

	while (words < argc && strcmp(argv[words], "--"))
		words++;
	command_line_read(words, argv, &options);
	if (!options.link || !options.script || !options.log || !options.report || words + 1 >= argc)
		die(BAD_INPUT, "--link, --script, --log, --report and, after --, what to start are needed");
	read_link(&wire, options.link);
	wire.report = options.report;
	script = fopen(options.script, "re");
	if (!script)
		die(BAD_INPUT, "the script %s cannot be read: %s", options.script, strerror(errno));
	wire.log = fopen(options.log, "we");
	if (!wire.log)
		die(RUN_FAILED, "the log %s cannot be written: %s", options.log, strerror(errno));
	setvbuf(wire.log, buffer, _IOFBF, sizeof(buffer));
	open_end(&wire);
	start(&wire, argv + words + 1);
	await_link(&wire, &options);
	wire.start_ns = clock_ns();
	fputs("0 up\n", wire.log);
	tell_threads(&wire, "begin");
	for (;;) {
		if (getline(&line, &room, script) < 0)
			die(BAD_INPUT, "the script %s has no line `NS end` at its end", options.script);
		line[strcspn(line, "\n")] = '\0';
		if (!play(&wire, line, ++number))
			break;
	}
	free(line);
	fclose(script);
	if (fflush(wire.log) || fclose(wire.log))
		die(RUN_FAILED, "the log %s cannot be written: %s", options.log, strerror(errno));
	kill(wire.supervisor, SIGTERM);
	waitpid(wire.supervisor, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : RUN_FAILED;
}

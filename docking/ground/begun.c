// SPDX-License-Identifier: MIT
/* A log that outlives a reset of the machine: where to go on with the script. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command_line.h"
#include "script.h"

/* Beside the log. */
static void start_path(const char *log, char path[4096])
{
	if (snprintf(path, 4096, "%s.start", log) >= 4096)
		die(BAD_INPUT, "--log: its name is too long");
}

static FILE *open_kept(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

	if (!file)
		die(RUN_FAILED, "%s cannot be written: %s", path, strerror(errno));
	return file;
}

/* Each line is on the disk when it is written. */
FILE *log_kept(const char *path, off_t at)
{
	FILE *log = open_kept(path, O_DSYNC);

	if (fseeko(log, at, SEEK_SET))
		die(RUN_FAILED, "the log %s cannot be gone on with: %s", path, strerror(errno));
	return log;
}

void log_sync(FILE *log)
{
	if (fflush(log) || fsync(fileno(log)))
		die(RUN_FAILED, "the log cannot be kept: %s", strerror(errno));
}

void log_began(const char *path, int64_t start_ns)
{
	char beside[4096];
	FILE *file;

	start_path(path, beside);
	file = open_kept(beside, O_TRUNC);
	fprintf(file, "%lld\n", (long long)start_ns);
	log_sync(file);
	if (fclose(file))
		die(RUN_FAILED, "%s cannot be written: %s", beside, strerror(errno));
}

static int64_t started(const char *path)
{
	char beside[4096], text[32] = "";
	FILE *file;

	start_path(path, beside);
	file = fopen(beside, "re");
	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	return strtoll(text, NULL, 10);
}

bool log_begun(const char *path, struct begun *begun)
{
	FILE *log = fopen(path, "r+e");
	char *line = NULL;
	size_t room = 0;
	off_t whole = 0;
	ssize_t got = 0;

	*begun = (struct begun){ 0 };
	while (log && (got = getline(&line, &room, log)) > 0 && line[got - 1] == '\n') {
		char what[8] = "";
		size_t step = 0;

		whole += got;
		sscanf(line, "%*d %7s %zu", what, &step);
		begun->sent += !strcmp(what, "send");
		begun->received += !strcmp(what, "recv");
		begun->ended |= !strcmp(what, "end");
		if ((!strcmp(what, "send") || !strcmp(what, "unsent") || !strcmp(what, "did") ||
		     !strcmp(what, "failed")) &&
		    step > begun->steps)
			begun->steps = step;
	}
	/* Half a line, and the room behind it. */
	const size_t half = log && got > 0 ? strnlen(line, (size_t)got) : 0;

	if (half && pwrite(fileno(log), memset(line, 0, half), half, whole) != (ssize_t)half)
		die(RUN_FAILED, "the log %s cannot be gone on with: %s", path, strerror(errno));
	free(line);
	begun->octets = whole;
	if (log)
		fclose(log);
	begun->start_ns = started(path);
	return begun->start_ns;
}

// SPDX-License-Identifier: MIT
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/step_clock.h"
#include "script.h"

static const char *write_line(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC); /* ENXIO where nobody reads */
	struct stat status;
	const char *why = NULL;

	if (fd < 0)
		return strerror(errno);
	if (fstat(fd, &status) || !S_ISFIFO(status.st_mode))
		why = "no FIFO";
	else if (dprintf(fd, "%s\n", text) != (int)strlen(text) + 1)
		why = "not all was written";
	close(fd);
	return why;
}

/* By the first word of its command line, without folders. */
pid_t process_named(const char *entry, const char *name)
{
	char path[32], line[256] = "";
	const char *slash;
	ssize_t got;
	int fd;

	if (*entry < '0' || *entry > '9')
		return 0;
	snprintf(path, sizeof(path), "/proc/%.10s/cmdline", entry);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	got = read(fd, line, sizeof(line) - 1);
	close(fd);
	if (got <= 0)
		return 0;
	slash = strrchr(line, '/');
	return strcmp(slash ? slash + 1 : line, name) ? 0 : (pid_t)strtol(entry, NULL, 10);
}

static const char *signal_all(const char *name, int number)
{
	DIR *processes = opendir("/proc");
	const char *why = "no such program runs";
	const struct dirent *entry;

	if (!processes)
		return strerror(errno);
	while ((entry = readdir(processes))) {
		const pid_t process = process_named(entry->d_name, name);

		if (!process)
			continue;
		why = kill(process, number) ? strerror(errno) : NULL;
		if (why)
			break;
	}
	closedir(processes);
	return why;
}

static const char *fill(const char *path)
{
	static const char zeros[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	size_t piece = sizeof(zeros), done = 0;
	const size_t most = 256 << 20; /* a disk that takes more is none that should be filled */
	const char *why = NULL;

	if (fd < 0)
		return strerror(errno);
	while (piece) {
		ssize_t got = write(fd, zeros, piece);

		if (got < 0 && errno != ENOSPC)
			why = strerror(errno);
		else if (got <= 0)
			piece /= 2; /* to the last octet */
		else if ((done += (size_t)got) > most)
			why = "the disk takes more than 256 MiB";
		if (why)
			break;
	}
	close(fd);
	return why;
}

static const char *put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	const char *why = fd < 0 || write(fd, text, strlen(text)) < 0 ? strerror(errno) : NULL;

	if (fd >= 0)
		close(fd);
	return why;
}

/* A kernel that panics and does not start anew by itself hangs: nothing runs any more, and only a watchdog ends that. */
static const char *end_kernel(const char *how)
{
	const char *why = strcmp(how, "hang") ? NULL : put("/proc/sys/kernel/panic", "0");

	return why ? why : put("/proc/sysrq-trigger", "c");
}

const char *fault_do(const struct step *step)
{
	switch (step->verb) {
	case WRITE:
		return write_line(step->word, step->text);
	case SIGNAL:
		return signal_all(step->word, (int)step->number);
	case CLOCK:
		return step_clock(step->number);
	case FILL:
		return fill(step->word);
	case FREE:
		return unlink(step->word) ? strerror(errno) : NULL;
	case FLIP:
		return flip(step->word, step->text);
	case KERNEL:
		return end_kernel(step->word);
	default:
		return NULL;
	}
}

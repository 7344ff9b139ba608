// SPDX-License-Identifier: MIT
/* What a restart keeps: one file, replaced as a whole. kept.c has what is in it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sabotage.h"
#include "world.h"

static size_t read_file(const char *path, void *to, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t got = fd < 0 ? -1 : read(fd, to, room);

	if (fd >= 0)
		close(fd);
	return got < 0 ? 0 : (size_t)got;
}

/* Sixteen octets of the identity that Linux draws at each boot. */
static void boot_id(uint8_t id[16])
{
	char text[40] = { 0 };

	read_file("/proc/sys/kernel/random/boot_id", text, sizeof(text) - 1);
	memset(id, 0, 16);
	for (size_t one = 0, digit = 0; one < sizeof(text) && digit < 32; one++) {
		const char c = text[one];
		const int value = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;

		if (value >= 0) {
			id[digit / 2] = (uint8_t)(id[digit / 2] << 4 | value);
			digit++;
		}
	}
}

bool keep_read(const char *path, struct kept *kept, enum cause *cause)
{
	static uint8_t file[KEEP_OCTETS + 1];
	const size_t octets = path ? read_file(path, file, sizeof(file)) : 0;
	const struct settings *settings = &kept->settings;
	uint8_t id[16];
	bool sound = keep_sound(file, octets, kept);

	boot_id(id);
	*cause = !path || (!octets && access(path, F_OK)) ? CAUSE_COLD : CAUSE_STATE_LOST;
	if (!sound)
		memset(kept, 0, sizeof(*kept));
	if (sound)
		*cause = settings->orderly                         ? CAUSE_COMMANDED :
			 memcmp(id, settings->boot_id, sizeof(id)) ? CAUSE_RESET :
								     CAUSE_CRASHED;
	return sound;
}

static bool counter_path(const char *path, int number, char name[4096])
{
	if (snprintf(name, 4096, "%s.counter%d", path, number) < 4096)
		return true;
	errno = ENAMETOOLONG;
	return false;
}

void counter_read(const char *path, struct counter copy[COUNTER_COPIES])
{
	char name[4096];

	memset(copy, 0, COUNTER_COPIES * sizeof(*copy));
	for (int one = 0; path && one < COUNTER_COPIES; one++)
		if (!counter_path(path, one + 1, name) || read_file(name, &copy[one], sizeof(*copy)) != sizeof(*copy))
			memset(&copy[one], 0, sizeof(*copy));
}

/* In place: that takes no room, so that a full disk does not matter. */
bool counter_write(const char *path, uint64_t count)
{
	struct counter copy[COUNTER_COPIES];
	char name[4096];
	int failed = 0;

	if (SABOTAGE_FORGETS)
		return true;
	counter_set(copy, count);
	for (int one = 0; one < COUNTER_COPIES; one++) {
		int fd = counter_path(path, one + 1, name) ?
				 open(name, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600) :
				 -1;

		if (fd < 0 || pwrite(fd, &copy[one], sizeof(*copy), 0) != sizeof(*copy) || fsync(fd))
			failed = errno;
		if (fd >= 0)
			close(fd);
	}
	errno = failed;
	return !failed;
}

bool keep_write(const char *path, struct kept *kept)
{
	static uint8_t file[KEEP_OCTETS];
	char new[4096];
	int fd, error = 0;

	if (SABOTAGE_FORGETS)
		return true;
	if (snprintf(new, sizeof(new), "%s.new", path) >= (int)sizeof(new)) {
		errno = ENAMETOOLONG;
		return false;
	}
	boot_id(kept->settings.boot_id);
	keep_make(file, kept);
	fd = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	errno = ENOSPC; /* where fewer octets were taken */
	if (write(fd, file, sizeof(file)) != (ssize_t)sizeof(file) || fsync(fd))
		error = errno;
	close(fd);
	if (!error && rename(new, path))
		error = errno;
	if (error)
		unlink(new);
	errno = error;
	return !error;
}

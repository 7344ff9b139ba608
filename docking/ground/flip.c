// SPDX-License-Identifier: MIT
/*
 * Bits of a program's state flip, as by radiation. The state is found by what it is: the program's memory is searched for
 * what its file of state begins with, once, and once more right behind a whole state (struct flight of program).
 * So no symbol and no address has to be known, and what is no working copy is not hit.
 */
#define _FILE_OFFSET_BITS 64 /* addresses of 32-bit programs */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "script.h"

enum {
	HEAD = 16, /* octets of the file before the state (docking/flight/program/kept.c) */
	SOUGHT = 64, /* octets of it that are compared */
	PIECE = 64 * 1024, /* is read at once */
	STEP = 4, /* the state has words of so many octets */
};

struct state {
	uint8_t begins[SOUGHT];
	ssize_t octets; /* of it all: the second copy follows */
};

static const char *read_state(const char *path, struct state *state)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	const char *why = NULL;

	if (fd < 0 || fstat(fd, &status))
		why = strerror(errno);
	else if (pread(fd, state->begins, SOUGHT, HEAD) != SOUGHT || status.st_size > PIECE / 2)
		why = "the file holds no state";
	else
		state->octets = status.st_size - HEAD;
	if (fd >= 0)
		close(fd);
	return why;
}

static int open_of(const char *name, const char *what, int flags)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;
	char path[32];
	pid_t process = 0;

	while (processes && !process && (entry = readdir(processes)))
		process = process_named(entry->d_name, name);
	if (processes)
		closedir(processes);
	errno = ESRCH;
	snprintf(path, sizeof(path), "/proc/%d/%s", process, what);
	return process ? open(path, flags | O_CLOEXEC) : -1;
}

/* Where both copies lie between two addresses; 0: nowhere. */
static off_t find_between(int memory, off_t from, off_t to, const struct state *state)
{
	static uint8_t piece[PIECE];
	const ssize_t span = state->octets + SOUGHT;
	ssize_t got;

	for (; from + span <= to; from += got - span + STEP) {
		got = pread(memory, piece, to - from < PIECE ? (size_t)(to - from) : PIECE, from);
		if (got < span)
			return 0; /* no memory, whatever it is */
		for (ssize_t at = 0; at + span <= got; at += STEP)
			if (piece[at] == *state->begins && !memcmp(piece + at, state->begins, SOUGHT) &&
			    !memcmp(piece + at + state->octets, state->begins, SOUGHT))
				return from + at;
	}
	return 0;
}

static off_t find(const char *name, int memory, const struct state *state)
{
	int fd = open_of(name, "maps", O_RDONLY);
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	char line[512], may[5];
	unsigned long from, to;
	off_t at = 0;

	while (maps && !at && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %4s", &from, &to, may) == 3 && !strncmp(may, "rw", 2))
			at = find_between(memory, (off_t)from, (off_t)to, state);
	if (maps)
		fclose(maps);
	else if (fd >= 0)
		close(fd);
	return at;
}

static const char *flip_bit(int memory, off_t at, unsigned bit)
{
	uint8_t octet;

	if (pread(memory, &octet, 1, at + bit / 8) != 1)
		return strerror(errno);
	octet ^= (uint8_t)(1 << bit % 8);
	return pwrite(memory, &octet, 1, at + bit / 8) == 1 ? NULL : strerror(errno);
}

const char *flip(const char *path, const char *text)
{
	struct state state;
	char name[64];
	unsigned copy, bit;
	int memory = -1, length;
	const char *why = read_state(path, &state);
	off_t at = 0;

	if (!why && sscanf(text, "%63s%n", name, &length) != 1)
		why = "no name";
	if (!why && (memory = open_of(name, "mem", O_RDWR)) < 0)
		why = strerror(errno);
	if (!why && !(at = find(name, memory, &state)))
		why = "its memory does not hold that state twice";
	for (text += why ? 0 : length; !why && *text; text += length) {
		if (sscanf(text, " %1u:%3u%n", &copy, &bit, &length) != 2 || copy > 1 || bit >= 8 * SOUGHT)
			why = "no bit of a state";
		else
			why = flip_bit(memory, at + copy * state.octets, bit);
	}
	if (memory >= 0)
		close(memory);
	return why;
}

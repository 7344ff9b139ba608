// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/command_line.h"
#include "common/far_end.h"
#include "script.h"

static const struct {
	const char *name;
	bool word, text, number; /* what it takes */
} verbs[] = {
	[SEND] = { "send", .text = true },
	[CLOSE] = { "close" },
	[OPEN] = { "open" },
	[WRITE] = { "write", .word = true, .text = true },
	[SIGNAL] = { "signal", .word = true, .number = true },
	[CLOCK] = { "clock", .number = true },
	[FILL] = { "fill", .word = true },
	[FREE] = { "free", .word = true },
	[FLIP] = { "flip", .word = true, .text = true },
	[LOSE] = { "lose", .number = true },
	[STRANGER] = { "stranger", .word = true },
	[KERNEL] = { "kernel", .word = true },
	[END] = { "end" },
};

static bool octets(char *hex, struct step *step)
{
	step->octets = (uint8_t *)hex;
	step->bytes = read_octets(hex);
	return step->bytes;
}

static bool whole(const char *text, int64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 10);
	return *text && !*end && !errno;
}

static bool parsed(char *line, struct step *step)
{
	char *left = line, *at = strsep(&left, " "), *verb = strsep(&left, " "), *word = NULL;
	int one = 0;

	if (!at || !verb || !whole(at, &step->at_ns) || step->at_ns < 0)
		return false;
	while (one <= END && strcmp(verbs[one].name, verb))
		one++;
	if (one > END)
		return false;
	step->verb = (enum verb)one;
	if (verbs[one].word)
		word = strsep(&left, " ");
	step->word = word;
	step->text = left;
	if (verbs[one].word != (word && *word) || (verbs[one].text || verbs[one].number) != (left && *left))
		return false;
	if (verbs[one].number && !whole(left, &step->number))
		return false;
	if (step->verb == LOSE && (step->number < 0 || step->number > 100))
		return false;
	return step->verb != SEND || octets(left, step);
}

size_t script_read(const char *path, struct step *steps, char **held)
{
	long long bytes;
	int fd = open_file("the script ", path, &bytes);
	size_t count = 0, have = 0;
	char *text = bytes <= SCRIPT_MOST ? malloc((size_t)bytes + 1) : NULL;
	ssize_t got;

	*held = text;
	if (!text)
		die(BAD_INPUT, "the script %s is larger than %d bytes", path, SCRIPT_MOST);
	while (have < (size_t)bytes && (got = read(fd, text + have, (size_t)bytes - have)) > 0)
		have += (size_t)got;
	close(fd);
	text[have] = '\0';
	if (strlen(text) != have)
		die(BAD_INPUT, "the script %s holds a zero byte", path);
	for (char *line; text && (line = strsep(&text, "\n")) && *line; count++) {
		if (count == STEPS_MOST || !parsed(line, steps + count))
			die(BAD_INPUT, "line %zu of the script %s is no step, or one too many", count + 1, path);
		if (count && steps[count].at_ns < steps[count - 1].at_ns)
			die(BAD_INPUT, "line %zu of the script %s is earlier than the one before", count + 1, path);
	}
	if (!count || steps[count - 1].verb != END)
		die(BAD_INPUT, "the script %s has no line `NS end` at its end", path);
	return count;
}

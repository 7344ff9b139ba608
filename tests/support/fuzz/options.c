// SPDX-License-Identifier: MIT
/*
 * Command lines made from a program's own tables, right and wrong, and the files that its options name: scenes,
 * recordings, frames to compare with. What must hold: they are read, or refused by one line without a control character
 * and with exit code 2 (3 where the machine is at fault).
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "parser.h"

enum { WORDS = 8, WORD_ROOM = 640, FILE_ROOM = 1 << 16 };
enum { READ, REFUSED, HELPED, FILES };

const char *const reaches[] = { "read", "refused", "answered by help", "files read", NULL };

static jmp_buf ended;
static int said, file; /* what it says on standard error; a file that options can name */
static const char pipe_name[] = "/proc/self/fd/0";
static bool careful; /* every value of this input is in its option's range */
char fuzz_file[32];

void __attribute__((noreturn)) __wrap_exit(int code);
void __wrap_exit(int code)
{
	longjmp(ended, code + 1);
}

void prepare(void)
{
	int ends[2];

	said = memfd_create("said", 0);
	file = memfd_create("file", 0);
	if (said < 0 || file < 0 || pipe(ends) || dup2(ends[0], 0) < 0 || dup2(said, STDERR_FILENO) < 0 ||
	    !freopen("/dev/null", "w", stdout))
		abort();
	close(ends[1]);
	snprintf(fuzz_file, sizeof(fuzz_file), "/proc/self/fd/%d", file);
}

static const struct option *draw_option(void)
{
	const struct option *all[128];
	uint32_t count = 0;

	for (const struct option *const *table = program.tables; *table; table++)
		for (const struct option *one = *table; one->name; one++)
			all[count++] = one;
	return all[draw(count)];
}

static void waypoint(char *text, size_t room)
{
	size_t used = 0;

	for (uint32_t n = draw(20) ? 7 : draw(9); n && used < room; n--)
		used += (size_t)snprintf(text + used, room - used, "%.3g ", draw(30) ? 0.1 * draw(100) : 1e3 * draw(9));
}

static void draw_value(const struct option *option, char *text, size_t room)
{
	static const char *const words[] = { "drop@3:4",
					     "stall@",
					     "unplug@4294967295:3600000",
					     "late@7:9999999",
					     "short@1",
					     "0 0 0 1 0 0 0",
					     "decode,clear",
					     "all",
					     "none",
					     "copy,,",
					     "127.0.0.1:3240",
					     "0.0.0.0:65536",
					     "::1",
					     "/",
					     "/dev/zero",
					     "/nowhere/x",
					     "%s%n",
					     "",
					     "\x1b[31m",
					     "\xff\xfe" };
	uint32_t choices = 0;

	text[0] = '\0';
	if (careful && option->set == option_whole) {
		snprintf(text, room, "%.0f",
			 (double)option->range.whole.least +
				 ((double)option->range.whole.most - (double)option->range.whole.least) * draw(100) /
					 100);
	} else if (careful && option->set == option_real) {
		snprintf(text, room, "%g",
			 option->range.real.least +
				 (option->range.real.most - option->range.real.least) * draw(100) / 100);
	} else if (option->set == option_whole && draw(8)) {
		draw_number(text, room, (double)option->range.whole.least, (double)option->range.whole.most);
	} else if (option->set == option_real && draw(8)) {
		draw_number(text, room, option->range.real.least, option->range.real.most);
	} else if (option->set == option_choice && (careful || draw(8))) {
		while (option->range.names[choices])
			choices++;
		snprintf(text, room, "%s", option->range.names[draw(choices)]);
	} else if (!strcmp(option->name, "at") && draw(8)) {
		waypoint(text, room);
	} else if (!strcmp(option->name, "clutter") && draw(8)) {
		snprintf(text, room, "%d.5 0.2 1 0.%u 0.1 %u", (int)draw(3) - 1, draw(10), draw(12));
	} else if (draw(3)) {
		snprintf(text, room, "%s", careful || draw(8) ? fuzz_file : pipe_name);
	} else {
		snprintf(text, room, "%s", words[draw(sizeof(words) / sizeof(*words))]);
	}
}

/* As often right as wrong: a word with one mistake gets further than noise. */
static void spoil(char *word)
{
	size_t length = strlen(word);

	length = mutate((uint8_t *)word, length, WORD_ROOM - 1);
	word[length] = '\0';
}

/* Lines of a scene, or bytes of any size, as long as frames where those are wanted. */
static void write_file(void)
{
	static char content[FILE_ROOM];
	size_t length = 0;
	static const uint32_t sizes[] = { 0, 1, PARSER_FRAME_BYTES - 1, PARSER_FRAME_BYTES, 2 * PARSER_FRAME_BYTES };

	if (draw(4) == 0) {
		length = draw(sizeof(content));
		for (size_t i = 0; i < length; i++)
			content[i] = (char)draw(256);
		if (ftruncate(file, 0) || pwrite(file, content, length, 0) != (ssize_t)length ||
		    ftruncate(file, sizes[draw(5)]))
			abort();
		return;
	}
	for (uint32_t lines = draw(12); lines && length + 2 * WORD_ROOM < sizeof(content); lines--) {
		const struct option *option = draw_option();
		char value[WORD_ROOM / 2] = "";

		if (option->value)
			draw_value(option, value, sizeof(value));
		length += (size_t)snprintf(content + length, sizeof(content) - length, "%s%s %s%s", draw(9) ? "" : "# ",
					   option->name, value, draw(30) ? "\n" : "\r\n");
	}
	if (!careful && draw(2))
		length = mutate((uint8_t *)content, length, sizeof(content));
	if (ftruncate(file, 0) || pwrite(file, content, length, 0) != (ssize_t)length)
		abort();
}

static void check(int code)
{
	char line[4096];
	ssize_t length = pread(said, line, sizeof(line), 0);
	size_t name = strlen(program.name);

	if (code == 0) {
		reached(HELPED);
		return;
	}
	if (code != BAD_INPUT && code != RUN_FAILED)
		broken("exit code %d", code);
	if (length < (ssize_t)name + 3 || memcmp(line, program.name, name) || line[length - 1] != '\n')
		broken("no line that begins with the program's name: %.*s", (int)length, line);
	for (ssize_t i = 0; i < length - 1; i++)
		if ((unsigned char)line[i] < ' ')
			broken("a control character in: %.*s", (int)length, line);
	/* The probe stops where its result would go: all before that was read. */
	reached(memmem(line, (size_t)length, "cannot write /nowhere/", 22) ? READ : REFUSED);
}

void one_input(void)
{
	static char words[WORDS][WORD_ROOM];
	static char *arguments[WORDS + 5];
	int count = 0, code;

	arguments[count++] = (char *)program.name;
	count = parser_first(arguments, count);
	careful = draw(2);
	write_file();
	for (uint32_t n = draw(WORDS); n; n--) {
		const struct option *option = draw_option();
		char value[WORD_ROOM / 2] = "", *word = words[n];

		if (option->value)
			draw_value(option, value, sizeof(value));
		snprintf(word, WORD_ROOM, "%s%s%s%s", program.bare && draw(4) ? "" : "--", option->name,
			 option->value && draw(30) ? "=" : "", value);
		if (!careful && draw(8) == 0)
			spoil(word);
		arguments[count++] = draw(200) ? word : draw(2) ? "--help" : "--version";
	}
	count = parser_last(arguments, count);
	arguments[count] = NULL;
	if (ftruncate(said, 0) || lseek(said, 0, SEEK_SET))
		abort();
	code = setjmp(ended);
	if (code) {
		check(code - 1);
		return;
	}
	if (parser_run(count, arguments))
		reached(FILES);
	reached(READ);
}

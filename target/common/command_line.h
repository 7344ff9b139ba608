/* SPDX-License-Identifier: MIT */
/* The command line of a program of ours: options (options.h), --help, --version, and one line on what is wrong. */
#ifndef COMMON_COMMAND_LINE_H
#define COMMON_COMMAND_LINE_H

#include "options.h"

enum { BAD_INPUT = 2, RUN_FAILED = 3 };

struct program {
	const char *name;
	const char *synopsis; /* of --help, before the options, */
	const char *notes; /* and after them; NULL: nothing */
	const struct option *tables[4]; /* the last is NULL */
	bool bare; /* `key=value` is an option too */
	/* Takes a word that is not an option; false if it is one too many. NULL: the program takes none.
	 */
	bool (*word)(void *options, const char *word);
	const char *complaint; /* used instead of everything else said about options */
};

/* Every program has these options. */
extern const struct program program;

/* Fills in what the command line says; dies with one line on what is wrong and what is needed. */
void command_line_read(int argc, char **argv, void *options);
void command_line_help(void *file);
/* Prints "PROGRAM: ..." as one line, whatever an option holds, and exits. */
void __attribute__((noreturn, format(printf, 2, 3))) die(int code, const char *format, ...);

/* Opens a file to read it and says how long it is; dies with "WHAT PATH: why" if it is no regular file: no other is
 * opened, for it may wait, act or never end. */
int open_file(const char *what, const char *path, long long *bytes);

option_set option_real;
/* Reads the number at the start of `*text` and moves past it; false if there is no number in this range. */
bool real_at(const char **text, double least, double most, double *value);

#endif

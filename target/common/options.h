/* SPDX-License-Identifier: MIT */
/*
 * A program's options are rows of a table: the same row is read by the command line, by --help and by the tests. All
 * programs speak one dialect, `--key=value`; `--key value` is the same, for older scripts. Nothing here needs a
 * library, so FreeRTOS's image uses it too. command_line.h has the rest for programs.
 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum option_status {
	OPTION_SET,
	OPTION_UNKNOWN,
	OPTION_WITHOUT_VALUE,
	OPTION_NO_NUMBER, /* or a value out of range */
	OPTION_NO_REAL,
	OPTION_NO_CHOICE,
};

struct option;
/* Stores `text` (NULL for a flag) at `to`. */
typedef enum option_status option_set(const struct option *option, void *to, const char *text);

struct option {
	const char *name; /* "timeout-ms"; '_' and '-' are the same. NULL: the table ends */
	const char *value; /* what --help calls its value; NULL: a flag, without a value */
	const char *help;
	option_set *set;
	size_t at, bytes; /* where its value is stored in the program's options, and how large it is */
	union {
		struct {
			int64_t least, most;
		} whole;
		struct {
			double least, most;
		} real;
		const char *const *names; /* the last is NULL */
	} range;
};

#define OPTION_AT(type, field) .at = offsetof(type, field), .bytes = sizeof(((type *)0)->field)
#define OPTION_FLAG(type, field) .set = option_flag, OPTION_AT(type, field)
#define OPTION_TEXT(type, field) .set = option_text, OPTION_AT(type, field)
#define OPTION_WHOLE(type, field, low, high) .set = option_whole, OPTION_AT(type, field), .range.whole = { low, high }
#define OPTION_REAL(type, field, low, high) .set = option_real, OPTION_AT(type, field), .range.real = { low, high }
#define OPTION_CHOICE(type, field, all) .set = option_choice, OPTION_AT(type, field), .range.names = all

option_set option_flag, option_text, option_whole, option_choice;

/* A word of the command line, as it was read. */
struct option_word {
	const char *name, *value; /* without dashes; the value comes from the next word, follows '=', or is NULL */
	int length; /* of the name */
	bool took_next;
	const struct option *option; /* NULL: not an option */
};

/* Looks `word` up in the tables, a list that ends with NULL; `next` is the word after it, or NULL. */
enum option_status option_read(const struct option *const *tables, const char *word, const char *next, void *options,
			       struct option_word *read);

#endif

// SPDX-License-Identifier: MIT
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command_line.h"

void die(int code, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ')
			*at = '?';
	fprintf(stderr, "%s: %s\n", program.name, text);
	exit(code);
}

bool real_at(const char **text, double least, double most, double *value)
{
	char *end;

	errno = 0;
	*value = strtod(*text, &end);
	if (end == *text || errno || !isfinite(*value) || *value < least || *value > most)
		return false;
	*text = end;
	return true;
}

enum option_status option_real(const struct option *option, void *to, const char *text)
{
	return real_at(&text, option->range.real.least, option->range.real.most, to) && !*text ? OPTION_SET :
												 OPTION_NO_REAL;
}

void command_line_help(void *file)
{
	fputs(program.synopsis, file);
	for (const struct option *const *table = program.tables; *table; table++) {
		fputc('\n', file);
		for (const struct option *one = *table; one->name; one++) {
			int width = fprintf(file, "  %s%s", program.bare ? "" : "--", one->name);

			if (one->value)
				width += fprintf(file, "=%s", one->value);
			fprintf(file, "%*s  %s", width < 26 ? 26 - width : 0, "", one->help);
			for (int i = 0; one->set == option_choice && one->range.names[i]; i++)
				fprintf(file, "%s%s", i ? ", " : ": ", one->range.names[i]);
			fputc('\n', file);
		}
	}
	if (program.notes)
		fprintf(file, "\n%s", program.notes);
}

/* ": there are a, b and c", where options look like any other word. */
static void list(char *text, size_t room)
{
	size_t used = (size_t)snprintf(text, room, "%s", program.bare ? ": there are" : "; --help lists them");

	for (const struct option *const *table = program.tables; program.bare && *table; table++) {
		for (const struct option *one = *table; one->name && used < room; one++) {
			const char *before = table == program.tables && one == *table ? "" :
					     !table[1] && !one[1].name                ? " and" :
											",";

			used += (size_t)snprintf(text + used, room - used, "%s %s", before, one->name);
		}
	}
}

static void __attribute__((noreturn)) complain(const char *word, const struct option_word *read,
					       enum option_status status)
{
	const int length = (int)(read->name - word) + read->length; /* with its dashes */
	const struct option *option = read->option;
	char all[400];

	if (program.complaint)
		die(BAD_INPUT, "%.*s: %s", length, word, program.complaint);
	switch (status) {
	case OPTION_NO_NUMBER:
		die(BAD_INPUT, "%.*s=%s: a number from %lld to %lld is needed", length, word, read->value,
		    (long long)option->range.whole.least, (long long)option->range.whole.most);
	case OPTION_NO_REAL:
		die(BAD_INPUT, "%.*s=%s: a number from %g to %g is needed", length, word, read->value,
		    option->range.real.least, option->range.real.most);
	case OPTION_NO_CHOICE:
		die(BAD_INPUT, "%.*s=%s is none of those that --help lists", length, word, read->value);
	case OPTION_WITHOUT_VALUE:
		die(BAD_INPUT, "%.*s needs a value", length, word);
	default:
		list(all, sizeof(all));
		die(BAD_INPUT, "%.*s is no option%s", length, word, all);
	}
}

void command_line_read(int argc, char **argv, void *options)
{
	struct option_word read;

	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		enum option_status status;

		if (!strcmp(word, "--help") || !strcmp(word, "--version")) {
			if (word[2] == 'h')
				command_line_help(stdout);
			else
				printf("%s %s\n", program.name, VERSION);
			exit(0);
		}
		if (strncmp(word, "--", 2) && !(program.bare && strchr(word, '='))) {
			if (program.word && program.word(options, word))
				continue;
			if (program.complaint)
				die(BAD_INPUT, "%s: %s", word, program.complaint);
			die(BAD_INPUT, "%s is no option: %s", word,
			    program.bare ? "options have the form key=value" : "these have the form --KEY=VALUE");
		}
		status = option_read(program.tables, word, i + 1 < argc ? argv[i + 1] : NULL, options, &read);
		if (status != OPTION_SET)
			complain(word, &read, status);
		i += read.took_next;
	}
}

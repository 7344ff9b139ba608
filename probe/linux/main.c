// SPDX-License-Identifier: MIT
/* rtqual-probe on Linux: its command line. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "battery.h"
#include "linux.h"

enum { BAD_INPUT = 2, RUN_FAILED = 3 };

/* Threads with their stacks, of the benchmark that has most, and small objects. */
enum { OBJECT_WORDS = (16 * sizeof(struct port_thread) + 256 * 1024) / sizeof(uint32_t) };

static const char usage[] =
	"rtqual-probe FAMILY [iterations=N] [interval_ns=N] [cpu=N] [priority=N] [seed=N] [out=FILE]\n"
	"rtqual-probe list | --version\n";

struct command {
	const struct family *family;
	struct options options;
	struct settings settings;
	const char *out;
};

static void __attribute__((noreturn, format(printf, 2, 3))) die(int code, const char *format, ...)
{
	va_list args;

	fputs("rtqual-probe: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(code);
}

static uint64_t number(const char *key, const char *text, uint64_t least, uint64_t most)
{
	uint64_t value = 0;
	bool good = *text != '\0';

	for (const char *digit = text; *digit && good; digit++) {
		good = *digit >= '0' && *digit <= '9' && value <= most;
		value = value * 10 + (uint64_t)(*digit - '0');
	}
	if (!good || value < least || value > most)
		die(BAD_INPUT, "%s=%s: a number from %llu to %llu is needed", key, text, (unsigned long long)least,
		    (unsigned long long)most);
	return value;
}

static const struct family *family_of(const char *name)
{
	for (const struct family *family = battery; family->name; family++)
		if (!strcmp(family->name, name))
			return family;
	die(BAD_INPUT, "%s is no family of benchmarks; `rtqual-probe list` names them", name);
}

static void set_option(struct command *command, char *argument)
{
	char *value = strchr(argument, '=');

	if (!value)
		die(BAD_INPUT, "%s is no option: options have the form key=value", argument);
	*value++ = '\0';
	if (!strcmp(argument, "iterations"))
		command->options.iterations = (uint32_t)number(argument, value, 1, 10000000);
	else if (!strcmp(argument, "interval_ns"))
		command->options.interval_ns = number(argument, value, 1000, 60000000000);
	else if (!strcmp(argument, "cpu"))
		command->options.cpu = (int)number(argument, value, 0, LINUX_CPUS_MOST - 1);
	else if (!strcmp(argument, "priority"))
		command->settings.priority = (int)number(argument, value, PRIORITY_LEAST, PRIORITY_MOST);
	else if (!strcmp(argument, "seed"))
		command->options.seed = (uint32_t)number(argument, value, 0, UINT32_MAX);
	else if (!strcmp(argument, "out"))
		command->out = value;
	else
		die(BAD_INPUT, "%s is no option: there are iterations, interval_ns, cpu, priority, seed and out",
		    argument);
}

static void list(void)
{
	for (const struct family *family = battery; family->name; family++) {
		printf("%s: %u iterations, interval %llu ns\n", family->name, family->iterations,
		       (unsigned long long)family->interval_ns);
		for (const struct benchmark *one = family->benchmarks; one->name; one++)
			printf("  %s\n", one->name);
	}
}

static int run(struct command *command)
{
	static struct workspace workspace;
	uint32_t iterations = command->options.iterations ? command->options.iterations : command->family->iterations;

	signal(SIGPIPE, SIG_IGN); /* a reader that went away is an error of writing, with a message */
	command->settings.samples = (size_t)iterations * SERIES_MOST + command->family->words + OBJECT_WORDS;
	command->settings.out = STDOUT_FILENO;
	if (command->out)
		command->settings.out = open(command->out, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (command->settings.out < 0)
		die(BAD_INPUT, "cannot write %s: %s", command->out, strerror(errno));
	if (linux_setup(&command->settings) != PORT_OK)
		die(RUN_FAILED, "%s", port_failure());
	if (command->options.cpu == PORT_ANY_CPU)
		command->options.cpu = linux_first_cpu();
	if (battery_run(command->family, &command->options, &workspace) != PORT_OK)
		die(RUN_FAILED, "%s", workspace.complaint);
	return 0;
}

int main(int argc, char **argv)
{
	struct command command = { .settings.priority = 80, .options.cpu = PORT_ANY_CPU };

	if (argc < 2 || !strcmp(argv[1], "--help")) {
		fputs(usage, argc < 2 ? stderr : stdout);
		return argc < 2 ? BAD_INPUT : 0;
	}
	if (!strcmp(argv[1], "--version")) {
		puts("rtqual-probe " VERSION);
		return 0;
	}
	if (!strcmp(argv[1], "list")) {
		list();
		return 0;
	}
	command.family = family_of(argv[1]);
	for (int i = 2; i < argc; i++)
		set_option(&command, argv[i]);
	return run(&command);
}

// SPDX-License-Identifier: MIT
/* rtqual-probe on Linux: its command line. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "battery.h"
#include "common/command_line.h"
#include "linux.h"

/* Threads with their stacks, of the benchmark that has most, and small objects. */
enum { OBJECT_WORDS = (16 * sizeof(struct port_thread) + 256 * 1024) / sizeof(uint32_t) };

struct command {
	const struct family *family;
	struct options options;
	struct settings settings;
	const char *out;
};

static const struct family *const tables[] = { battery, linux_families };
enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static const struct family *family_of(const char *name)
{
	for (unsigned int i = 0; i < TABLES; i++)
		for (const struct family *family = tables[i]; family->name; family++)
			if (!strcmp(family->name, name))
				return family;
	die(BAD_INPUT, "%s is no family of benchmarks; `rtqual-probe list` names them", name);
}

static const struct option rows[] = {
	{ "iterations", "N", "samples of each series", OPTION_WHOLE(struct command, options.iterations, 1, 10000000) },
	{ "interval_ns", "N", "between samples", OPTION_WHOLE(struct command, options.interval_ns, 1000, 60000000000) },
	{ "cpu", "N", "of the measuring threads", OPTION_WHOLE(struct command, options.cpu, 0, LINUX_CPUS_MOST - 1) },
	{ "priority", "N", "SCHED_FIFO priority (80)",
	  OPTION_WHOLE(struct command, settings.priority, PRIORITY_LEAST, PRIORITY_MOST) },
	{ "seed", "N", "of where in the system's tick it begins",
	  OPTION_WHOLE(struct command, options.seed, 0, UINT32_MAX) },
	{ "out", "FILE", "where the results go (standard output)", OPTION_TEXT(struct command, out) },
	{ 0 }
};

const struct program program = {
	.name = "rtqual-probe",
	.synopsis = "rtqual-probe FAMILY [iterations=N] [KEY=VALUE]...\nrtqual-probe list | --help | --version\n",
	.tables = { rows },
	.bare = true,
};

static void list(void)
{
	for (unsigned int i = 0; i < TABLES; i++)
		for (const struct family *family = tables[i]; family->name; family++) {
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

	if (argc < 2) {
		command_line_help(stderr);
		return BAD_INPUT;
	}
	if (!strcmp(argv[1], "list")) {
		list();
		return 0;
	}
	if (strncmp(argv[1], "--", 2))
		command.family = family_of(argv[1]);
	command_line_read(argc - !!command.family, argv + !!command.family, &command);
	if (!command.family)
		die(BAD_INPUT, "the first word is a family of benchmarks; `rtqual-probe list` names them");
	return run(&command);
}

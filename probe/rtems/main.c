// SPDX-License-Identifier: MIT
/* RTEMS's first task: runs the family of benchmarks that the board's command line names, and switches the board off. */
#include <string.h>

#include "battery.h"
#include "common/options.h"
#include "rtems_port.h"
#include "virt_devices.h"

enum { WORDS_MOST = 12 };

static void complain(const char *what, const char *which)
{
	const char *const parts[] = { "rtqual-probe: ", what, which, "\n" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		write_uart(parts[i], strlen(parts[i]));
}

static const struct family *find_family(const char *name)
{
	for (const struct family *family = battery; family->name; family++)
		if (!strcmp(family->name, name))
			return family;
	return NULL;
}

/* As the Linux port's. The port's own priorities are fixed, and there is no file to write to. */
static const struct option rows[] = { { "iterations", "N", "", OPTION_WHOLE(struct options, iterations, 1, 10000000) },
				      { "interval_ns", "N", "",
					OPTION_WHOLE(struct options, interval_ns, 1000, 60000000000) },
				      { "cpu", "N", "", OPTION_WHOLE(struct options, cpu, 0, 0) },
				      { "seed", "N", "", OPTION_WHOLE(struct options, seed, 0, UINT32_MAX) },
				      { 0 } };

static void run(void)
{
	static struct workspace workspace;
	static const struct option *const tables[] = { rows, NULL };
	struct option_word word;
	struct options options = { .cpu = 0 };
	const char *words[WORDS_MOST];
	int count = read_words(words, WORDS_MOST);
	const struct family *family = count ? find_family(words[0]) : NULL;

	if (!family) {
		complain("no such family of benchmarks: ", count ? words[0] : "(none was named)");
		return;
	}
	for (int i = 1; i < count; i++) {
		if (option_read(tables, words[i], NULL, &options, &word) != OPTION_SET) {
			complain("not understood, or out of range: ", words[i]);
			return;
		}
	}
	if (rtems_port_setup() != PORT_OK)
		complain(port_failure(), "");
	else if (battery_run(family, &options, &workspace) != PORT_OK)
		complain(workspace.complaint, "");
}

static void fatal(rtems_fatal_source source, bool always_false, rtems_fatal_code code)
{
	(void)source;
	(void)always_false;
	(void)code;
	complain("RTEMS ended by a fatal error", "");
	switch_off();
}

static rtems_task Init(rtems_task_argument unused)
{
	(void)unused;
	run();
	switch_off();
}

_Static_assert(RTEMS_PORT_TICK_NS == 1000000, "as the kernel is configured below");

/* What the kernel is configured with: RTEMS's header makes its tables from these. */
#define CONFIGURE_APPLICATION_NEEDS_CLOCK_DRIVER
#define CONFIGURE_APPLICATION_DOES_NOT_NEED_CONSOLE_DRIVER
#define CONFIGURE_APPLICATION_DISABLE_FILESYSTEM
#define CONFIGURE_MICROSECONDS_PER_TICK 1000
#define CONFIGURE_UNIFIED_WORK_AREAS
#define CONFIGURE_UNLIMITED_OBJECTS
#define CONFIGURE_MAXIMUM_TIMERS 8
#define CONFIGURE_INIT_TASK_PRIORITY 100
#define CONFIGURE_INIT_TASK_STACK_SIZE 16384
#define CONFIGURE_INITIAL_EXTENSIONS { .fatal = fatal }
#define CONFIGURE_RTEMS_INIT_TASKS_TABLE
#define CONFIGURE_INIT
#include <rtems/confdefs.h>

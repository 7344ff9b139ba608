// SPDX-License-Identifier: MIT
/* RTEMS's first task: runs the family of benchmarks that the board's command line names, and switches the board off. */
#include "rtems_port.h"
#include "virt_devices.h"

static void fatal(rtems_fatal_source source, bool always_false, rtems_fatal_code code)
{
	(void)source;
	(void)always_false;
	(void)code;
	rtos_complain("RTEMS ended by a fatal error", "");
	switch_off();
}

static rtems_task Init(rtems_task_argument unused)
{
	const char *words[RTOS_WORDS_MOST];

	(void)unused;
	if (rtems_port_setup() == PORT_OK)
		rtos_run(words, read_words(words, RTOS_WORDS_MOST));
	else
		rtos_complain(port_failure(), "");
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

// SPDX-License-Identifier: MIT
/*
 * What this system is, its clock, and what must be ready before anything is measured. Memory, the result's way out and
 * the command line are Linux's, from ../linux; the linker puts the __wrap_ functions here in place of Linux's own.
 */
#define _GNU_SOURCE
#include <stdio.h>

#include "xenomai.h"

enum port_status __real_linux_setup(const struct settings *settings);
enum port_status __wrap_linux_setup(const struct settings *settings);
const char *__real_port_system(void);
const char *__wrap_port_system(void);
uint64_t __wrap_port_now_ns(void);

enum port_status xenomai_status(int result, const char *what)
{
	return result < 0 ? linux_fail(PORT_FAILED, what, -result) : PORT_OK;
}

/* One of its ticks is a nanosecond; warm_up() has seen to it. */
uint64_t __wrap_port_now_ns(void)
{
	return rt_timer_read();
}

static void end_at_once(void *nothing)
{
	(void)nothing;
}

/*
 * The C library keeps the stacks of threads that ended for those to come, and Xenomai its objects: after this a
 * benchmark that starts tasks faults nothing in. If a task is denied, the first benchmark reports it.
 */
static enum port_status warm_up(void)
{
	static struct port_thread tasks[TASKS_MOST];
	enum port_status status = PORT_OK;
	unsigned int started = 0;
	RT_TIMER_INFO timer;

	rt_timer_inquire(&timer);
	if (timer.period != 1)
		return linux_fail(PORT_FAILED, "Alchemy's clock is set to other ticks than nanoseconds", 0);
	for (; started < TASKS_MOST && status == PORT_OK; started++)
		status = port_thread_start(&tasks[started], "warm up", PORT_LOW, PORT_ANY_CPU, end_at_once, NULL);
	if (status != PORT_OK)
		started--;
	while (started)
		port_thread_join(&tasks[--started]);
	return PORT_OK;
}

enum port_status __wrap_linux_setup(const struct settings *settings)
{
	enum port_status status = __real_linux_setup(settings);

	return status == PORT_OK ? warm_up() : status;
}

const char *__wrap_port_system(void)
{
	static char name[320];

	snprintf(name, sizeof(name), "Xenomai %s, Alchemy skin, on %s", XENOMAI, __real_port_system());
	return name;
}

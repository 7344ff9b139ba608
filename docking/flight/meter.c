// SPDX-License-Identifier: MIT
/* Priority, locked memory, and what the measured part costs: CPU time, instructions, page faults. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "stream.h"

uint64_t clock_ns(int clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void become_realtime(int priority)
{
	struct sched_param parameters = { .sched_priority = priority };

	if (!priority)
		return;
	/* By the system call: musl's function does nothing, since the call is for a thread where POSIX means the
	 * process. */
	if (syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &parameters))
		die(RUN_FAILED, "SCHED_FIFO priority %d (be root, or raise RLIMIT_RTPRIO with ulimit -r): %s", priority,
		    strerror(errno));
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die(RUN_FAILED, "locking memory (be root, or raise RLIMIT_MEMLOCK with ulimit -l): %s",
		    strerror(errno));
}

static int instructions(bool kernel)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_HW_INSTRUCTIONS,
					.disabled = 1,
					.exclude_hv = 1,
					.exclude_kernel = !kernel };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
}

void meter_open(struct meter *meter)
{
	clock_ns(CLOCK_MONOTONIC); /* the first reading faults in the page in which the kernel keeps the time */
	meter->user = instructions(false);
	meter->all = instructions(true);
}

void meter_start(struct meter *meter)
{
	meter->faults = faults();
	meter->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (meter->user >= 0)
		ioctl(meter->user, PERF_EVENT_IOC_ENABLE, 0);
	if (meter->all >= 0)
		ioctl(meter->all, PERF_EVENT_IOC_ENABLE, 0);
}

static uint64_t counted(int fd)
{
	uint64_t count = 0;

	return fd >= 0 && read(fd, &count, sizeof(count)) == sizeof(count) ? count : 0;
}

void meter_stop(struct meter *meter, struct results *results)
{
	results->user_instructions = counted(meter->user);
	results->all_instructions = counted(meter->all);
	results->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - meter->cpu_ns;
	results->faults = faults() - meter->faults;
}

// SPDX-License-Identifier: MIT
/* Memory, the result's way out, failures, and what this system is. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "linux.h"

/* Set once by linux_setup(), before there are threads; the mutex protects `failure`. */
static struct {
	struct settings settings;
	cpu_set_t cpus;
	uint32_t *samples;
	uint64_t cycles_per_s;
	char name[256];
	bool realtime;
	pthread_mutex_t failing;
	char failure[160];
} system_ = { .failing = PTHREAD_MUTEX_INITIALIZER };

enum port_status linux_fail(enum port_status status, const char *what, int error)
{
	pthread_mutex_lock(&system_.failing);
	if (error)
		snprintf(system_.failure, sizeof(system_.failure), "%s: %s", what, strerror(error));
	else
		snprintf(system_.failure, sizeof(system_.failure), "%s", what);
	pthread_mutex_unlock(&system_.failing);
	if (status == PORT_FAILED && syscall(SYS_gettid) != getpid())
		linux_thread_failed();
	return status;
}

const char *port_failure(void)
{
	return system_.failure;
}

int linux_priority(enum port_priority priority)
{
	return system_.settings.priority + (int)priority - (int)PORT_HIGH;
}

bool linux_has_cpu(int cpu)
{
	return cpu >= 0 && cpu < LINUX_CPUS_MOST && CPU_ISSET((size_t)cpu, &system_.cpus);
}

int linux_first_cpu(void)
{
	int cpu = 0;

	while (cpu < LINUX_CPUS_MOST && !linux_has_cpu(cpu))
		cpu++;
	return cpu;
}

bool linux_is_realtime(void)
{
	return system_.realtime;
}

uint64_t port_cycles_per_s(void)
{
	return system_.cycles_per_s;
}

/*
 * Keep CPUs out of deep idle states, as cyclictest does; for as long as the file is open. If that is not allowed or
 * there is no such file, the system is measured as it is, and its name says so.
 */
static bool hold_latency(void)
{
	static const int32_t latency_us = 0;
	int fd = open("/dev/cpu_dma_latency", O_RDWR | O_CLOEXEC);

	return fd >= 0 && write(fd, &latency_us, sizeof(latency_us)) == (ssize_t)sizeof(latency_us);
}

static enum port_status name_system(void)
{
	struct utsname name;

	if (uname(&name))
		return linux_fail(PORT_FAILED, "uname", errno);
	system_.realtime = strstr(name.version, "PREEMPT_RT");
	snprintf(system_.name, sizeof(system_.name), "Linux %s %s %s, user space, idle states %s", name.release,
		 name.version, name.machine, hold_latency() ? "held off" : "as found");
	for (char *quote = system_.name; (quote = strchr(quote, '"'));)
		*quote = ' ';
	return PORT_OK;
}

enum port_status linux_setup(const struct settings *settings)
{
	enum port_status status = name_system();

	if (status != PORT_OK)
		return status;
	if (sched_getaffinity(0, sizeof(system_.cpus), &system_.cpus))
		return linux_fail(PORT_FAILED, "learning which CPUs there are", errno);
	system_.settings = *settings;
	system_.cycles_per_s = linux_counter_open();
	if (!system_.cycles_per_s)
		system_.cycles_per_s = linux_measure_cycles_per_s();
	system_.samples = mmap(NULL, settings->samples * sizeof(uint32_t), PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (system_.samples == MAP_FAILED)
		return linux_fail(PORT_FAILED, "memory for the samples", errno);
	/* Faults in what is mapped (stacks among it) and whatever will be. */
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		return linux_fail(PORT_DENIED, "locking memory (be root, or raise RLIMIT_MEMLOCK with ulimit -l)",
				  errno);
	return PORT_OK;
}

enum port_status port_disturbance_now(struct port_disturbance *disturbance)
{
	struct timespec used;
	struct rusage usage;

	if (getrusage(RUSAGE_SELF, &usage) || clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used))
		return linux_fail(PORT_FAILED, "what was used of the CPU", errno);
	disturbance->thread_ns = (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
	disturbance->page_faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
	disturbance->involuntary_switches = (uint64_t)usage.ru_nivcsw;
	return PORT_OK;
}

uint32_t *port_sample_memory(size_t *capacity)
{
	*capacity = system_.settings.samples;
	return system_.samples;
}

enum port_status port_write(const char *bytes, size_t count)
{
	while (count) {
		ssize_t written = write(system_.settings.out, bytes, count);

		if (written < 0 && errno != EINTR)
			return linux_fail(PORT_FAILED, "writing the result", errno);
		if (written > 0) {
			bytes += written;
			count -= (size_t)written;
		}
	}
	return PORT_OK;
}

const char *port_system(void)
{
	return system_.name;
}

// SPDX-License-Identifier: MIT
/* FreeRTOS's simulator on a POSIX system: the host's clock, standard output, the program's arguments. */
#define _GNU_SOURCE /* MAP_POPULATE */
#include "machine.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { SAMPLES_BYTES = 16 << 20, NS_PER_S = 1000000000, NS_PER_TICK = NS_PER_S / configTICK_RATE_HZ };

const char *port_system(void)
{
	return "FreeRTOS " tskKERNEL_VERSION_NUMBER ", its POSIX simulator, host-timed";
}

static struct {
	int count;
	char **words;
	uint32_t *samples;
} given;

const char *machine_start(int count, char **words)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;
	void *samples = mmap(NULL, SAMPLES_BYTES, PROT_READ | PROT_WRITE, flags, -1, 0);

	if (samples == MAP_FAILED)
		return "no memory for samples";
	given.count = count;
	given.words = words;
	given.samples = samples;
	return NULL;
}

int machine_arguments(const char **words, int most)
{
	int count = 0;

	while (count < most && count + 1 < given.count) {
		words[count] = given.words[count + 1];
		count++;
	}
	return count;
}

void machine_exit(int code)
{
	_exit(code); /* other threads may be in the middle of something: no exit handlers */
}

uint64_t machine_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail: the clock exists and the address is good */
	return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

uint64_t machine_cycles(void)
{
	return machine_now_ns();
}

uint64_t machine_cycles_per_s(void)
{
	return NS_PER_S;
}

uint64_t machine_clock_step_ns(void)
{
	struct timespec step;

	clock_getres(CLOCK_MONOTONIC, &step);
	return (uint64_t)step.tv_nsec;
}

uint64_t machine_tick_from(uint64_t from_ns)
{
	return from_ns;
}

/* The simulator's tick comes when a thread of the host has slept, so its time is not known better. */
TickType_t machine_ticks_until(uint64_t due_ns)
{
	uint64_t now_ns = machine_now_ns();

	return now_ns >= due_ns ? 1 : (due_ns - now_ns + NS_PER_TICK - 1) / NS_PER_TICK;
}

bool machine_alarm_offered(void)
{
	return false; /* its only interrupt is the tick */
}

void machine_alarm_set(uint64_t due_ns)
{
	(void)due_ns;
}

void vApplicationIdleHook(void);
void vApplicationIdleHook(void)
{
	pause(); /* until the next tick's signal */
}

enum port_status machine_write(const char *bytes, size_t count)
{
	while (count) {
		ssize_t written = write(STDOUT_FILENO, bytes, count);

		if (written < 0 && errno != EINTR)
			return PORT_FAILED;
		if (written > 0) {
			bytes += written;
			count -= (size_t)written;
		}
	}
	return PORT_OK;
}

enum port_status machine_disturbance(struct port_disturbance *disturbance)
{
	struct rusage used;

	if (getrusage(RUSAGE_SELF, &used))
		return PORT_NOT_OFFERED;
	disturbance->page_faults = (uint64_t)(used.ru_minflt + used.ru_majflt);
	disturbance->involuntary_switches = (uint64_t)used.ru_nivcsw;
	disturbance->thread_ns = 0;
	return PORT_OK;
}

uint32_t *machine_sample_memory(size_t *capacity)
{
	*capacity = SAMPLES_BYTES / sizeof(uint32_t);
	return given.samples;
}

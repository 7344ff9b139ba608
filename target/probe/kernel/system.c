// SPDX-License-Identifier: GPL-2.0
/* Memory, the result, failures, clocks, and what this system is. */
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/string.h>
#include <linux/timekeeping.h>
#include <linux/utsname.h>
#include <linux/vmalloc.h>
#ifdef CONFIG_X86
#include <asm/msr.h>
#include <asm/tsc.h>
#endif

#include "kernel.h"

enum { FIRST_ROOM = 64 * 1024 };

/* Set while the module loads, before there are threads; the lock protects `failure`. */
static struct {
	int priority;
	uint32_t *samples;
	size_t capacity;
	char *result;
	size_t length;
	size_t room;
	char name[160];
	char failure[160];
} system_;
static DEFINE_SPINLOCK(failing);

enum port_status kernel_fail(enum port_status status, const char *what, int error)
{
	spin_lock(&failing);
	if (error)
		snprintf(system_.failure, sizeof(system_.failure), "%s: error %d", what, error);
	else
		strscpy(system_.failure, what, sizeof(system_.failure));
	spin_unlock(&failing);
	return status;
}

const char *port_failure(void)
{
	return system_.failure;
}

int kernel_setup(int priority, size_t samples)
{
	system_.priority = priority;
	system_.capacity = samples;
	system_.samples = vzalloc(samples * sizeof(uint32_t));
	system_.room = FIRST_ROOM;
	system_.result = vmalloc(system_.room);
	if (!system_.samples || !system_.result) {
		kernel_release();
		return -ENOMEM;
	}
	snprintf(system_.name, sizeof(system_.name), "Linux %s %s %s, kernel space", init_utsname()->release,
		 init_utsname()->version, init_utsname()->machine);
	return 0;
}

void kernel_release(void)
{
	vfree(system_.samples);
	vfree(system_.result);
	memset(&system_, 0, sizeof(system_));
}

const char *kernel_result(size_t *length)
{
	*length = system_.length;
	return system_.result;
}

uint32_t *port_sample_memory(size_t *capacity)
{
	*capacity = system_.capacity;
	return system_.samples;
}

enum port_status port_write(const char *bytes, size_t count)
{
	if (system_.length + count > system_.room) {
		size_t room = 2 * (system_.length + count);
		char *larger = vmalloc(room);

		if (!larger)
			return kernel_fail(PORT_FULL, "no memory for the result", 0);
		memcpy(larger, system_.result, system_.length);
		vfree(system_.result);
		system_.result = larger;
		system_.room = room;
	}
	memcpy(system_.result + system_.length, bytes, count);
	system_.length += count;
	return PORT_OK;
}

const char *port_system(void)
{
	return system_.name;
}

enum port_status port_disturbance_now(struct port_disturbance *disturbance)
{
	return kernel_fail(PORT_NOT_OFFERED, "the kernel counts page faults and switches of processes only", 0);
}

int kernel_priority(enum port_priority priority)
{
	return system_.priority + (int)priority - (int)PORT_HIGH;
}

uint64_t port_now_ns(void)
{
	return ktime_get_ns();
}

uint64_t port_clock_step_ns(void)
{
	u64 cycles_per_s = port_cycles_per_s();

	return max_t(u64, hrtimer_resolution, div64_u64(NSEC_PER_SEC + cycles_per_s - 1, cycles_per_s));
}

/* The fences keep a reading from moving past the operation that it times. */
#if defined(CONFIG_X86)
uint64_t port_cycles(void)
{
	u32 low, high;

	asm volatile("lfence; rdtsc; lfence" : "=a"(low), "=d"(high)::"memory");
	return (u64)high << 32 | low;
}

uint64_t port_cycles_per_s(void)
{
	return 1000ull * tsc_khz;
}
#elif defined(CONFIG_ARM64)
uint64_t port_cycles(void)
{
	u64 count;

	asm volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(count)::"memory");
	return count;
}

uint64_t port_cycles_per_s(void)
{
	u64 frequency;

	asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
	return frequency;
}
#elif defined(CONFIG_ARM)
uint64_t port_cycles(void)
{
	u64 count;

	asm volatile("isb; mrrc p15, 1, %Q0, %R0, c14; isb" : "=r"(count)::"memory");
	return count;
}

uint64_t port_cycles_per_s(void)
{
	u32 frequency;

	asm volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(frequency));
	return frequency;
}
#else
uint64_t port_cycles(void)
{
	return port_now_ns();
}

uint64_t port_cycles_per_s(void)
{
	return NSEC_PER_SEC;
}
#endif

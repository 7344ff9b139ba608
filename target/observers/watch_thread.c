// SPDX-License-Identifier: MIT
#include <string.h>

#include "qemu.h"
#include "watch_thread.h"

enum { TASK_BYTES = 16384 };

bool peek(uint64_t address, void *to, size_t size)
{
	return !cpu_memory_rw_debug(current_cpu, address, to, size, false);
}

static bool is_known(const char *name)
{
	/* Threads that run in any Linux, or in any job of rtqual's. */
	static const char *const known[] = { "swapper",     "kworker/",     "ksoftirqd/", "ktimers/", "migration/",
					     "rcu_preempt", "rtqual-agent", "cyclictest", "hackbench" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!memcmp(name, known[i], strlen(known[i])))
			return true;
	return false;
}

void thread_find(uint64_t from, int *comm_at, int *prio_at)
{
	static char task[TASK_BYTES];
	int comm = 0, prio = 0;

	for (size_t at = 0; at + 512 <= sizeof(task); at += 512)
		if (!peek(from + at, task + at, 512))
			return;
	for (size_t at = 4; at + 16 <= sizeof(task); at += 4) {
		int32_t four[4];

		memcpy(four, task + at, sizeof(four)); /* prio, static_prio, normal_prio, rt_priority */
		if (!prio && four[1] == 120 && four[0] == four[2] && !four[3] && (four[0] == 140 || four[0] == 120))
			prio = (int)at;
		if (!comm && is_known(task + at))
			comm = (int)at;
	}
	if (prio && (!*prio_at || prio < *prio_at))
		*prio_at = prio;
	if (comm && (!*comm_at || comm < *comm_at))
		*comm_at = comm;
}

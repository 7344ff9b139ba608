// SPDX-License-Identifier: GPL-2.0
/* Kernel threads under SCHED_FIFO that refuse to run otherwise. */
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/sched/rt.h>
#include <linux/version.h>
#include <uapi/linux/sched/types.h>

#include "kernel.h"

static int thread_main(void *argument)
{
	struct port_thread *thread = argument;

	thread->entry(thread->argument);
	kthread_complete_and_exit(&thread->ended, 0); /* not by returning: the module must stay until it has ended */
}

enum port_status kernel_thread_start(struct port_thread *thread, const char *name, int priority, int cpu,
				     port_entry entry, void *argument)
{
	const struct sched_attr fifo = { .size = sizeof(fifo), .sched_policy = SCHED_FIFO, .sched_priority = priority };
	int error;

	if (cpu != PORT_ANY_CPU && (cpu < 0 || cpu >= nr_cpu_ids || !cpu_online(cpu)))
		return kernel_fail(PORT_DENIED, "there is no such CPU", 0);
	thread->entry = entry;
	thread->argument = argument;
	init_completion(&thread->ended);
	thread->task = kthread_create(thread_main, thread, "rtqual/%s", name);
	if (IS_ERR(thread->task))
		return kernel_fail(PORT_FAILED, "starting a thread", (int)PTR_ERR(thread->task));
	error = sched_setattr_nocheck(thread->task, &fifo);
	if (error || thread->task->policy != SCHED_FIFO || thread->task->rt_priority != (unsigned int)priority) {
		kthread_stop(thread->task); /* it never ran, so nothing waits for its end */
		return kernel_fail(PORT_DENIED, "the thread did not get its priority", error);
	}
	if (cpu != PORT_ANY_CPU)
		kthread_bind(thread->task, (unsigned int)cpu);
	wake_up_process(thread->task);
	return PORT_OK;
}

enum port_status port_thread_start(struct port_thread *thread, const char *name, enum port_priority priority, int cpu,
				   port_entry entry, void *argument)
{
	return kernel_thread_start(thread, name, kernel_priority(priority), cpu, entry, argument);
}

enum port_status port_thread_join(struct port_thread *thread)
{
	wait_for_completion(&thread->ended);
	return PORT_OK;
}

void port_yield(void)
{
	yield();
}

enum port_status port_priority_now(enum port_priority *priority)
{
	int effective = MAX_RT_PRIO - 1 - current->prio;

	for (int one = PORT_LOW; one <= PORT_HIGHEST; one++) {
		if (kernel_priority(one) == effective) {
			*priority = one;
			return PORT_OK;
		}
	}
	return kernel_fail(PORT_FAILED, "a priority that is none of ours", 0);
}

// SPDX-License-Identifier: GPL-2.0
/* Makes wake-ups late in a way that is known: a thread or a tasklet that does one thing again and again. */
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/preempt.h>

enum { HELD_US = 200, PAUSE_MS = 3, FLOOD_US = 40, FLOODS = 5 };

static char *way = "none";
module_param(way, charp, 0444);
MODULE_PARM_DESC(way, "irqs, preempt, softirq or none");

static struct task_struct *thread;
static int floods;

static noinline void late_hold_interrupts(void)
{
	unsigned long flags;

	local_irq_save(flags);
	udelay(HELD_US);
	local_irq_restore(flags);
}

static noinline void late_hold_preemption(void)
{
	preempt_disable();
	udelay(HELD_US);
	preempt_enable();
}

static void late_flood(struct tasklet_struct *tasklet);
static DECLARE_TASKLET(late_tasklet, late_flood);

static void late_flood(struct tasklet_struct *tasklet)
{
	udelay(FLOOD_US);
	if (--floods > 0)
		tasklet_schedule(tasklet);
}

static noinline void late_flood_softirqs(void)
{
	floods = FLOODS;
	tasklet_schedule(&late_tasklet);
}

static noinline void late_nothing(void)
{
	udelay(HELD_US);
}

static int late_work(void *unused)
{
	while (!kthread_should_stop()) {
		if (!strcmp(way, "irqs"))
			late_hold_interrupts();
		else if (!strcmp(way, "preempt"))
			late_hold_preemption();
		else if (!strcmp(way, "softirq"))
			late_flood_softirqs();
		else
			late_nothing();
		usleep_range(PAUSE_MS * 1000 + 77, PAUSE_MS * 1000 + 78);
	}
	return 0;
}

static int __init late_init(void)
{
	thread = kthread_run(late_work, NULL, "late");
	return PTR_ERR_OR_ZERO(thread);
}

static void __exit late_exit(void)
{
	kthread_stop(thread);
	tasklet_kill(&late_tasklet);
}

module_init(late_init);
module_exit(late_exit);
MODULE_DESCRIPTION("Makes wake-ups late");
MODULE_LICENSE("GPL");

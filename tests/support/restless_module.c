// SPDX-License-Identifier: GPL-2.0
/* A kernel whose thread goes on after the boot: `busy_s` seconds without a pause, or for ever 300 us each 50 ms. */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/module.h>

enum { PERIOD_US = 50000, EACH_US = 300 };

static int busy_s;
module_param(busy_s, int, 0444);
MODULE_PARM_DESC(busy_s, "how long the thread spins; 0: it wakes up for ever");

static int restless(void *unused)
{
	ktime_t end = ktime_add_ms(ktime_get(), 1000 * busy_s);

	while (busy_s && ktime_before(ktime_get(), end))
		cond_resched();
	while (!busy_s) {
		usleep_range(PERIOD_US - EACH_US, PERIOD_US - EACH_US);
		udelay(EACH_US);
	}
	return 0;
}

static int __init restless_begin(void)
{
	return PTR_ERR_OR_ZERO(kthread_run(restless, NULL, "restless"));
}

module_init(restless_begin);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("A thread that goes on after the boot");

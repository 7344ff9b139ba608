// SPDX-License-Identifier: GPL-2.0
/*
 * Makes one error when it is loaded: a kernel that shall find our modules' errors has to report this error. Loading
 * fails in the end, so that it can be repeated.
 */
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

static char *what = "";
module_param(what, charp, 0444);
MODULE_PARM_DESC(what, "leak, freed, beyond, order, sleep or object");

static DEFINE_MUTEX(one);
static DEFINE_MUTEX(other);
static DEFINE_RAW_SPINLOCK(held);

static void leak(void)
{
	void *lost = kmalloc(4711, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(lost);
}

static void read_freed(void)
{
	u8 *memory = kmalloc(64, GFP_KERNEL);

	OPTIMIZER_HIDE_VAR(memory);
	kfree(memory);
	if (memory)
		READ_ONCE(memory[8]);
}

/* Memory of the kind that holds the rings. */
static void read_beyond(void)
{
	u8 *memory = vmalloc(5000);

	OPTIMIZER_HIDE_VAR(memory);
	if (memory)
		READ_ONCE(memory[5000]);
	vfree(memory);
}

static void lock_in_both_orders(void)
{
	mutex_lock(&one);
	mutex_lock(&other);
	mutex_unlock(&other);
	mutex_unlock(&one);
	mutex_lock(&other);
	mutex_lock(&one);
	mutex_unlock(&one);
	mutex_unlock(&other);
}

static void sleep_with_interrupts_off(void)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&held, flags);
	might_sleep();
	raw_spin_unlock_irqrestore(&held, flags);
}

static void expired(struct timer_list *timer)
{
}

static void free_an_armed_timer(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	if (!timer)
		return;
	timer_setup(timer, expired, 0);
	mod_timer(timer, jiffies + 1000 * HZ);
	kfree(timer);
}

static int __init wrong_init(void)
{
	if (!strcmp(what, "leak"))
		leak();
	else if (!strcmp(what, "freed"))
		read_freed();
	else if (!strcmp(what, "beyond"))
		read_beyond();
	else if (!strcmp(what, "order"))
		lock_in_both_orders();
	else if (!strcmp(what, "sleep"))
		sleep_with_interrupts_off();
	else if (!strcmp(what, "object"))
		free_an_armed_timer();
	else
		return -EINVAL;
	return -ECANCELED;
}

module_init(wrong_init);
MODULE_DESCRIPTION("One error of each kind that a kernel with checks finds");
MODULE_LICENSE("GPL");

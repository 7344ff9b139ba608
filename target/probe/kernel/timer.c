// SPDX-License-Identifier: GPL-2.0
/*
 * Waiting for a time by the paths that the kernel has: its own sleep, whose timer expires in hard-interrupt context
 * for a real-time thread; a timer of HRTIMER_MODE_HARD and of HRTIMER_MODE_SOFT that wakes the thread; and another
 * thread that does, which is what a futex is inside the kernel.
 */
#include <linux/errno.h>
#include <linux/ktime.h>
#include <linux/version.h>

#include "kernel.h"

static enum hrtimer_restart wake(struct hrtimer *timer)
{
	struct port_timer *self = container_of(timer, struct port_timer, timer);

	WRITE_ONCE(self->expired, true);
	wake_up_process(self->sleeper);
	return HRTIMER_NORESTART;
}

static void ready(struct port_timer *timer, enum hrtimer_mode mode)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
	hrtimer_setup(&timer->timer, wake, CLOCK_MONOTONIC, mode);
#else
	hrtimer_init(&timer->timer, CLOCK_MONOTONIC, mode);
	timer->timer.function = wake;
#endif
}

static enum port_status sleep_until(u64 due_ns)
{
	ktime_t due = ns_to_ktime(due_ns);

	while (ktime_get_ns() < due_ns) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (schedule_hrtimeout_range(&due, 0, HRTIMER_MODE_ABS) == -EINTR && ktime_get_ns() < due_ns)
			return kernel_fail(PORT_FAILED, "a sleep was interrupted", 0);
	}
	return PORT_OK;
}

static enum port_status wait_timer(struct port_timer *timer, u64 due_ns, enum hrtimer_mode mode)
{
	timer->sleeper = current;
	timer->expired = false;
	hrtimer_start(&timer->timer, ns_to_ktime(due_ns), mode);
	for (;;) {
		set_current_state(TASK_UNINTERRUPTIBLE);
		if (READ_ONCE(timer->expired))
			break;
		schedule();
	}
	__set_current_state(TASK_RUNNING);
	return PORT_OK;
}

/* If it fails, the thread that waits for it learns this by its own status: it is woken all the same. */
static void helper_main(void *argument)
{
	struct port_timer *timer = argument;

	while (!down_interruptible(&timer->asked) && !READ_ONCE(timer->stop)) {
		sleep_until(timer->due_ns);
		up(&timer->woken);
	}
}

static enum port_status open_helper(struct port_timer *timer)
{
	sema_init(&timer->asked, 0);
	sema_init(&timer->woken, 0);
	timer->stop = false;
	return kernel_thread_start(&timer->helper, "waker", kernel_priority(PORT_HIGH) + HELPER_ABOVE_HIGH,
				   (int)task_cpu(current), helper_main, timer);
}

enum port_status port_timer_open(struct port_timer *timer, enum port_path path)
{
	timer->path = path;
	switch (path) {
	case PORT_PATH_SLEEP:
		return PORT_OK;
	case PORT_PATH_HARD_TIMER:
		ready(timer, HRTIMER_MODE_ABS_HARD);
		return PORT_OK;
	case PORT_PATH_SOFT_TIMER:
		ready(timer, HRTIMER_MODE_ABS_SOFT);
		return PORT_OK;
	case PORT_PATH_FUTEX:
		return open_helper(timer);
	case PORT_PATH_NETWORK:
	case PORT_PATHS:
		break;
	}
	return kernel_fail(PORT_NOT_OFFERED, "a thread of the kernel is not woken by the network", 0);
}

/* Any nanosecond will do. */
uint64_t port_timer_next_ns(const struct port_timer *timer, uint64_t from_ns)
{
	(void)timer;
	return from_ns;
}

enum port_status port_timer_wait(struct port_timer *timer, uint64_t due_ns)
{
	switch (timer->path) {
	case PORT_PATH_HARD_TIMER:
		return wait_timer(timer, due_ns, HRTIMER_MODE_ABS_HARD);
	case PORT_PATH_SOFT_TIMER:
		return wait_timer(timer, due_ns, HRTIMER_MODE_ABS_SOFT);
	case PORT_PATH_FUTEX:
		timer->due_ns = due_ns;
		up(&timer->asked);
		return down_interruptible(&timer->woken) ? kernel_fail(PORT_FAILED, "a wait was interrupted", 0) :
							   PORT_OK;
	default:
		return sleep_until(due_ns);
	}
}

void port_timer_close(struct port_timer *timer)
{
	if (timer->path == PORT_PATH_FUTEX) {
		WRITE_ONCE(timer->stop, true);
		up(&timer->asked);
		port_thread_join(&timer->helper);
	} else if (timer->path != PORT_PATH_SLEEP) {
		hrtimer_cancel(&timer->timer);
	}
}

// SPDX-License-Identifier: MIT
/* The thread that sleeps until a time, then wakes another; see rtos.h. */
#include "rtos.h"

static struct {
	struct port_thread thread;
	struct port_semaphore asked;
	struct port_semaphore woken;
	enum port_status (*sleep_until)(uint64_t due_ns);
	uint64_t due_ns; /* 0: end */
	bool taken;
} waker;

static void wake_others(void *unused)
{
	(void)unused;
	while (port_semaphore_wait(&waker.asked) == PORT_OK && waker.due_ns &&
	       waker.sleep_until(waker.due_ns) == PORT_OK)
		port_semaphore_post(&waker.woken);
}

enum port_status rtos_waker_start(enum port_status (*sleep_until)(uint64_t due_ns))
{
	enum port_status status;

	if (waker.taken)
		return port_fail(PORT_FULL, "one thread at a time can be woken by another");
	if (port_semaphore_open(&waker.asked, 0) != PORT_OK || port_semaphore_open(&waker.woken, 0) != PORT_OK)
		return PORT_FAILED;
	waker.sleep_until = sleep_until;
	status = port_thread_start(&waker.thread, "waker", PORT_HIGHEST, PORT_ANY_CPU, wake_others, NULL);
	waker.taken = status == PORT_OK;
	return status;
}

static enum port_status ask(uint64_t due_ns)
{
	waker.due_ns = due_ns;
	return port_semaphore_post(&waker.asked);
}

enum port_status rtos_waker_wait(uint64_t due_ns)
{
	return ask(due_ns) == PORT_OK ? port_semaphore_wait(&waker.woken) : PORT_FAILED;
}

void rtos_waker_stop(void)
{
	ask(0);
	port_thread_join(&waker.thread);
	port_semaphore_close(&waker.asked);
	port_semaphore_close(&waker.woken);
	waker.taken = false;
}

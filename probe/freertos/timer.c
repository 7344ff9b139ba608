// SPDX-License-Identifier: MIT
/*
 * Waiting for a time by the paths that FreeRTOS has: the tick that wakes a sleeper, an interrupt of its own, FreeRTOS's
 * timer task, another task.
 */
#include "freertos.h"

/* Stream buffers use index 0 for themselves. */
enum { NOTIFY_TIMER = 1 };

/* For PORT_PATH_FUTEX: another thread, asked for a time, that sleeps until then and wakes the one that waits. */
struct waker {
	struct port_thread thread;
	struct port_semaphore asked;
	struct port_semaphore woken;
	uint64_t due_ns; /* 0: end */
	bool taken;
};

static struct port_timer *alarm_owner; /* the machine has one alarm */
static struct waker waker; /* and a timer lies on a thread's stack, which has no room for another's */

void port_alarm_expired(void)
{
	BaseType_t woken = pdFALSE;

	if (alarm_owner)
		vTaskNotifyGiveIndexedFromISR(alarm_owner->waiter, NOTIFY_TIMER, &woken);
	portYIELD_FROM_ISR(woken);
}

/* Runs in FreeRTOS's timer task. */
static void software_expired(TimerHandle_t software)
{
	struct port_timer *timer = pvTimerGetTimerID(software);

	xTaskNotifyGiveIndexed(timer->waiter, NOTIFY_TIMER);
}

static void sleep_until(uint64_t due_ns)
{
	while (machine_now_ns() < due_ns) {
		/* The tick is read first: if a tick comes in between, we wake a tick too early and sleep again. */
		TickType_t tick = xTaskGetTickCount();

		xTaskDelayUntil(&tick, machine_ticks_until(due_ns));
	}
}

static void wake_others(void *unused)
{
	(void)unused;
	for (;;) {
		port_semaphore_wait(&waker.asked);
		if (!waker.due_ns)
			return;
		sleep_until(waker.due_ns);
		port_semaphore_post(&waker.woken);
	}
}

static enum port_status start_waker(void)
{
	if (waker.taken)
		return freertos_fail(PORT_FAILED, "the thread that wakes others is taken");
	waker.taken = true;
	port_semaphore_open(&waker.asked, 0);
	port_semaphore_open(&waker.woken, 0);
	return port_thread_start(&waker.thread, "waker", PORT_HIGHEST, PORT_ANY_CPU, wake_others, NULL);
}

static void end_waker(void)
{
	waker.due_ns = 0;
	port_semaphore_post(&waker.asked);
	port_thread_join(&waker.thread);
	waker.taken = false;
}

enum port_status port_timer_open(struct port_timer *timer, enum port_path path)
{
	timer->path = path;
	timer->waiter = xTaskGetCurrentTaskHandle();
	switch (path) {
	case PORT_PATH_SLEEP:
		return PORT_OK;
	case PORT_PATH_HARD_TIMER:
		if (!machine_alarm_offered())
			return freertos_fail(PORT_NOT_OFFERED, "the machine has no timer beside the tick");
		if (alarm_owner)
			return freertos_fail(PORT_FAILED, "the machine's timer is taken by another thread");
		alarm_owner = timer;
		return PORT_OK;
	case PORT_PATH_SOFT_TIMER:
		xTimerCreateStatic("soft", 1, pdFALSE, timer, software_expired, &timer->software);
		return PORT_OK;
	case PORT_PATH_FUTEX:
		return start_waker();
	case PORT_PATH_NETWORK:
	case PORT_PATHS:
		break;
	}
	return freertos_fail(PORT_NOT_OFFERED, "FreeRTOS has no network of its own");
}

/* Only the alarm knows times between two ticks. */
uint64_t port_timer_next_ns(const struct port_timer *timer, uint64_t from_ns)
{
	return timer->path == PORT_PATH_HARD_TIMER ? from_ns : machine_tick_from(from_ns);
}

enum port_status port_timer_wait(struct port_timer *timer, uint64_t due_ns)
{
	if (machine_now_ns() >= due_ns)
		return PORT_OK;
	switch (timer->path) {
	case PORT_PATH_SLEEP:
		sleep_until(due_ns);
		return PORT_OK;
	case PORT_PATH_HARD_TIMER:
		machine_alarm_set(due_ns);
		ulTaskNotifyTakeIndexed(NOTIFY_TIMER, pdTRUE, portMAX_DELAY);
		return PORT_OK;
	case PORT_PATH_SOFT_TIMER:
		while (machine_now_ns() < due_ns) {
			xTimerChangePeriod((TimerHandle_t)&timer->software, machine_ticks_until(due_ns), portMAX_DELAY);
			ulTaskNotifyTakeIndexed(NOTIFY_TIMER, pdTRUE, portMAX_DELAY);
		}
		return PORT_OK;
	case PORT_PATH_FUTEX:
		waker.due_ns = due_ns;
		port_semaphore_post(&waker.asked);
		return port_semaphore_wait(&waker.woken);
	default:
		return freertos_fail(PORT_FAILED, "the timer is not open");
	}
}

void port_timer_close(struct port_timer *timer)
{
	if (timer->path == PORT_PATH_HARD_TIMER)
		alarm_owner = NULL;
	if (timer->path == PORT_PATH_SOFT_TIMER)
		xTimerDelete((TimerHandle_t)&timer->software, portMAX_DELAY);
	if (timer->path == PORT_PATH_FUTEX)
		end_waker();
}

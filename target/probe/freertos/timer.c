// SPDX-License-Identifier: MIT
/*
 * Waiting for a time by the paths that FreeRTOS has: the tick that wakes a sleeper, an interrupt of its own, FreeRTOS's
 * timer task, another task.
 */
#include "machine.h"
#include "rtos.h"

/* Stream buffers use index 0 for themselves. */
enum { NOTIFY_TIMER = 1 };

static struct port_timer *alarm_owner; /* the machine has one alarm */

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

static enum port_status sleep_until(uint64_t due_ns)
{
	while (machine_now_ns() < due_ns) {
		/* The tick is read first: if a tick comes in between, we wake a tick too early and sleep again. */
		TickType_t tick = xTaskGetTickCount();

		xTaskDelayUntil(&tick, machine_ticks_until(due_ns));
	}
	return PORT_OK;
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
			return port_fail(PORT_NOT_OFFERED, "the machine has no timer beside the tick");
		if (alarm_owner)
			return port_fail(PORT_FAILED, "the machine's timer is taken by another thread");
		alarm_owner = timer;
		return PORT_OK;
	case PORT_PATH_SOFT_TIMER:
		xTimerCreateStatic("soft", 1, pdFALSE, timer, software_expired, &timer->software);
		return PORT_OK;
	case PORT_PATH_FUTEX:
		return rtos_waker_start(sleep_until);
	case PORT_PATH_NETWORK:
	case PORT_PATHS:
		break;
	}
	return port_fail(PORT_NOT_OFFERED, "FreeRTOS has no network of its own");
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
		return sleep_until(due_ns);
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
		return rtos_waker_wait(due_ns);
	default:
		return port_fail(PORT_FAILED, "the timer is not open");
	}
}

void port_timer_close(struct port_timer *timer)
{
	if (timer->path == PORT_PATH_HARD_TIMER)
		alarm_owner = NULL;
	if (timer->path == PORT_PATH_SOFT_TIMER)
		xTimerDelete((TimerHandle_t)&timer->software, portMAX_DELAY);
	if (timer->path == PORT_PATH_FUTEX)
		rtos_waker_stop();
}

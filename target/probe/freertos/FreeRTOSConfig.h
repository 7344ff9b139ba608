/* SPDX-License-Identifier: MIT */
/*
 * How FreeRTOS is configured for the probe: everything the battery asks for, all in static memory, no time slices
 * (equal priorities take turns by yielding only), otherwise the defaults. What depends on the machine is in its folder.
 */
#ifndef RTQUAL_FREERTOS_CONFIG_H
#define RTQUAL_FREERTOS_CONFIG_H

#include "machine_config.h"

#define configUSE_PREEMPTION 1
#define configUSE_TIME_SLICING 0
#define configTICK_RATE_HZ 1000 /* as in FreeRTOS's own demos */
#define configMAX_PRIORITIES 8
#define configMAX_TASK_NAME_LEN 12
#define configIDLE_SHOULD_YIELD 1
#define configUSE_IDLE_HOOK 1
#define configUSE_TICK_HOOK 0

#define configSUPPORT_STATIC_ALLOCATION 1
#define configSUPPORT_DYNAMIC_ALLOCATION 0
#define configKERNEL_PROVIDED_STATIC_MEMORY 1

#define configUSE_MUTEXES 1
#define configUSE_COUNTING_SEMAPHORES 1
#define configTASK_NOTIFICATION_ARRAY_ENTRIES 2

#define configUSE_TIMERS 1
#define configTIMER_TASK_PRIORITY (configMAX_PRIORITIES - 1)
#define configTIMER_QUEUE_LENGTH 4
#define configTIMER_TASK_STACK_DEPTH configMINIMAL_STACK_SIZE

#define INCLUDE_vTaskDelete 1
#define INCLUDE_vTaskSuspend 1
#define INCLUDE_xTaskDelayUntil 1
#define INCLUDE_uxTaskPriorityGet 1

/* CHECKED=1: the kernel's assertions and stack checks, which cost time in every call. */
#ifdef PROBE_CHECKED
void machine_assertion_failed(const char *file, int line) __attribute__((noreturn));
#define configASSERT(x) ((x) ? (void)0 : machine_assertion_failed(__FILE__, __LINE__))
#define configCHECK_FOR_STACK_OVERFLOW 2
#else
#define configCHECK_FOR_STACK_OVERFLOW 0
#endif

#endif

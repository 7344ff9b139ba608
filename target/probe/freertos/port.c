// SPDX-License-Identifier: MIT
/* The port contract on FreeRTOS. Nothing is allocated; a benchmark's objects are FreeRTOS's own, one for one. */
#include "machine.h"
#include "rtos.h"

/*
 * Main (the caller of battery_run) runs below the benchmarks, FreeRTOS's timer task above them: so the lateness of a
 * timer deferred to it is its own, not a benchmark's.
 */
enum { PRIORITY_MAIN = tskIDLE_PRIORITY + 1 };
_Static_assert(PRIORITY_MAIN + PORT_HIGHEST < configTIMER_TASK_PRIORITY, "the timer task is above the benchmarks");
_Static_assert(sizeof(((struct port_queue *)0)->storage) >= PORT_DEPTH * PORT_MESSAGE_BYTES, "room for a full queue");
_Static_assert(sizeof(((struct port_pipe *)0)->storage) > PORT_PIPE_BYTES, "a stream buffer keeps one byte free");

/* The handle of an object in static memory is the address of that memory: FreeRTOS's create functions return it. */

enum { EVENT_BIT = 1 };

static const char *failure = "none";

enum port_status port_fail(enum port_status status, const char *what)
{
	failure = what;
	return status;
}

const char *port_failure(void)
{
	return failure;
}

static enum port_status fail(const char *why)
{
	return port_fail(PORT_FAILED, why);
}

static enum port_status done(BaseType_t success, const char *otherwise)
{
	return success == pdTRUE ? PORT_OK : fail(otherwise);
}

/* --- threads ------------------------------------------------------------------------------------ */

/*
 * If a task deleted itself, the idle task would clean up some time later, when its memory may already be another
 * task's. So it waits, and the task that joins it deletes it, which FreeRTOS does at once.
 */
static void run_thread(void *argument)
{
	struct port_thread *thread = argument;

	thread->entry(thread->argument);
	xSemaphoreGive((SemaphoreHandle_t)&thread->ended);
	vTaskSuspend(NULL);
}

enum port_status port_thread_start(struct port_thread *thread, const char *name, enum port_priority priority, int cpu,
				   port_entry entry, void *argument)
{
	if (cpu != PORT_ANY_CPU && cpu != 0)
		return port_fail(PORT_DENIED, "FreeRTOS runs on one CPU here, number 0");
	thread->entry = entry;
	thread->argument = argument;
	xSemaphoreCreateBinaryStatic(&thread->ended);
	thread->handle = xTaskCreateStatic(run_thread, name, MACHINE_STACK_WORDS, thread,
					   PRIORITY_MAIN + (UBaseType_t)priority, thread->stack, &thread->task);
	return thread->handle ? PORT_OK : fail("xTaskCreateStatic refused");
}

enum port_status port_thread_join(struct port_thread *thread)
{
	BaseType_t ended = xSemaphoreTake((SemaphoreHandle_t)&thread->ended, portMAX_DELAY);

	vTaskDelete(thread->handle);
	return done(ended, "a thread did not end");
}

enum port_status port_priority_now(enum port_priority *priority)
{
	UBaseType_t now = uxTaskPriorityGet(NULL);

	if (now < PRIORITY_MAIN + PORT_LOW || now > PRIORITY_MAIN + PORT_HIGHEST)
		return fail("the caller is no thread of a benchmark");
	*priority = (enum port_priority)(now - PRIORITY_MAIN);
	return PORT_OK;
}

void port_yield(void)
{
	taskYIELD();
}

/* --- clocks -------------------------------------------------------------------------------------- */

uint64_t port_now_ns(void)
{
	return machine_now_ns();
}

uint64_t port_cycles(void)
{
	return machine_cycles();
}

uint64_t port_cycles_per_s(void)
{
	return machine_cycles_per_s();
}

uint64_t port_clock_step_ns(void)
{
	return machine_clock_step_ns();
}

/* --- between threads ----------------------------------------------------------------------------- */

enum port_status port_semaphore_open(struct port_semaphore *semaphore, unsigned int count)
{
	return xSemaphoreCreateCountingStatic(INT32_MAX, count, &semaphore->memory) ?
		       PORT_OK :
		       fail("xSemaphoreCreateCountingStatic refused");
}

enum port_status port_semaphore_wait(struct port_semaphore *semaphore)
{
	return done(xSemaphoreTake((SemaphoreHandle_t)&semaphore->memory, portMAX_DELAY), "xSemaphoreTake failed");
}

enum port_status port_semaphore_post(struct port_semaphore *semaphore)
{
	return done(xSemaphoreGive((SemaphoreHandle_t)&semaphore->memory), "xSemaphoreGive failed");
}

void port_semaphore_close(struct port_semaphore *semaphore)
{
	vSemaphoreDelete((SemaphoreHandle_t)&semaphore->memory);
}

enum port_status port_mutex_open(struct port_mutex *mutex)
{
	return xSemaphoreCreateMutexStatic(&mutex->memory) ? PORT_OK : fail("xSemaphoreCreateMutexStatic refused");
}

enum port_status port_mutex_lock(struct port_mutex *mutex)
{
	return done(xSemaphoreTake((SemaphoreHandle_t)&mutex->memory, portMAX_DELAY), "xSemaphoreTake failed");
}

enum port_status port_mutex_unlock(struct port_mutex *mutex)
{
	return done(xSemaphoreGive((SemaphoreHandle_t)&mutex->memory), "unlocked by a thread that does not hold it");
}

void port_mutex_close(struct port_mutex *mutex)
{
	vSemaphoreDelete((SemaphoreHandle_t)&mutex->memory);
}

enum port_status port_queue_open(struct port_queue *queue, unsigned int depth, size_t message_bytes)
{
	if (depth > PORT_DEPTH || message_bytes > PORT_MESSAGE_BYTES)
		return PORT_FULL;
	return xQueueCreateStatic(depth, message_bytes, queue->storage, &queue->memory) ?
		       PORT_OK :
		       fail("xQueueCreateStatic refused");
}

enum port_status port_queue_send(struct port_queue *queue, const void *message)
{
	return done(xQueueSend((QueueHandle_t)&queue->memory, message, portMAX_DELAY), "xQueueSend failed");
}

enum port_status port_queue_receive(struct port_queue *queue, void *message)
{
	return done(xQueueReceive((QueueHandle_t)&queue->memory, message, portMAX_DELAY), "xQueueReceive failed");
}

void port_queue_close(struct port_queue *queue)
{
	vQueueDelete((QueueHandle_t)&queue->memory);
}

enum port_status port_pipe_open(struct port_pipe *pipe)
{
	return xStreamBufferCreateStatic(sizeof(pipe->storage), 1, pipe->storage, &pipe->memory) ?
		       PORT_OK :
		       fail("xStreamBufferCreateStatic refused");
}

enum port_status port_pipe_write(struct port_pipe *pipe, const void *bytes, size_t count)
{
	const StreamBufferHandle_t stream = (StreamBufferHandle_t)&pipe->memory;
	const uint8_t *from = bytes;

	if (count > PORT_PIPE_BYTES)
		return PORT_FULL;
	for (size_t sent = 0; sent < count;)
		sent += xStreamBufferSend(stream, from + sent, count - sent, portMAX_DELAY);
	return PORT_OK;
}

enum port_status port_pipe_read(struct port_pipe *pipe, void *bytes, size_t count)
{
	const StreamBufferHandle_t stream = (StreamBufferHandle_t)&pipe->memory;
	uint8_t *to = bytes;

	for (size_t got = 0; got < count;)
		got += xStreamBufferReceive(stream, to + got, count - got, portMAX_DELAY);
	return PORT_OK;
}

void port_pipe_close(struct port_pipe *pipe)
{
	vStreamBufferDelete((StreamBufferHandle_t)&pipe->memory);
}

enum port_status port_event_open(struct port_event *event)
{
	return xEventGroupCreateStatic(&event->memory) ? PORT_OK : fail("xEventGroupCreateStatic refused");
}

enum port_status port_event_wait(struct port_event *event)
{
	const EventGroupHandle_t group = (EventGroupHandle_t)&event->memory;
	EventBits_t bits = xEventGroupWaitBits(group, EVENT_BIT, pdTRUE, pdTRUE, portMAX_DELAY);

	return bits & EVENT_BIT ? PORT_OK : fail("xEventGroupWaitBits failed");
}

enum port_status port_event_signal(struct port_event *event)
{
	xEventGroupSetBits((EventGroupHandle_t)&event->memory, EVENT_BIT);
	return PORT_OK;
}

void port_event_close(struct port_event *event)
{
	vEventGroupDelete((EventGroupHandle_t)&event->memory);
}

/* --- own cost and results ------------------------------------------------------------------------ */

enum port_status port_disturbance_now(struct port_disturbance *disturbance)
{
	return machine_disturbance(disturbance);
}

uint32_t *port_sample_memory(size_t *capacity)
{
	return machine_sample_memory(capacity);
}

enum port_status port_write(const char *bytes, size_t count)
{
	return machine_write(bytes, count);
}

/* SPDX-License-Identifier: MIT */
/*
 * What a benchmark may ask of an operating system. A port implements this once, in its own folder; the build picks
 * the folder (-I linux, kernel, freertos or xenomai), so no benchmark knows which system it runs on.
 *
 * Objects are the caller's memory and complete types, so that nothing allocates after the start. Times are in
 * nanoseconds of one monotonic clock that every port names. A call that can fail returns a status; a mechanism that a
 * system does not have is PORT_NOT_OFFERED, which a report shows as such, never as zero.
 */
#ifndef RTQUAL_PORT_H
#define RTQUAL_PORT_H

/*
 * The port defines: uint8_t ... int64_t, UINT32_MAX, bool, size_t, NULL; struct
 * port_{thread,semaphore,mutex,queue,pipe, event,timer}; and uint64_t port_divide(uint64_t, uint32_t), for which 32-bit
 * kernels have a function of their own.
 */
#include "port_types.h"

enum port_status {
	PORT_OK = 0,
	PORT_NOT_OFFERED, /* the system has no such mechanism */
	PORT_DENIED, /* it has the mechanism, but denies it to us: priority, memory lock */
	PORT_FULL, /* a queue, pipe or buffer cannot take more */
	PORT_FAILED, /* anything else; port_failure() says what */
};

/* The last failure of this port in words, for the person who must mend it. Never NULL. */
const char *port_failure(void);

/* --- threads ------------------------------------------------------------------------------------ */

/*
 * Real-time priorities, as the battery needs them. Ports map them in this order to their own; threads of equal priority
 * take turns only by yielding.
 */
enum port_priority {
	PORT_LOW = 1,
	PORT_MIDDLE,
	PORT_HIGH,
	PORT_HIGHEST,
};

enum { PORT_ANY_CPU = -1 };

typedef void (*port_entry)(void *argument);

/* Start a thread; fails with PORT_DENIED unless it has the priority (and the CPU) that was asked for. */
enum port_status port_thread_start(struct port_thread *thread, const char *name, enum port_priority priority, int cpu,
				   port_entry entry, void *argument);
/* Wait for its end; the caller must have a lower priority or block on something else meanwhile. */
enum port_status port_thread_join(struct port_thread *thread);
/* The caller's priority as the system has it now (a mutex may lend it a higher one). */
enum port_status port_priority_now(enum port_priority *priority);
void port_yield(void);

/* --- clocks -------------------------------------------------------------------------------------- */

uint64_t port_now_ns(void);
/* The finest counter that user code can read; its frequency in Hz. */
uint64_t port_cycles(void);
uint64_t port_cycles_per_s(void);
/* The step of port_now_ns() in ns, as the system states or the port has measured it. */
uint64_t port_clock_step_ns(void);

/* --- activation: how a thread is woken at a time ------------------------------------------------- */

/* The kernel's path from the timer to the thread. docs/probe.md says which system has which. */
enum port_path {
	PORT_PATH_SLEEP, /* the system's absolute sleep: what a control loop would use */
	PORT_PATH_HARD_TIMER, /* a timer that expires in hard-interrupt context and wakes the thread directly */
	PORT_PATH_SOFT_TIMER, /* a timer deferred to a softirq or a timer task */
	PORT_PATH_NETWORK, /* a datagram on the loopback, sent by another thread at the time */
	PORT_PATH_FUTEX, /* another thread, woken at the time, that wakes this thread by a semaphore */
	PORT_PATHS
};

/* Ready a timer for the calling thread. */
enum port_status port_timer_open(struct port_timer *timer, enum port_path path);
/* The first time from `from_ns` on that the timer can be set to: a system that counts ticks cannot wait for others. */
uint64_t port_timer_next_ns(const struct port_timer *timer, uint64_t from_ns);
/* Block until the clock is at `due_ns` or later. A time already past returns at once. */
enum port_status port_timer_wait(struct port_timer *timer, uint64_t due_ns);
void port_timer_close(struct port_timer *timer);

/* --- between threads ----------------------------------------------------------------------------- */

enum port_status port_semaphore_open(struct port_semaphore *semaphore, unsigned int count);
enum port_status port_semaphore_wait(struct port_semaphore *semaphore);
enum port_status port_semaphore_post(struct port_semaphore *semaphore);
void port_semaphore_close(struct port_semaphore *semaphore);

/* A mutex with priority inheritance; PORT_NOT_OFFERED if the system has none. */
enum port_status port_mutex_open(struct port_mutex *mutex);
enum port_status port_mutex_lock(struct port_mutex *mutex);
enum port_status port_mutex_unlock(struct port_mutex *mutex);
void port_mutex_close(struct port_mutex *mutex);

/* Messages of one size, at most PORT_MESSAGE_BYTES; send blocks while `depth` of them wait, at most PORT_DEPTH. */
enum { PORT_MESSAGE_BYTES = 64, PORT_DEPTH = 8 };
enum port_status port_queue_open(struct port_queue *queue, unsigned int depth, size_t message_bytes);
enum port_status port_queue_send(struct port_queue *queue, const void *message);
enum port_status port_queue_receive(struct port_queue *queue, void *message);
void port_queue_close(struct port_queue *queue);

/* A stream of bytes, at most PORT_PIPE_BYTES in it; a read returns when it has all that was asked for. */
enum { PORT_PIPE_BYTES = 512 };
enum port_status port_pipe_open(struct port_pipe *pipe);
enum port_status port_pipe_write(struct port_pipe *pipe, const void *bytes, size_t count);
enum port_status port_pipe_read(struct port_pipe *pipe, void *bytes, size_t count);
void port_pipe_close(struct port_pipe *pipe);

/* A signal without a value: a wait returns once for one or more signals. */
enum port_status port_event_open(struct port_event *event);
enum port_status port_event_wait(struct port_event *event);
enum port_status port_event_signal(struct port_event *event);
void port_event_close(struct port_event *event);

/* --- the probe's own cost, and its results ------------------------------------------------------- */

/* What must not happen while measuring, and what it costs; PORT_NOT_OFFERED if the port cannot count it. */
struct port_disturbance {
	uint64_t page_faults;
	uint64_t involuntary_switches;
	uint64_t thread_ns; /* CPU time that the calling thread has used; 0: not told */
};
enum port_status port_disturbance_now(struct port_disturbance *disturbance);

/* Memory for samples, faulted in and locked before anything is measured; as many as the port can give. */
uint32_t *port_sample_memory(size_t *capacity);

/* Bytes of the result, never called while measuring: a file, a module's file, a UART. */
enum port_status port_write(const char *bytes, size_t count);

/* "linux 6.1.0-48-rt-amd64 ...", "FreeRTOS V11.2.0": one line, no quotes. */
const char *port_system(void);

#endif

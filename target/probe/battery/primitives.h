/* SPDX-License-Identifier: MIT */
/* The rows of the FreeRTOS study, by its names and RTOSBench's definitions, and a few beside them. */
#ifndef RTQUAL_PRIMITIVES_H
#define RTQUAL_PRIMITIVES_H

#include "battery.h"

/* clock.c */
enum port_status primitive_empty(struct run *run);
enum port_status primitive_clock_read(struct run *run);
enum port_status primitive_cycle_read(struct run *run);
/* switch.c */
enum port_status primitive_context_switch(struct run *run);
/* queue.c */
enum port_status primitive_mq_send(struct run *run);
enum port_status primitive_mq_receive(struct run *run);
enum port_status primitive_mq_send_unblock(struct run *run);
enum port_status primitive_mq_receive_block(struct run *run);
/* mutex.c */
enum port_status primitive_mutex_release_unblock(struct run *run);
enum port_status primitive_mutex_request_block(struct run *run);
enum port_status primitive_mutex_pip(struct run *run);
enum port_status primitive_mutex_acquisition(struct run *run);
enum port_status primitive_mutex_release(struct run *run);
/* semaphore.c */
enum port_status primitive_sem_signal_unblock(struct run *run);
enum port_status primitive_sem_wait_block(struct run *run);
enum port_status primitive_sem_signaling_with_prio(struct run *run);
enum port_status primitive_sem_signal(struct run *run);
enum port_status primitive_sem_wait(struct run *run);
/* workload.c */
enum port_status primitive_mq_workload(struct run *run);
enum port_status primitive_mutex_workload(struct run *run);
enum port_status primitive_sem_workload(struct run *run);
/* event.c */
enum port_status primitive_event_signal(struct run *run);
enum port_status primitive_event_signal_unblock(struct run *run);
/* inversion.c */
enum port_status primitive_inversion_with_pi(struct run *run);
enum port_status primitive_inversion_without_pi(struct run *run);

extern const struct benchmark primitive_benchmarks[];

#endif

/* SPDX-License-Identifier: MIT */
/* The guest's memory, and Linux's threads in it. */
#ifndef WATCH_THREAD_H
#define WATCH_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool peek(uint64_t address, void *to, size_t size);

/*
 * Where in a task_struct its name and priority are. `task`: one whose name and priority may be known, as the idle
 * thread's. What is found may be another thread's behind it, so the nearest is kept: 0 where nothing is known yet.
 */
void thread_find(uint64_t task, int *comm_at, int *prio_at);

#endif

/* SPDX-License-Identifier: MIT */
/* FreeRTOS's simulator (portable/ThirdParty/GCC/Posix): tasks are threads, the tick is a signal. */
#ifndef RTQUAL_MACHINE_CONFIG_H
#define RTQUAL_MACHINE_CONFIG_H

/* The simulator keeps only its own record of a task there; the thread has a stack of its own. */
#define MACHINE_STACK_WORDS 64
#define configMINIMAL_STACK_SIZE 64
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_64_BITS

#endif

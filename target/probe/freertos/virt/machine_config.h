/* SPDX-License-Identifier: MIT */
/* FreeRTOS's GCC/ARM_CA9 port on QEMU's board `virt`: addresses from QEMU's hw/arm/virt.c, GICv2, 256 priorities. */
#ifndef RTQUAL_MACHINE_CONFIG_H
#define RTQUAL_MACHINE_CONFIG_H

#define MACHINE_STACK_WORDS 1024
#define configMINIMAL_STACK_SIZE 256
#define configTICK_TYPE_WIDTH_IN_BITS TICK_TYPE_WIDTH_32_BITS

#define configINTERRUPT_CONTROLLER_BASE_ADDRESS 0x08000000
#define configINTERRUPT_CONTROLLER_CPU_INTERFACE_OFFSET 0x10000
#define configUNIQUE_INTERRUPT_PRIORITIES 256
/* A lower number is more urgent; interrupts from this number on may call FreeRTOS. */
#define configMAX_API_CALL_INTERRUPT_PRIORITY 192

#ifndef __ASSEMBLER__
void machine_tick_start(void);
void machine_tick_next(void);
#endif
#define configSETUP_TICK_INTERRUPT() machine_tick_start()
#define configCLEAR_TICK_INTERRUPT() machine_tick_next()

#endif

/* SPDX-License-Identifier: MIT */
/*
 * ChibiOS's ARM port on QEMU's board `virt`. It knows the Cortex-A15 only as the A7, which executes the same
 * instructions. Its interrupt code jumps to what a register of the interrupt controller holds; the GIC has no such
 * register, so a variable stands for it (startup.S).
 */
#ifndef ARMPARAMS_H
#define ARMPARAMS_H

#define ARM_CORE ARM_CORE_CORTEX_A7
#define ARM_SUPPORTS_THUMB 1
#define ARM_SUPPORTS_THUMB2 1
#define ARM_IRQ_VECTOR_REG chibios_irq_vector

#define ARM_ENABLE_WFI_IDLE TRUE
#define ARM_WFI_IMPL __asm__ volatile("wfi" : : : "memory")

#endif

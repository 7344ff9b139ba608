/* SPDX-License-Identifier: MIT */
/*
 * From reset to C on QEMU's board `virt`: vectors, a stack for each mode, floating point on (FreeRTOS's port saves its
 * registers), memory as it is. With the MMU off all of it is of devices, where an access that is not aligned faults, as
 * on hardware (QEMU from 9.0 on). Makefiles name IRQ_HANDLER and SWI_HANDLER.
 */
	.syntax unified
	.arm
	.section .vectors, "ax"
	.global _start
	.balign 32
vectors:
_start:
	b	reset
	ldr	pc, =undefined_instruction
	ldr	pc, =SWI_HANDLER
	ldr	pc, =prefetch_abort
	ldr	pc, =data_abort
	b	.
	ldr	pc, =IRQ_HANDLER
	b	.
	.ltorg

	.set	MODE_IRQ, 0x12
	.set	MODE_SVC, 0x13
	.set	MODE_ABT, 0x17
	.set	MODE_UND, 0x1b
	.set	MODE_SYS, 0x1f

reset:
	cpsid	if
	ldr	r0, =vectors
	mcr	p15, 0, r0, c12, c0, 0		/* VBAR */
	cps	#MODE_IRQ
	ldr	sp, =irq_stack_top
	cps	#MODE_ABT
	ldr	sp, =fault_stack_top
	cps	#MODE_UND
	ldr	sp, =fault_stack_top
	cps	#MODE_SVC
	ldr	sp, =svc_stack_top
	cps	#MODE_SYS
	ldr	sp, =svc_stack_top		/* main's, until the scheduler starts: no interrupt comes before */

	mrc	p15, 0, r0, c1, c0, 2		/* CPACR: full access to cp10 and cp11 */
	orr	r0, r0, #(0xf << 20)
	mcr	p15, 0, r0, c1, c0, 2
	isb
	mov	r0, #(1 << 30)			/* FPEXC.EN */
	vmsr	fpexc, r0

	ldr	r0, =0xff04			/* MAIR0: devices; memory that is cached */
	mcr	p15, 0, r0, c10, c2, 0
	ldr	r0, =0x80003500			/* TTBCR: long descriptors, the table itself in cached memory */
	mcr	p15, 0, r0, c2, c0, 2
	ldr	r0, =map
	mov	r1, #0
	mcrr	p15, 0, r0, r1, c2		/* TTBR0 */
	mcr	p15, 0, r1, c8, c7, 0		/* TLBIALL */
	dsb
	isb
	mrc	p15, 0, r0, c1, c0, 0		/* SCTLR: instructions and data cached, addresses mapped */
	orr	r0, r0, #(1 << 12)
	orr	r0, r0, #(1 << 2 | 1 << 0)
	mcr	p15, 0, r0, c1, c0, 0
	isb

	ldr	r0, =bss_start
	ldr	r1, =bss_end
	mov	r2, #0
1:	cmp	r0, r1
	strlo	r2, [r0], #4
	blo	1b
	bl	main
	b	.

/* r0: what happened, r1: where. */
undefined_instruction:
	sub	r1, lr, #4
	ldr	r0, =undefined_text
	b	machine_fault
prefetch_abort:
	sub	r1, lr, #4
	ldr	r0, =prefetch_text
	b	machine_fault
data_abort:
	sub	r1, lr, #8
	ldr	r0, =data_text
	b	machine_fault
	.ltorg

	.section .rodata
	.balign 32
map:						/* a GiB each, at its own address */
	.quad	0x0040000000000401		/* devices, no code */
	.quad	0x0000000040000705		/* memory */
	.quad	0, 0
undefined_text:
	.asciz	"undefined instruction"
prefetch_text:
	.asciz	"prefetch abort"
data_text:
	.asciz	"data abort"

	.section .note.GNU-stack, "", %progbits

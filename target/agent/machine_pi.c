// SPDX-License-Identifier: MIT
/*
 * The Raspberry Pi 3 that QEMU emulates (raspi3b): a 64-bit processor without any of QEMU's own devices. What those
 * do elsewhere the plugin channel.c does at the mark, which says by registers what is asked.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../observers/channel.h"
#include "machine.h"

static const char job_item[] = "opt/rtqual/job"; /* agent.c looks for it in fw_cfg's directory */

/* Holds what was chosen to be read: a directory of one item as QEMU's docs/specs/fw_cfg has it, or that item. */
static struct {
	uint8_t directory[4 + 4 + 2 + 2 + 56];
	struct channel_job job;
	const uint8_t *next;
} g;

/* What is in the middle of a block of instructions sees old registers, so the mark begins one. */
static void ask(unsigned long what, void *at)
{
	register unsigned long x0 __asm__("x0") = what;
	register void *x1 __asm__("x1") = at;

	__asm__ volatile("isb\n\thint #90" : : "r"(x0), "r"(x1) : "memory");
}

static uint8_t *put(uint8_t *to, uint32_t value, int bytes)
{
	while (bytes--)
		*to++ = (uint8_t)(value >> 8 * bytes);
	return to;
}

/* The plugin writes where memory is: its pages have to be there. */
static void take_job(void)
{
	uint8_t *to = g.directory;

	memset(&g.job, 0, sizeof(g.job));
	if (mlock(&g, sizeof(g)))
		die("cannot keep the job in memory: %s", strerror(errno));
	ask(CHANNEL_JOB, &g.job);
	to = put(to, g.job.size > 0, 4);
	to = put(to, (uint32_t)g.job.size, 4);
	to = put(to, 0, 4); /* its key, and nothing */
	memcpy(to, job_item, sizeof(job_item));
}

void machine_fw_select(uint16_t item)
{
	if (item)
		take_job();
	g.next = item ? g.directory : g.job.text;
}

uint8_t machine_fw_byte(void)
{
	return *g.next++;
}

void machine_pause(void)
{
	ask(CHANNEL_PAUSE, NULL);
}

/* The board's counter runs at 1 GHz (engine/boards/machine.py). */
uint64_t machine_now_ns(void)
{
	uint64_t count;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(count));
	return count;
}

void machine_leave(int code)
{
	(void)code; /* QEMU ends with 0 */
	ask(CHANNEL_LEAVE, NULL);
	for (;;)
		pause();
}

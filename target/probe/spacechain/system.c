// SPDX-License-Identifier: MIT
/* Clock, counter, memory, the result's way out, failures, what this system is, and the run itself. */
#include "sylixos_port.h"

#include "board.h"
#include "mark.h"
#include "virt_devices.h"

enum { SAMPLES_HERE = 0x44000000, SAMPLES_HERE_BYTES = 60 << 20 };

#ifdef SYLIXOS_SLEEP_POSIX
#define VERSION SPACECHAIN_VERSION " (POSIX sleep, tick of " BOARD_TICK_US " us)"
#define TICK RTQUAL_TICKLESS /* such a sleep ends at any time */
#else
#define VERSION SPACECHAIN_VERSION
#define TICK RTQUAL_TICK_US(BOARD_TICK_US)
#endif

/* SpaceChain OS is SylixOS. Its processes have memory of their own; the battery runs in the kernel's. */
RTQUAL_MARK("SpaceChain OS", VERSION, TICK, RTQUAL_VIRT_A15, "128",
	    RTQUAL_LICENCE("GPL 3") RTQUAL_USB("sources") RTQUAL_WIFI("sources") RTQUAL_PROTECTION("sources"));

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

uint64_t port_now_ns(void)
{
	return read_counter();
}

uint64_t port_cycles(void)
{
	return read_counter();
}

uint64_t port_cycles_per_s(void)
{
	return COUNTER_HZ;
}

uint64_t port_clock_step_ns(void)
{
	return 1;
}

enum port_status port_disturbance_now(struct port_disturbance *disturbance)
{
	(void)disturbance; /* no pages come and go here */
	return PORT_NOT_OFFERED;
}

uint32_t *port_sample_memory(size_t *capacity)
{
	*capacity = SAMPLES_HERE_BYTES / sizeof(uint32_t);
	return (uint32_t *)SAMPLES_HERE;
}

enum port_status port_write(const char *bytes, size_t count)
{
	write_uart(bytes, count);
	return PORT_OK;
}

void board_main(void)
{
	const char *words[RTOS_WORDS_MOST];

	if (read_counter_hz() != COUNTER_HZ) {
		rtos_complain("the board's counter does not run at 1 GHz: start QEMU with ",
			      "-cpu cortex-a15,cntfrq=1000000000");
		return;
	}
	rootFsDrv(); /* pipes are devices of the file system */
	rootFsDevCreate();
	pipeDrv();
	rtos_run(words, read_words(words, RTOS_WORDS_MOST));
}

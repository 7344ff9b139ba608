// SPDX-License-Identifier: MIT
/* Starts ChibiOS, runs in its main thread the family of benchmarks that the board's command line names, and ends. */
#include "chibios.h"
#include "virt_devices.h"

enum { PRIORITY_TIMER = 240 };

int main(void)
{
	const char *words[RTOS_WORDS_MOST];

	if (read_counter_hz() != COUNTER_HZ) {
		rtos_complain("the board's counter does not run at 1 GHz: start QEMU with ",
			      "-cpu cortex-a15,cntfrq=1000000000");
		switch_off();
	}
	start_interrupts();
	enable_interrupt(PPI_VIRTUAL_TIMER, PRIORITY_TIMER);
	chSysInit();
	rtos_run(words, read_words(words, RTOS_WORDS_MOST));
	switch_off();
}

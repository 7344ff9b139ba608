// SPDX-License-Identifier: MIT
/* Starts FreeRTOS with one task that runs the family of benchmarks named on the command line, and ends. */
#include "machine.h"
#include "rtos.h"

/* Exit codes as the Linux port's: 2 for a command line that is not understood, 3 for a run that failed. */
static void main_task(void *unused)
{
	const char *words[RTOS_WORDS_MOST];

	(void)unused;
	machine_exit(rtos_run(words, machine_arguments(words, RTOS_WORDS_MOST)));
}

int main(int argc, char **argv)
{
	static StaticTask_t task;
	static StackType_t stack[MACHINE_STACK_WORDS];
	const char *trouble = machine_start(argc, argv);

	if (trouble) {
		rtos_complain(trouble, "");
		machine_exit(3);
	}
	xTaskCreateStatic(main_task, "main", MACHINE_STACK_WORDS, NULL, tskIDLE_PRIORITY + 1, stack, &task);
	vTaskStartScheduler();
	rtos_complain("the scheduler did not start", "");
	machine_exit(3);
}

#ifdef PROBE_CHECKED
void machine_assertion_failed(const char *file, int line)
{
	char digits[] = ":00000";

	for (int at = 5; at; at--, line /= 10)
		digits[at] = (char)('0' + line % 10);
	rtos_complain(file, digits);
	machine_exit(3);
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name);
void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
	(void)task;
	rtos_complain("a stack is too small: ", name);
	machine_exit(3);
}
#endif

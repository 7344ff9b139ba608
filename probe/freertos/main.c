// SPDX-License-Identifier: MIT
/* Starts FreeRTOS with one task that runs the family of benchmarks named on the command line, and ends. */
#include "battery.h"
#include "common/options.h"
#include "machine.h"

enum { WORDS_MOST = 12 };

static void say(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	machine_write(text, length);
}

static void complain(const char *what, const char *which)
{
	say("rtqual-probe: ");
	say(what);
	say(which);
	say("\n");
}

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static const struct family *find_family(const char *name)
{
	for (const struct family *family = battery; family->name; family++) {
		if (same(family->name, name))
			return family;
	}
	return NULL;
}

/* As the Linux port's. The port's own priorities are fixed, and there is no file to write to. */
static const struct option rows[] = { { "iterations", "N", "", OPTION_WHOLE(struct options, iterations, 1, 10000000) },
				      { "interval_ns", "N", "",
					OPTION_WHOLE(struct options, interval_ns, 1000, 60000000000) },
				      { "cpu", "N", "", OPTION_WHOLE(struct options, cpu, 0, 0) },
				      { "seed", "N", "", OPTION_WHOLE(struct options, seed, 0, UINT32_MAX) },
				      { 0 } };

/* Exit codes as the Linux port's: 2 for a command line that is not understood, 3 for a run that failed. */
static int run(void)
{
	static struct workspace workspace;
	static const struct option *const tables[] = { rows, NULL };
	struct option_word word;
	struct options options = { .cpu = 0 };
	const char *words[WORDS_MOST];
	int count = machine_arguments(words, WORDS_MOST);
	const struct family *family = count ? find_family(words[0]) : NULL;

	if (!family) {
		complain("no such family of benchmarks: ", count ? words[0] : "(none was named)");
		return 2;
	}
	for (int i = 1; i < count; i++) {
		if (option_read(tables, words[i], NULL, &options, &word) != OPTION_SET) {
			complain("not understood, or out of range: ", words[i]);
			return 2;
		}
	}
	if (battery_run(family, &options, &workspace) == PORT_OK)
		return 0;
	complain(workspace.complaint, "");
	return 3;
}

static void main_task(void *unused)
{
	(void)unused;
	machine_exit(run());
}

int main(int argc, char **argv)
{
	static StaticTask_t task;
	static StackType_t stack[MACHINE_STACK_WORDS];
	const char *trouble = machine_start(argc, argv);

	if (trouble) {
		complain(trouble, "");
		machine_exit(3);
	}
	xTaskCreateStatic(main_task, "main", MACHINE_STACK_WORDS, NULL, tskIDLE_PRIORITY + 1, stack, &task);
	vTaskStartScheduler();
	complain("the scheduler did not start", "");
	machine_exit(3);
}

#ifdef PROBE_CHECKED
void machine_assertion_failed(const char *file, int line)
{
	char digits[] = ":00000";

	for (int at = 5; at; at--, line /= 10)
		digits[at] = (char)('0' + line % 10);
	say("rtqual-probe: FreeRTOS's assertion failed at ");
	complain(file, digits);
	machine_exit(3);
}

void vApplicationStackOverflowHook(TaskHandle_t task, char *name);
void vApplicationStackOverflowHook(TaskHandle_t task, char *name)
{
	(void)task;
	complain("a stack is too small: ", name);
	machine_exit(3);
}
#endif

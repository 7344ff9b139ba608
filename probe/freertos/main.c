// SPDX-License-Identifier: MIT
/* Starts FreeRTOS with one task that runs the family of benchmarks named on the command line, and ends. */
#include "battery.h"
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

static bool number(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	*value = 0;
	for (const char *at = text; *at; at++) {
		if (*at < '0' || *at > '9' || *value > most)
			return false;
		*value = *value * 10 + (uint64_t)(*at - '0');
	}
	return *text && *value >= least && *value <= most;
}

/* The text after "key=", or NULL. */
static const char *value_of(const char *word, const char *key)
{
	while (*key && *word == *key) {
		word++;
		key++;
	}
	return !*key && *word == '=' ? word + 1 : NULL;
}

/* As the Linux port's: key=value. The port's own priorities are fixed, and there is no file to write to. */
static bool set_option(struct options *options, const char *word)
{
	const char *text;
	uint64_t value;

	if ((text = value_of(word, "iterations")) && number(text, 1, 10000000, &value))
		options->iterations = (uint32_t)value;
	else if ((text = value_of(word, "interval_ns")) && number(text, 1000, 60000000000, &value))
		options->interval_ns = value;
	else if ((text = value_of(word, "cpu")) && number(text, 0, 0, &value))
		options->cpu = 0;
	else if ((text = value_of(word, "seed")) && number(text, 0, UINT32_MAX, &value))
		options->seed = (uint32_t)value;
	else
		return false;
	return true;
}

/* Exit codes as the Linux port's: 2 for a command line that is not understood, 3 for a run that failed. */
static int run(void)
{
	static struct workspace workspace;
	struct options options = { .cpu = 0 };
	const char *words[WORDS_MOST];
	int count = machine_arguments(words, WORDS_MOST);
	const struct family *family = count ? find_family(words[0]) : NULL;

	if (!family) {
		complain("no such family of benchmarks: ", count ? words[0] : "(none was named)");
		return 2;
	}
	for (int i = 1; i < count; i++) {
		if (!set_option(&options, words[i])) {
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

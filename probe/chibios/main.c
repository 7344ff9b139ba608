// SPDX-License-Identifier: MIT
/* Starts ChibiOS, runs in its main thread the family of benchmarks that the board's command line names, and ends. */
#include <string.h>

#include "battery.h"
#include "chibios.h"
#include "common/options.h"
#include "virt_devices.h"

enum { WORDS_MOST = 12, PRIORITY_TIMER = 240 };

static void complain(const char *what, const char *which)
{
	const char *const parts[] = { "rtqual-probe: ", what, which, "\n" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		write_uart(parts[i], strlen(parts[i]));
}

static const struct family *find_family(const char *name)
{
	for (const struct family *family = battery; family->name; family++)
		if (!strcmp(family->name, name))
			return family;
	return NULL;
}

/* As the Linux port's. The port's own priorities are fixed, and there is no file to write to. */
static const struct option rows[] = { { "iterations", "N", "", OPTION_WHOLE(struct options, iterations, 1, 10000000) },
				      { "interval_ns", "N", "",
					OPTION_WHOLE(struct options, interval_ns, 1000, 60000000000) },
				      { "cpu", "N", "", OPTION_WHOLE(struct options, cpu, 0, 0) },
				      { "seed", "N", "", OPTION_WHOLE(struct options, seed, 0, UINT32_MAX) },
				      { 0 } };

static void run(void)
{
	static struct workspace workspace;
	static const struct option *const tables[] = { rows, NULL };
	struct option_word word;
	struct options options = { .cpu = 0 };
	const char *words[WORDS_MOST];
	int count = read_words(words, WORDS_MOST);
	const struct family *family = count ? find_family(words[0]) : NULL;

	if (!family) {
		complain("no such family of benchmarks: ", count ? words[0] : "(none was named)");
		return;
	}
	for (int i = 1; i < count; i++) {
		if (option_read(tables, words[i], NULL, &options, &word) != OPTION_SET) {
			complain("not understood, or out of range: ", words[i]);
			return;
		}
	}
	if (battery_run(family, &options, &workspace) != PORT_OK)
		complain(workspace.complaint, "");
}

void machine_fault(const char *what, uintptr_t where) __attribute__((noreturn)); /* called by startup.S */
void machine_fault(const char *what, uintptr_t where)
{
	static const char hex[] = "0123456789abcdef";
	char place[] = " at 0x00000000";

	for (int i = 0; i < 8; i++)
		place[6 + i] = hex[where >> (28 - 4 * i) & 15];
	complain(what, place);
	switch_off();
}

int main(void)
{
	if (read_counter_hz() != COUNTER_HZ) {
		complain("the board's counter does not run at 1 GHz: start QEMU with ",
			 "-cpu cortex-a15,cntfrq=1000000000");
		switch_off();
	}
	start_interrupts();
	enable_interrupt(PPI_VIRTUAL_TIMER, PRIORITY_TIMER);
	chSysInit();
	run();
	switch_off();
}

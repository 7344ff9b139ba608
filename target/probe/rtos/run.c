// SPDX-License-Identifier: MIT
/* Runs what the words of a command line ask for. */
#include "battery.h"
#include "common/options.h"
#include "rtos.h"

static void say(const char *text)
{
	size_t length = 0;

	while (text[length])
		length++;
	port_write(text, length);
}

void rtos_complain(const char *what, const char *which)
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

/* As the Linux port's. A port's own priorities are fixed, and there is no file to write to. */
static const struct option rows[] = { { "iterations", "N", "", OPTION_WHOLE(struct options, iterations, 1, 10000000) },
				      { "interval_ns", "N", "",
					OPTION_WHOLE(struct options, interval_ns, 1000, 60000000000) },
				      { "cpu", "N", "", OPTION_WHOLE(struct options, cpu, 0, 0) },
				      { "seed", "N", "", OPTION_WHOLE(struct options, seed, 0, UINT32_MAX) },
				      { 0 } };

int rtos_run(const char *const *words, int count)
{
	static struct workspace workspace;
	static const struct option *const tables[] = { rows, NULL };
	struct option_word word;
	struct options options = { .cpu = 0 };
	const struct family *family = count ? find_family(words[0]) : NULL;

	if (!family) {
		rtos_complain("no such family of benchmarks: ", count ? words[0] : "(none was named)");
		return 2;
	}
	for (int i = 1; i < count; i++) {
		if (option_read(tables, words[i], NULL, &options, &word) != OPTION_SET) {
			rtos_complain("not understood, or out of range: ", words[i]);
			return 2;
		}
	}
	if (battery_run(family, &options, &workspace) == PORT_OK)
		return 0;
	rtos_complain(workspace.complaint, "");
	return 3;
}

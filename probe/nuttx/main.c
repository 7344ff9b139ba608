// SPDX-License-Identifier: MIT
/*
 * NuttX's first task (CONFIG_INIT_ENTRYPOINT="rtqual_probe_main"): runs the family of benchmarks that the board's command
 * line names, and switches the board off.
 */
#include <stdio.h>
#include <string.h>
#include <sys/boardctl.h>
#include <termios.h>
#include <unistd.h>

#include "battery.h"
#include "common/options.h"
#include "nuttx.h"
#include "virt.h"

enum { WORDS_MOST = 12 };

int rtqual_probe_main(int count, char **words);

static void complain(const char *what, const char *which)
{
	dprintf(STDOUT_FILENO, "rtqual-probe: %s%s\n", what, which);
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
	if (nuttx_setup() != PORT_OK)
		complain(port_failure(), "");
	else if (battery_run(family, &options, &workspace) != PORT_OK)
		complain(workspace.complaint, "");
}

int rtqual_probe_main(int count, char **words)
{
	(void)count; /* the words are the board's */
	(void)words;
	run();
	tcdrain(STDOUT_FILENO);
	boardctl(BOARDIOC_POWEROFF, 0);
	return 1; /* this build cannot switch the board off: the run ends at its deadline */
}

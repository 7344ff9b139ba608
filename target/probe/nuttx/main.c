// SPDX-License-Identifier: MIT
/*
 * NuttX's first task (CONFIG_INIT_ENTRYPOINT="rtqual_probe_main"): runs the family of benchmarks that the board's command
 * line names, and switches the board off.
 */
#include <sys/boardctl.h>
#include <termios.h>
#include <unistd.h>

#include "nuttx.h"
#include "virt.h"

int rtqual_probe_main(int count, char **words);

int rtqual_probe_main(int count, char **words)
{
	const char *given[RTOS_WORDS_MOST];

	(void)count; /* the words are the board's */
	(void)words;
	if (nuttx_setup() == PORT_OK)
		rtos_run(given, read_words(given, RTOS_WORDS_MOST));
	else
		rtos_complain(port_failure(), "");
	tcdrain(STDOUT_FILENO);
	boardctl(BOARDIOC_POWEROFF, 0);
	return 1; /* this build cannot switch the board off: the run ends at its deadline */
}

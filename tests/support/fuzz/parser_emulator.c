// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <sys/mman.h>

#include "camera/software/options.h"
#include "camera/software/recording.h"
#include "fuzz.h"
#include "parser.h"

int parser_first(char **arguments, int count)
{
	static char word[64];

	if (draw(4))
		arguments[count++] = (char *[]){ "--attach", "--listen=0", "--write=x" }[draw(3)];
	if (draw(3) == 0) {
		snprintf(word, sizeof(word), "--%s=%s", draw(3) ? "scene" : "replay", fuzz_file);
		arguments[count++] = word;
	}
	return count;
}

int parser_last(char **arguments, int count)
{
	(void)arguments;
	return count;
}

bool parser_run(int count, char **arguments)
{
	static struct options options;
	struct frames frames = { 0 };

	options_read(&options, count, arguments);
	if (!options.replay)
		return options.waypoints;
	recording_replay(&options, &frames);
	munmap((void *)(frames.iq ? frames.iq : frames.z16),
	       frames.count * (size_t)(options.z16 ? DS325_Z16_BYTES : DS325_FRAME_BYTES));
	return true;
}

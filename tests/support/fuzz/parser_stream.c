// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <sys/mman.h>

#include "flight/stream.h"
#include "fuzz.h"
#include "parser.h"

int parser_first(char **arguments, int count)
{
	static char word[64];

	if (draw(8) == 0) {
		snprintf(word, sizeof(word), "--check=%s", fuzz_file);
		arguments[count++] = word;
	}
	return count;
}

int parser_last(char **arguments, int count)
{
	(void)arguments;
	return count;
}

/* As ds325-stream begins, up to the device that is not there. */
bool parser_run(int count, char **arguments)
{
	static struct ds325_decoder usual, decoder;
	static const struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	static struct options options;
	struct checker checker;
	const char *wrong = usual.least_power ? NULL : ds325_decoder_init(&usual, &calibration);

	read_options(&options, count, arguments);
	if (!wrong && draw(200) == 0) /* a table is costly to make; decode.c makes more */
		wrong = ds325_decoder_init(&decoder, &options.calibration);
	if (wrong)
		die(BAD_INPUT, "%s", wrong);
	checker_open(&checker, &options, &usual);
	if (checker.frames)
		munmap((void *)checker.frames, checker.count * (size_t)DS325_FRAME_BYTES);
	free(checker.ranges);
	return options.check;
}

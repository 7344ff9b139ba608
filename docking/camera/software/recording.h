/* SPDX-License-Identifier: MIT */
/* Makes frames, writes them to files and reads them: FILE, FILE.truth, FILE.range (docs/docking/emulator.md). */
#ifndef EMULATOR_RECORDING_H
#define EMULATOR_RECORDING_H

#include <stdbool.h>

#include "frames.h"
#include "options.h"

/* Makes `options->frames` frames in memory, with Z16 beside them if that is the format. Dies with a line that says why.
 */
void recording_render(const struct options *options, const struct lens *lens, struct frames *frames,
		      struct truth *truths);
/* Makes frames one by one and writes the three files; memory does not grow with their number. */
void recording_write(const struct options *options, const struct lens *lens);
/* Reads a written file into the ring. */
void recording_replay(const struct options *options, struct frames *frames);
/* Writes the truth about a ring to a file of its own, in the format of FILE.truth. */
void recording_truth(const struct options *options, const struct frames *frames, const struct truth *truths,
		     const char *path);

#endif

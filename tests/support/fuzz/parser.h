/* SPDX-License-Identifier: MIT */
/* The program whose command line options.c makes: one parser_*.c each. */
#ifndef FUZZ_PARSER_H
#define FUZZ_PARSER_H

#include "common/command_line.h"
#include "ds325/format.h"

enum { PARSER_FRAME_BYTES = DS325_FRAME_BYTES };

extern char fuzz_file[]; /* the name of the file that options name */
/* Words that come before and after those drawn; return the new count. */
int parser_first(char **arguments, int count);
int parser_last(char **arguments, int count);
/* Reads them, and the files that they name; true if there was a file. */
bool parser_run(int count, char **arguments);

#endif

/* SPDX-License-Identifier: MIT */
/*
 * What the ground does and when. A script has a line a step, "NS VERB ARGUMENTS", in the order of their times:
 *
 *   NS send HEX            octets, as they stand
 *   NS close | open        the link
 *   NS write PATH TEXT     a line of text into a FIFO, as the software camera's --control
 *   NS signal NAME NUMBER  to all programs of that name
 *   NS clock NS            the real-time clock, so much forwards (or, below 0, back)
 *   NS fill PATH           a file as large as its disk takes
 *   NS free PATH           deletes it
 *   NS flip PATH NAME C:B  bit B of copy C (0, 1) of the state in a program's memory, which its file holds too; or several
 *   NS lose SHARE          of 100 packets of files so many, both ways
 *   NS stranger comes | goes  one who floods the flight program's port with what is not for it
 *   NS kernel panic | hang the kernel ends; it is logged as done before
 *   NS end                 the last line
 */
#ifndef GROUND_SCRIPT_H
#define GROUND_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

enum verb { SEND, CLOSE, OPEN, WRITE, SIGNAL, CLOCK, FILL, FREE, FLIP, LOSE, STRANGER, KERNEL, END };
enum { STEPS_MOST = 4096, SCRIPT_MOST = 4 << 20 };

struct step {
	int64_t at_ns;
	enum verb verb;
	const char *word, *text; /* the path or name; what stands after it */
	int64_t number;
	uint8_t *octets; /* of SEND */
	size_t bytes;
};

/* Reads a script; dies with the number of the line that is wrong. Returns the number of steps, which point into `held`. */
size_t script_read(const char *path, struct step *steps, char **held);

/* What a log says that a reset has cut short; half a line at its end is made zeros. */
struct begun {
	bool ended;
	off_t octets; /* of whole lines; what is behind them is zeros */
	size_t steps; /* done */
	unsigned long sent, received;
	int64_t start_ns; /* of the machine's clock, when the link came up first */
};
/* False: there is nothing yet to go on with. */
bool log_begun(const char *path, struct begun *begun);
/* Opens it to go on with it. */
FILE *log_kept(const char *path, off_t at);
/* What it holds outlives a reset. */
void log_sync(FILE *log);
void log_began(const char *path, int64_t start_ns);

/* Does what is not on the link; NULL, or why it could not. */
const char *fault_do(const struct step *step);
/* The process that entry of /proc is, where it runs a program of this name; else 0. */
pid_t process_named(const char *entry, const char *name);
/* `text`: "NAME C:B C:B..." */
const char *flip(const char *path, const char *text);

#endif

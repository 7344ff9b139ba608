/* SPDX-License-Identifier: MIT */
/*
 * What the fuzzers of parsers share: `FUZZER SEED COUNT` makes COUNT inputs and says how far they got. Inputs run in
 * children, some hundred in each, so that what a program leaves open when it dies of bad input is gone with the child.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stddef.h>

/* Below `below`, at least 1; the same for the same seed and input. */
uint32_t draw(uint32_t below);
/* Some bytes changed, put in, taken out or repeated; returns the new length, at most `room`. */
size_t mutate(uint8_t *bytes, size_t length, size_t room);
/* A number as text, near one of two limits, or odd. */
void draw_number(char *text, size_t room, double least, double most);
/* Ends the run with a line on the input that did it. */
void __attribute__((noreturn, format(printf, 1, 2))) broken(const char *format, ...);
/* An input reached this; named in the result. */
void reached(int what);

/* Given by each fuzzer: one input, and what reached() counts, by name; the last is NULL. */
void one_input(void);
extern const char *const reaches[];
/* Once in each child, before its inputs. */
void prepare(void);

#endif

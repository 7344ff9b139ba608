// SPDX-License-Identifier: MIT
/* Programs that are one main(): the probe, which is stopped by a file that cannot be made, and ds325-pose. */
#define main program_main
#include PARSER_SOURCE
#undef main

#include "fuzz.h"
#include "parser.h"

int parser_first(char **arguments, int count)
{
	static char *const families[] = { "wakeup", "loop", "list", "mutex", "--help", "nonsense" };

	if (program.bare)
		arguments[count++] = families[draw(40) ? draw(2) : draw(6)];
	return count;
}

int parser_last(char **arguments, int count)
{
	if (program.bare)
		arguments[count++] = "out=/nowhere/result";
	else if (draw(10))
		arguments[count++] = fuzz_file;
	return count;
}

bool parser_run(int count, char **arguments)
{
	if (program_main(count, arguments))
		__builtin_trap();
	return !program.bare;
}

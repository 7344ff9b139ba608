// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

enum { A_CHILD = 400, COUNTERS = 16 };

static uint64_t state, input;
static uint64_t *counters; /* shared with the children */
static int complaints;

uint32_t draw(uint32_t below)
{
	uint64_t z = state += 0x9e3779b97f4a7c15; /* SplitMix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (uint32_t)((z ^ z >> 31) % below);
}

size_t mutate(uint8_t *bytes, size_t length, size_t room)
{
	for (uint32_t n = draw(4); n && length; n--) {
		size_t at = draw((uint32_t)length), part = draw((uint32_t)(length - at) + 1);

		switch (draw(5)) {
		case 0:
			bytes[at] ^= (uint8_t)(1u << draw(8));
			break;
		case 1:
			bytes[at] = (uint8_t)draw(256);
			break;
		case 2: /* taken out */
			memmove(bytes + at, bytes + at + part, length - at - part);
			length -= part;
			break;
		case 3: /* repeated */
			part = part < room - length ? part : room - length;
			memmove(bytes + at + part, bytes + at, length - at);
			length += part;
			break;
		default:
			bytes[at] = (uint8_t)(uint32_t[]){ 0, 255, 127, 128 }[draw(4)];
		}
	}
	return length;
}

void draw_number(char *text, size_t room, double least, double most)
{
	static const char *const odd[] = { "nan",
					   "inf",
					   "-",
					   "",
					   "1e999",
					   "0x10",
					   " 7",
					   "7 ",
					   "--1",
					   "1e-400",
					   "+1",
					   "99999999999999999999",
					   "-9223372036854775808",
					   "9223372036854775807" };
	double near = draw(2) ? least : most;

	switch (draw(5)) {
	case 0:
		snprintf(text, room, "%s", odd[draw(sizeof(odd) / sizeof(*odd))]);
		break;
	case 1:
		snprintf(text, room, "%.0f", near + draw(3) - 1);
		break;
	case 2:
		snprintf(text, room, "%.17g", near);
		break;
	case 3:
		snprintf(text, room, "%.0f", least + (most - least) * draw(1000) / 1000);
		break;
	default:
		snprintf(text, room, "%u", draw(100));
	}
}

void broken(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	dprintf(complaints, "input %llu: ", (unsigned long long)input);
	vdprintf(complaints, format, args);
	dprintf(complaints, "\n");
	va_end(args);
	abort();
}

void reached(int what)
{
	counters[what]++;
}

static void child(uint64_t seed, uint64_t first, uint64_t end)
{
	prepare();
	for (input = first; input < end; input++) {
		state = seed << 40 ^ input;
		one_input();
	}
}

int main(int argc, char **argv)
{
	uint64_t seed = argc == 3 ? strtoull(argv[1], NULL, 10) : 0,
		 count = argc == 3 ? strtoull(argv[2], NULL, 10) : 0;

	counters = mmap(NULL, COUNTERS * sizeof(*counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	complaints = dup(STDERR_FILENO);
	if (!count || counters == MAP_FAILED || complaints < 0)
		return 2;
	for (uint64_t first = 0; first < count; first += A_CHILD) {
		uint64_t end = first + A_CHILD < count ? first + A_CHILD : count;
		pid_t pid = fork();
		int status;

		if (!pid) {
			child(seed, first, end);
			return 0;
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 2;
		if (status) {
			fprintf(stderr, "one of the inputs %llu to %llu of seed %llu ended it\n",
				(unsigned long long)first, (unsigned long long)end - 1, (unsigned long long)seed);
			return 1;
		}
	}
	printf("%llu inputs", (unsigned long long)count);
	for (int i = 0; reaches[i]; i++)
		printf(", %llu %s", (unsigned long long)counters[i], reaches[i]);
	printf("\n");
	return 0;
}

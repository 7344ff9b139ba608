// SPDX-License-Identifier: MIT
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "watch_spec.h"

static void set(struct spec *spec, const char *name, uint64_t to)
{
	const struct {
		const char *name;
		uint64_t *to;
	} values[] = {
		{ "ns", &spec->ns },
		{ "section_ns", &spec->section_ns },
		{ "arm_bits", &spec->arm_bits },
		{ "word_bytes", &spec->word_bytes },
		{ "kernel", &spec->kernel },
		{ "per_cpu", &spec->per_cpu },
		{ "current", &spec->current },
		{ "count", &spec->count },
		{ "count_in_task", &spec->count_in_task },
		{ "init_task", &spec->init_task },
		{ "comm_at", &spec->comm_at },
		{ "prio_at", &spec->prio_at },
		{ "at_leave", &spec->at_leave },
	};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (!strcmp(values[i].name, name))
			*values[i].to = to;
}

static bool parse(struct spec *spec, FILE *from)
{
	char line[128], word[32];
	uint64_t one, two;

	while (fgets(line, sizeof(line), from)) {
		if (sscanf(line, "entry %1s %" SCNx64, word, &one) == 2 && spec->n_watched < MOST_WATCHED)
			spec->watched[spec->n_watched++] = (struct watched){ one, word[0] };
		else if (sscanf(line, "window %" SCNu64 " %" SCNu64, &one, &two) == 2 && spec->n_windows < MOST_WINDOWS)
			spec->windows[spec->n_windows++] = (struct window){ one, two };
		else if (sscanf(line, "value %31s %" SCNx64, word, &one) == 2)
			set(spec, word, one);
		else
			return false;
	}
	return !ferror(from) && spec->n_watched && spec->ns && (spec->word_bytes == 4 || spec->word_bytes == 8);
}

bool spec_read(struct spec *spec, const char *path)
{
	FILE *from = fopen(path, "re");
	bool good;

	if (!from) {
		perror("watch: the spec cannot be opened");
		return false;
	}
	good = parse(spec, from);
	fclose(from);
	if (!good)
		fputs("watch: the spec is not to be understood\n", stderr);
	return good;
}

char spec_entry(const struct spec *spec, uint64_t address)
{
	size_t low = 0, high = spec->n_watched;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (spec->watched[middle].address == address)
			return spec->watched[middle].kind;
		if (spec->watched[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return 0;
}

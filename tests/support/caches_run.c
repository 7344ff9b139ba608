// SPDX-License-Identifier: MIT
/*
 * The model of caches, asked by a test. Arguments: CPUs, then the members of struct shape in their order. On stdin a line
 * an event, "KIND CPU NUMBER": f, r, w (fetch, read, write of a line), t (own time), h (halt), e (end of a round). On
 * stdout what each of the first three stalls, and in the end what was counted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "observers/caches.h"

int main(int argc, char **argv)
{
	struct shape shape;
	uint32_t *members = (uint32_t *)&shape;
	unsigned int n_cpus, cpu;
	uint64_t number;
	struct caches *caches;
	char kind;

	if (argc != 2 + (int)(sizeof(shape) / sizeof(*members)))
		return 2;
	n_cpus = (unsigned int)strtoul(argv[1], NULL, 10);
	for (int i = 2; i < argc; i++)
		members[i - 2] = (uint32_t)strtoul(argv[i], NULL, 10);
	caches = caches_new(&shape, n_cpus);
	if (!caches)
		return 1;
	while (scanf(" %c %u %" SCNu64, &kind, &cpu, &number) == 3) {
		if (kind == 't')
			caches_ran(caches, cpu, (int64_t)number);
		else if (kind == 'h')
			caches_halted(caches, cpu);
		else if (kind == 'e')
			caches_round(caches, (int64_t)number);
		else
			printf("%" PRId64 "\n", kind == 'f' ?
							caches_fetch(caches, cpu, (uint32_t)number) :
							caches_access(caches, cpu, (uint32_t)number, kind == 'w'));
	}
	for (cpu = 0; cpu < n_cpus; cpu++) {
		const struct counts *counts = caches_counts(caches, cpu);

		printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		       counts->l1i_misses, counts->l1i_dram, counts->l1d_misses, counts->l1d_dram, counts->prefetched,
		       counts->stalled_ticks, counts->waited_ticks);
	}
	printf("%" PRIu64 "\n", caches_dram_lines(caches));
	return 0;
}

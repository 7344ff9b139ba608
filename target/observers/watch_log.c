// SPDX-License-Identifier: MIT
#include <stdlib.h>
#include <unistd.h>

#include "watch.h"
#include "watch_log.h"

enum { MOST_RECORDS = 32 << 20 }; /* half a gigabyte: whoever made the record may have made it long */

struct record {
	uint64_t when; /* ns, and the kind in the highest byte */
	uint64_t word;
};

static void fail(void)
{
	perror("watch: the log cannot be written");
	_exit(1);
}

bool log_open(struct log *log, const char *path)
{
	*log = (struct log){ .file = fopen(path, "we") };
	if (!log->file)
		perror("watch: the log cannot be opened");
	return log->file;
}

static void write_record(struct log *log, char kind, uint64_t ns, uint64_t word)
{
	struct record record = { (uint64_t)(unsigned char)kind << 56 | (ns & (UINT64_MAX >> 8)), word };

	if (++log->written > MOST_RECORDS) {
		fputs("watch: the run, or a sample to look closer at, is too long to be watched\n", stderr);
		_exit(1);
	}
	if (fwrite(&record, sizeof(record), 1, log->file) != 1)
		fail();
}

void log_put(struct log *log, unsigned int at, char kind, uint64_t ns, uint64_t word)
{
	if (at != log->at)
		write_record(log, TURN, ns, at);
	log->at = at;
	write_record(log, kind, ns, word);
}

void log_close(struct log *log)
{
	if (fclose(log->file))
		fail();
}

// SPDX-License-Identifier: MIT
#include "log.h"

void log_add(struct log *log, const struct log_entry *entry)
{
	switch (entry->outcome) {
	case SENT:
		log->sent++;
		break;
	case LOST_NO_URB:
		log->lost++;
		break;
	case DROPPED:
		log->dropped++;
		break;
	case CUT:
		log->cut++;
		break;
	}
	if (entry->outcome == SENT && entry->fault != FAULT_LATE && entry->begun_ns - entry->due_ns > log->late_most_ns)
		log->late_most_ns = entry->begun_ns - entry->due_ns;
	if (log->entries && log->kept < LOG_ENTRIES)
		log->entries[log->kept++] = *entry;
}

int log_write(const struct log *log, FILE *out)
{
	static const char *const outcomes[] = { "sent", "lost", "dropped", "cut" };

	fputs("# sequence frame fault outcome due_ns begun_ns sent_ns\n", out);
	for (uint64_t i = 0; i < log->kept; i++) {
		const struct log_entry *e = log->entries + i;

		fprintf(out, "%llu %u %s %s %llu %llu %llu\n", (unsigned long long)e->sequence, e->frame,
			fault_names[e->fault], outcomes[e->outcome], (unsigned long long)e->due_ns,
			(unsigned long long)e->begun_ns, (unsigned long long)e->sent_ns);
	}
	return ferror(out) ? -1 : 0;
}

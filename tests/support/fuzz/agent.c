// SPDX-License-Identifier: MIT
/*
 * rtqual-agent's command line, the directory of QEMU's fw_cfg device that it looks a job up in, and the frames it sends.
 * What must hold: it ends with an exit code of its own and a line that says why; what it prints of a job is the job;
 * what it sends is a frame with the length and the sum of what it was given. No program is started, no priority is
 * changed, and nothing sleeps.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/crc32.h"
#include "fuzz.h"

#define main agent_main
#define fork() (-1)
#define clock_nanosleep(clock, flags, wanted, left) ((void)(wanted), 0)
#define sched_setscheduler(pid, policy, param) ((void)(pid), (void)(param), draw(4) ? 0 : -1)
#include "agent/agent.c"
#undef main
#undef fork

enum { WORDS = 7, WORD_ROOM = 300, ITEMS = 40, CONTENT = 5000, DIE = 125, USAGE = 2 };
enum { DONE, REFUSED, USAGES, STARTED, JOBS, FRAMES };

const char *const reaches[] = {
	"done", "refused", "answered by the usage", "programs to start", "jobs", "frames", NULL
};

static jmp_buf ended;
static int said, printed, given; /* standard error and output; what is to be sent */
static char frame_path[32];
static uint8_t directory[4 + ITEMS * 64], content[CONTENT], sending[CONTENT];
static size_t directory_bytes, content_bytes, sending_bytes, at;
static bool in_directory, whole_job;

void __attribute__((noreturn)) __wrap_exit(int code);
void __wrap_exit(int code)
{
	longjmp(ended, code + 1);
}

void machine_fw_select(uint16_t item)
{
	in_directory = item == FW_DIRECTORY;
	at = 0;
}

uint8_t machine_fw_byte(void) /* as QEMU's: zeros behind the end */
{
	const uint8_t *bytes = in_directory ? directory : content;
	size_t length = in_directory ? directory_bytes : content_bytes;

	return at < length ? bytes[at++] : 0;
}

void machine_pause(void)
{
}

uint64_t machine_now_ns(void)
{
	return (uint64_t)draw(UINT32_MAX) << 32;
}

void machine_leave(int code)
{
	longjmp(ended, (code & 127) + 1);
}

void prepare(void)
{
	said = memfd_create("said", 0);
	printed = memfd_create("printed", 0);
	given = memfd_create("given", 0);
	if (said < 0 || printed < 0 || given < 0 || dup2(said, 2) < 0 || dup2(printed, 1) < 0 || dup2(given, 0) < 0)
		abort();
	snprintf(frame_path, sizeof(frame_path), "/proc/self/fd/%d", memfd_create("frame", 0));
}

static void put_be(uint8_t *bytes, size_t count, uint32_t value)
{
	while (count--) {
		bytes[count] = (uint8_t)value;
		value >>= 8;
	}
}

/* A directory of items, the job among them or not, sometimes spoiled; it ends soon, as the host's does. */
static void make_directory(void)
{
	uint32_t items = draw(ITEMS), the_job = draw(ITEMS + 10);

	content_bytes = draw(CONTENT);
	for (size_t i = 0; i < content_bytes; i++)
		content[i] = (uint8_t)draw(256);
	memset(directory, 0, sizeof(directory));
	put_be(directory, 4, items);
	for (uint32_t i = 0; i < items; i++) {
		uint8_t *item = directory + 4 + 64 * i;

		put_be(item, 4, (uint32_t)content_bytes);
		put_be(item + 4, 2, 0x20 + i);
		snprintf((char *)item + 8, 56, "%s", i == the_job ? job_item : "opt/rtqual/other");
	}
	directory_bytes = 4 + 64 * items;
	whole_job = the_job < items;
	if (items && draw(4) == 0) {
		uint8_t *item = directory + 4 + 64 * draw(items);

		item[4 + draw(60)] ^=
			(uint8_t)(1 + draw(255)); /* its key, or its name; sizes stay what the host can have */
		whole_job = false;
	}
}

static int draw_words(char **words, char text[WORDS][WORD_ROOM])
{
	static const char *const verbs[] = { "run", "phase", "resolution", "times", "raise", "now",
					     "job", "send",  "exit",       "pause", "runs",  "" };
	/* How many words each takes besides; times looks at all processes, so it comes seldom. */
	static const int takes[] = { 4, 1, 0, 0, 1, 0, 0, 1, 1, 0, 3, 0 };
	uint32_t verb = draw(sizeof(verbs) / sizeof(*verbs));
	int count = 0, more;

	if (verb == 3 && draw(200))
		verb = 7;
	words[count++] = "rtqual-agent";
	more = draw(12) ? takes[verb] : (int)draw(WORDS - 1);
	snprintf(text[0], WORD_ROOM, "%s", verbs[verb]);
	for (int i = 1; i <= more; i++) {
		if (verb == 7 && draw(8))
			snprintf(text[i], WORD_ROOM, "%s", frame_path);
		else if (draw(3))
			draw_number(text[i], WORD_ROOM, 1, 99);
		else
			snprintf(text[i], WORD_ROOM, "%s",
				 (const char *[]){ "/nowhere", "%s%n", "\x1b[2J", "" }[draw(4)]);
	}
	for (int i = 0; i <= more; i++) {
		if (text[i][0] != '/' && draw(30) == 0) /* else it writes to other files */
			text[i][mutate((uint8_t *)text[i], strlen(text[i]), WORD_ROOM - 1)] = '\0';
		words[count++] = text[i];
	}
	if (draw(500) == 0)
		count = 1;
	words[count] = NULL;
	return count;
}

static size_t content_of(int fd, uint8_t *bytes, size_t room)
{
	ssize_t length = pread(fd, bytes, room, 0);

	return length < 0 ? 0 : (size_t)length;
}

static void check_frame(void)
{
	static uint8_t bytes[CONTENT + 100];
	char head[64];
	int fd = open(frame_path, O_RDONLY | O_CLOEXEC);
	size_t length = content_of(fd, bytes, sizeof(bytes));
	int line = snprintf(head, sizeof(head), "RTQUAL1 %zu %08x\n", sending_bytes,
			    crc32_add(0, sending, sending_bytes));

	close(fd);
	if (length < (size_t)line + sending_bytes || memcmp(bytes, head, (size_t)line) ||
	    memcmp(bytes + line, sending, sending_bytes))
		broken("another frame than what was given: %.60s", bytes);
	reached(FRAMES);
}

static void check(const char *verb, int code)
{
	static uint8_t line[8192], out[CONTENT + 1];
	size_t length = content_of(said, line, sizeof(line) - 1);

	line[length] = '\0';
	if (code == DIE && (strncmp((char *)line, "rtqual-agent: ", 14) || line[length - 1] != '\n'))
		broken("no line that says why: %s", line);
	if (code == USAGE && strcmp(verb, "exit") && strncmp((char *)line, "usage: ", 7))
		broken("no usage: %s", line);
	if (!code && length)
		broken("done, with a complaint: %s", line);
	reached(code == DIE ? REFUSED : code == USAGE ? USAGES : DONE);
	if (strstr((char *)line, "cannot fork"))
		reached(STARTED);
	if (!strcmp(verb, "job") && !code) {
		if (whole_job &&
		    (content_of(printed, out, sizeof(out)) != content_bytes || memcmp(out, content, content_bytes)))
			broken("another job than the one handed in");
		reached(JOBS);
	}
	if (!strcmp(verb, "send") && !code)
		check_frame();
}

void one_input(void)
{
	static char text[WORDS][WORD_ROOM];
	static char *words[WORDS + 2];
	int count, code, frame;

	memset(text, 0, sizeof(text));
	make_directory();
	sending_bytes = draw(CONTENT);
	for (size_t i = 0; i < sending_bytes; i++)
		sending[i] = (uint8_t)draw(256);
	frame = open(frame_path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (frame < 0 || close(frame) || ftruncate(said, 0) || ftruncate(printed, 0) || ftruncate(given, 0) ||
	    pwrite(given, sending, sending_bytes, 0) != (ssize_t)sending_bytes || lseek(0, 0, SEEK_SET) ||
	    lseek(2, 0, SEEK_SET) || lseek(1, 0, SEEK_SET))
		abort();
	count = draw_words(words, text);
	code = setjmp(ended);
	if (!code)
		code = agent_main(count, words) + 1;
	fflush(stdout);
	check(text[0][0] && words[1] ? words[1] : "", code - 1);
}

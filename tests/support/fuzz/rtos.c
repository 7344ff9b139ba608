// SPDX-License-Identifier: MIT
/*
 * The command line of the probe's images for RTOSes: how QEMU's fw_cfg device hands it in, its words, its options. The
 * sources are the images'; arguments.inc is that part of virt.h, cut out by the Makefile: the rest is ARM's.
 * What must hold: a family and options in range, or a line that says what was not understood and exit code 2.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "battery.h"
#include "common/options.h"
#include "fuzz.h"
#include "rtos.h"

#define battery_run(family, options, workspace) accepted(options)

enum { ITEMS = 30, LINE = 700 };
enum { READ, REFUSED };

const char *const reaches[] = { "read", "refused", NULL };

static uint8_t directory[4 + ITEMS * 64], line_given[LINE], byte;
static _Alignas(8) uint8_t registers[16];
static uint16_t chosen;
static size_t directory_bytes, line_bytes, at;
static char said[4 * LINE];
static size_t said_bytes;

static enum port_status accepted(const struct options *options)
{
	/* What was not given is 0: as many as the family says. */
	if (options->iterations > 10000000 || options->interval_ns > 60000000000 || options->cpu ||
	    (options->interval_ns && options->interval_ns < 1000))
		broken("out of range: %u iterations, %llu ns, CPU %d", options->iterations,
		       (unsigned long long)options->interval_ns, options->cpu);
	return PORT_OK;
}

const struct family battery[] = { { .name = "wakeup" }, { .name = "loop" }, { 0 } };

#include "probe/rtos/run.c"

/* --- the device, as QEMU's: zeros behind the end -------------------------------------------------- */

enum { ARGUMENTS_MOST = 512, FW_DIRECTORY = 0x19 };
#define FW_CFG ((uintptr_t)registers)
static const char arguments_item[] = "opt/rtqual/arguments";

static const uint8_t *reg8(uintptr_t address)
{
	uint16_t key = (uint16_t)(registers[8] << 8 | registers[9]);
	const uint8_t *bytes = key == FW_DIRECTORY ? directory : line_given;
	size_t length = key == FW_DIRECTORY ? directory_bytes : line_bytes;

	if (address != FW_CFG)
		broken("another register is read");
	if (key != chosen) { /* what is chosen is read from its beginning */
		chosen = key;
		at = 0;
	}
	byte = at < length ? bytes[at++] : 0;
	return &byte;
}

#include "arguments.inc"

enum port_status port_write(const char *bytes, size_t count)
{
	if (said_bytes + count >= sizeof(said))
		broken("it says too much");
	memcpy(said + said_bytes, bytes, count);
	said_bytes += count;
	said[said_bytes] = '\0';
	return PORT_OK;
}

void prepare(void)
{
}

static void put_be(uint8_t *bytes, size_t count, uint32_t value)
{
	while (count--) {
		bytes[count] = (uint8_t)value;
		value >>= 8;
	}
}

static void make_directory(uint32_t items, uint32_t ours)
{
	memset(directory, 0, sizeof(directory));
	put_be(directory, 4, items);
	for (uint32_t i = 0; i < items; i++) {
		uint8_t *item = directory + 4 + 64 * i;

		put_be(item, 4, (uint32_t)line_bytes);
		put_be(item + 4, 2, 0x20 + i);
		snprintf((char *)item + 8, 56, "%s", i == ours ? arguments_item : "opt/rtqual/other");
	}
	directory_bytes = 4 + 64 * items;
	memset(registers, 255, sizeof(registers));
	chosen = UINT16_MAX;
}

/* The image reads its command line once, into memory that is zero then. */
static void forget(void)
{
	const char *words[1];

	memset(line_given, 0, sizeof(line_given));
	line_bytes = ARGUMENTS_MOST - 2;
	make_directory(1, 0);
	read_words(words, 1);
}

static void make_line(void)
{
	static const char *const families[] = { "wakeup", "loop", "list", "", "\x1b[2J", "wakeu" };
	char line[LINE], value[64];
	bool careful = draw(2);
	uint32_t words = draw(careful ? 6 : 16);
	size_t used = (size_t)snprintf(line, sizeof(line), "%s", families[draw(12) ? draw(2) : draw(6)]);

	for (; words && used + 100 < sizeof(line); words--) {
		const struct option *option = rows + draw(sizeof(rows) / sizeof(*rows) - 1);

		if (careful || draw(3))
			snprintf(value, sizeof(value), "%lld",
				 (long long)(option->range.whole.least +
					     (option->range.whole.most - option->range.whole.least) * draw(100) / 100));
		else
			draw_number(value, sizeof(value), (double)option->range.whole.least,
				    (double)option->range.whole.most);
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s%s%s%s",
					 careful || draw(20) ? " " : "  ", draw(3) ? "--" : "", option->name,
					 careful || draw(30) ? "=" : " ", value);
	}
	if (draw(20) == 0) {
		memset(line + used, 'x', sizeof(line) - used);
		used = sizeof(line);
	}
	if (!careful && draw(2))
		used = mutate((uint8_t *)line, used, sizeof(line));
	memcpy(line_given, line, used);
	line_bytes = used;
}

static void spoil_directory(void)
{
	uint8_t *item = directory + 4 + 64 * draw((uint32_t)(directory_bytes / 64));

	if (draw(40) == 0)
		put_be(item, 4, draw(UINT32_MAX));
	if (draw(20) == 0)
		item[8 + draw(56)] ^= (uint8_t)(1 + draw(255));
}

void one_input(void)
{
	const char *words[RTOS_WORDS_MOST];
	uint32_t items = 1 + draw(ITEMS - 1);
	int code;

	forget();
	make_line();
	make_directory(items, draw(items + (draw(10) == 0)));
	spoil_directory();
	said_bytes = 0;
	said[0] = '\0';
	code = rtos_run(words, read_words(words, RTOS_WORDS_MOST));
	if (code && (code != 2 || strncmp(said, "rtqual-probe: ", 14) || said[said_bytes - 1] != '\n'))
		broken("exit code %d, and no line that says why: %s", code, said);
	if (!code && said_bytes)
		broken("read, with a complaint: %s", said);
	reached(code ? REFUSED : READ);
}

/* SPDX-License-Identifier: MIT */
/*
 * QEMU's ARM board `virt`, as the ports for systems without files of their own need it: registers, and the words of the
 * command line from QEMU's fw_cfg device. Addresses are those of QEMU's hw/arm/virt.c.
 */
#ifndef RTQUAL_VIRT_H
#define RTQUAL_VIRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	FW_CFG = 0x09020000,
	FW_SIGNATURE = 0x00,
	FW_DIRECTORY = 0x19,

	ARGUMENTS_MOST = 512,
};

static const char arguments_item[] = "opt/rtqual/arguments";

static inline volatile uint32_t *reg32(uintptr_t address)
{
	return (volatile uint32_t *)address;
}

static inline volatile uint8_t *reg8(uintptr_t address)
{
	return (volatile uint8_t *)address;
}

/* fw_cfg's selector is big endian, its data come byte by byte (docs/specs/fw_cfg in QEMU). */
static inline void fw_select(uint16_t key)
{
	*(volatile uint16_t *)(FW_CFG + 8) = (uint16_t)(key << 8 | key >> 8);
}

static inline uint32_t fw_number(int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | *reg8(FW_CFG);
	return value;
}

/* Reads a NUL-terminated name of 56 bytes to its end. */
static inline bool fw_name_is(const char *wanted)
{
	bool same = true;
	size_t at = 0;

	for (int i = 0; i < 56; i++) {
		char byte = (char)*reg8(FW_CFG);

		same = same && byte == wanted[at];
		at += wanted[at] != '\0';
	}
	return same;
}

/* The command line, without an end; its length, 0 where there is none. */
static inline size_t read_arguments(char *line, size_t room)
{
	fw_select(FW_DIRECTORY);
	for (uint32_t entries = fw_number(4); entries; entries--) {
		uint32_t size = fw_number(4);
		uint16_t key = (uint16_t)fw_number(2);

		fw_number(2);
		if (!fw_name_is(arguments_item))
			continue;
		if (size >= room)
			return 0;
		fw_select(key);
		for (uint32_t i = 0; i < size; i++)
			line[i] = (char)*reg8(FW_CFG);
		return size;
	}
	return 0;
}

/* The words of the command line, at most `most` of them; they stay. */
static inline int read_words(const char **words, int most)
{
	static char line[ARGUMENTS_MOST];
	size_t length = read_arguments(line, sizeof(line) - 1);
	int count = 0;

	for (size_t i = 0; i < length; i++) {
		if (line[i] == ' ')
			line[i] = '\0';
		else if (i == 0 || line[i - 1] == '\0') {
			if (count == most)
				break;
			words[count++] = line + i;
		}
	}
	return count;
}

#endif

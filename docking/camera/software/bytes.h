/* SPDX-License-Identifier: MIT */
/* Numbers as bytes: USB's are little-endian, USB/IP's big-endian. */
#ifndef EMULATOR_BYTES_H
#define EMULATOR_BYTES_H

#include <stdint.h>

static inline void put_le16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

static inline void put_le32(uint8_t *at, uint32_t value)
{
	put_le16(at, value);
	put_le16(at + 2, value >> 16);
}

static inline uint32_t get_le16(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8;
}

static inline uint32_t get_le32(const uint8_t *at)
{
	return get_le16(at) | get_le16(at + 2) << 16;
}

static inline void put_be16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline void put_be32(uint8_t *at, uint32_t value)
{
	put_be16(at, value >> 16);
	put_be16(at + 2, value);
}

static inline uint32_t get_be16(const uint8_t *at)
{
	return (uint32_t)at[0] << 8 | at[1];
}

static inline uint32_t get_be32(const uint8_t *at)
{
	return get_be16(at) << 16 | get_be16(at + 2);
}

#endif

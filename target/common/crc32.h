/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* CRC-32 as in IEEE 802.3 and zlib, four bits at a time. Begin with a sum of 0 and add the pieces in order. */
#ifndef COMMON_CRC32_H
#define COMMON_CRC32_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stddef.h>
#include <stdint.h>
#endif

static inline uint32_t crc32_add(uint32_t crc, const void *data, size_t size)
{
	static const uint32_t nibbles[16] = {
		0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c,
	};
	const uint8_t *bytes = (const uint8_t *)data;

	crc = ~crc;
	for (size_t i = 0; i < size; i++) {
		crc = crc >> 4 ^ nibbles[(crc ^ bytes[i]) & 15];
		crc = crc >> 4 ^ nibbles[(crc ^ bytes[i] >> 4) & 15];
	}
	return ~crc;
}

#endif

// SPDX-License-Identifier: MIT
/* The Raspberry Pi's /dev/vcio for firmware.c, linked with --wrap: it answers FIRMWARE_ANSWERS to get_throttled. */
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_NUMBER = 77, TEXT = 6 };

int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int file, unsigned long request, ...);

int __wrap_open(const char *path, int flags, ...)
{
	(void)flags;
	return strcmp(path, "/dev/vcio") ? -1 : FILE_NUMBER;
}

int __wrap_ioctl(int file, unsigned long request, ...)
{
	const char *answer = getenv("FIRMWARE_ANSWERS");
	va_list arguments;
	uint32_t *message;

	va_start(arguments, request);
	message = va_arg(arguments, uint32_t *);
	va_end(arguments);
	if (file != FILE_NUMBER || request != 0xc0086400 || message[0] != 4 * (TEXT + 256 + 1) || message[1] ||
	    message[2] != 0x30080 || message[3] != 1024 || message[TEXT + 256])
		return -1;
	message[5] = !answer || strcmp((char *)&message[TEXT], "get_throttled now") != 0;
	if (answer)
		strcpy((char *)&message[TEXT], answer);
	return 0;
}

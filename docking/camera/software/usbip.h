/* SPDX-License-Identifier: MIT */
/* USB/IP's messages (Linux: Documentation/usb/usbip_protocol.rst), read and written without input or output.
 *
 * An URB is a transfer that the host has asked for. */
#ifndef EMULATOR_USBIP_H
#define EMULATOR_USBIP_H

#include <stdbool.h>
#include <stdint.h>

enum { USBIP_HEADER = 48, USBIP_DATA_MOST = 1 << 20, USBIP_OUT_MOST = 4096 };

enum usbip_command { USBIP_SUBMIT = 1, USBIP_UNLINK = 2 };

struct usbip_request {
	enum usbip_command command;
	uint32_t number;   /* the URB's */
	uint32_t endpoint; /* without the direction bit */
	bool in;
	uint32_t length;   /* bytes that the host sends (out) or accepts at most (in) */
	uint8_t setup[8];
	const uint8_t *data; /* `length` bytes, out only */
	uint32_t unlinked;   /* UNLINK: number of the URB to give up */
};

/* Reads one request at the start of `bytes`. Returns its size, 0 if more bytes are needed, or -EPROTO if it cannot be
 * answered and the connection has to end; *why says what was wrong. */
int usbip_parse(const uint8_t *bytes, uint32_t size, struct usbip_request *request, const char **why);
/* Writes the answer to an URB of which `length` bytes were taken or follow, and the answer to UNLINK. `status`: 0 or
 * -errno. */
void usbip_answer_submit(uint8_t header[USBIP_HEADER], uint32_t number, int status, uint32_t length);
void usbip_answer_unlink(uint8_t header[USBIP_HEADER], uint32_t number, int status);

#endif

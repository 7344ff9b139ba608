// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "bytes.h"
#include "usbip.h"

enum { ANSWER_SUBMIT = 3, ANSWER_UNLINK = 4, NO_PACKETS = 0xffffffff };

static int useless(const char **why, const char *text)
{
	*why = text;
	return -EPROTO;
}

int usbip_parse(const uint8_t *bytes, uint32_t size, struct usbip_request *request, const char **why)
{
	uint32_t direction, packets;

	if (size < USBIP_HEADER)
		return 0;
	memset(request, 0, sizeof(*request));
	request->command = get_be32(bytes);
	request->number = get_be32(bytes + 4);
	direction = get_be32(bytes + 12);
	request->endpoint = get_be32(bytes + 16);
	if (request->command == USBIP_UNLINK) {
		request->unlinked = get_be32(bytes + 20);
		return USBIP_HEADER;
	}
	if (request->command != USBIP_SUBMIT)
		return useless(why, "a command that is neither SUBMIT nor UNLINK");
	request->in = direction != 0;
	request->length = get_be32(bytes + 24);
	packets = get_be32(bytes + 32);
	memcpy(request->setup, bytes + 40, 8);
	if (direction > 1 || request->endpoint > 15)
		return useless(why, "an endpoint that USB does not have");
	if (packets && packets != NO_PACKETS)
		return useless(why, "an isochronous transfer, and the camera has bulk only");
	if (request->length > USBIP_DATA_MOST)
		return useless(why, "a transfer of more than a MiB");
	if (request->in)
		return USBIP_HEADER;
	if (request->length > USBIP_OUT_MOST)
		return useless(why, "more than 4096 bytes to the camera");
	if (size < USBIP_HEADER + request->length)
		return 0;
	request->data = bytes + USBIP_HEADER;
	return (int)(USBIP_HEADER + request->length);
}

static void answer(uint8_t header[USBIP_HEADER], uint32_t command, uint32_t number, int status)
{
	memset(header, 0, USBIP_HEADER);
	put_be32(header, command);
	put_be32(header + 4, number);
	put_be32(header + 20, (uint32_t)status);
}

void usbip_answer_submit(uint8_t header[USBIP_HEADER], uint32_t number, int status, uint32_t length)
{
	answer(header, ANSWER_SUBMIT, number, status);
	put_be32(header + 24, length);
}

void usbip_answer_unlink(uint8_t header[USBIP_HEADER], uint32_t number, int status)
{
	answer(header, ANSWER_UNLINK, number, status);
}

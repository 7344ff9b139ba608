// SPDX-License-Identifier: MIT
/* Sources: USB 2.0 and 3.1 chapter 9; USB Device Class Definition for Video Devices 1.1, chapter 3, with its payload
 * format "uncompressed", chapter 3. */
#include <stddef.h>
#include <string.h>

#include "ds325/format.h"
#include "bytes.h"
#include "descriptors.h"

enum {
	TYPE_DEVICE = 1,
	TYPE_CONFIGURATION = 2,
	TYPE_STRING = 3,
	TYPE_INTERFACE = 4,
	TYPE_ENDPOINT = 5,
	TYPE_QUALIFIER = 6,
	TYPE_ASSOCIATION = 11,
	TYPE_BOS = 15,
	TYPE_CAPABILITY = 16,
	TYPE_CLASS_INTERFACE = 0x24,
	TYPE_COMPANION = 48,

	CLASS_VIDEO = 14,
	CLASS_VENDOR = 255,

	LINK_POWER_MANAGEMENT = 1 << 1, /* USB 3 wants it of every device */

	CAMERA_TERMINAL = 1,
	OUTPUT_TERMINAL = 2,
};

const uint32_t frame_intervals[INTERVALS] = { 166666, 200000, 333333, 400000 };

const char *const wrong_names[WRONG_KINDS + 1] = {
	[WRONG_NOTHING] = "none",
	[WRONG_TRUNCATED] = "truncated",
	[WRONG_TOTAL] = "total-length",
	[WRONG_ZERO_LENGTH] = "zero-length",
	[WRONG_LENGTH] = "length",
	[WRONG_INTERVALS] = "intervals",
	[WRONG_INTERVAL] = "interval-0",
	[WRONG_SIZE] = "size",
	[WRONG_FORMAT] = "format",
	[WRONG_NO_FORMAT] = "no-format",
	[WRONG_NO_ENDPOINT] = "no-endpoint",
	[WRONG_ENDPOINT] = "endpoint",
	[WRONG_NO_UNIT] = "no-unit",
	[WRONG_LOOP] = "loop",
	[WRONG_CLASS] = "class",
};

struct writer {
	uint8_t *bytes;
	uint32_t size, room;
};

/* Adds a descriptor and fills in its length byte; returns where it begins. */
static uint8_t *add(struct writer *writer, const uint8_t *bytes, uint32_t size)
{
	uint8_t *at = writer->bytes + writer->size;

	if (size > writer->room - writer->size) /* the room is large enough for all descriptors here */
		__builtin_trap();
	memcpy(at, bytes, size);
	at[0] = (uint8_t)size;
	writer->size += size;
	return at;
}

#define ADD(writer, ...) add(writer, (const uint8_t[]){ 0, __VA_ARGS__ }, sizeof((const uint8_t[]){ 0, __VA_ARGS__ }))
#define LE16(value) (uint8_t)(value), (uint8_t)((value) >> 8)
#define LE32(value) LE16(value), LE16((uint32_t)(value) >> 16)

static const uint8_t yuyv[16] = { 'Y', 'U', 'Y', '2', 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71 };
static const uint8_t z16[16] = { 'Z', '1', '6', ' ', 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71 };
/* The real unit's GUID is not published; no known driver asks for it. */
static const uint8_t unit_guid[16] = { 'D', 'S', '3', '2', '5', ' ', 'e', 'm', 'u', 'l', 'a', 't', 'o', 'r', 0, 1 };

static void add_control_interface(struct writer *out, enum wrong wrong, uint8_t class)
{
	uint8_t *header, *unit;
	uint32_t start;

	ADD(out, TYPE_INTERFACE, 0, 0, 0, class, 1, 0, 2);
	start = out->size;
	header = ADD(out, TYPE_CLASS_INTERFACE, 1, LE16(0x0110), LE16(0), LE32(48000000), 1, 1);
	ADD(out, TYPE_CLASS_INTERFACE, 2, CAMERA_TERMINAL, LE16(0x0201), 0, 0, LE16(0), LE16(0), LE16(0), 3, 0, 0, 0);
	if (wrong != WRONG_NO_UNIT) {
		/* One input. The bitmap covers controls up to the selector's, and only the selector's is there. */
		unit = ADD(out, TYPE_CLASS_INTERFACE, 6, DS325_UNIT, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
			   1, CAMERA_TERMINAL, 1, 1 << (DS325_SELECTOR - 1), 0);
		memcpy(unit + 4, unit_guid, sizeof(unit_guid));
		if (wrong == WRONG_LOOP)
			unit[22] = DS325_UNIT;
	}
	ADD(out, TYPE_CLASS_INTERFACE, 3, OUTPUT_TERMINAL, LE16(0x0101), 0, DS325_UNIT, 0);
	put_le16(header + 5, out->size - start);
	if (wrong == WRONG_ZERO_LENGTH)
		header[0] = 0;
}

static void add_format(struct writer *out, enum wrong wrong, uint8_t index, const uint8_t guid[16], uint32_t width,
		       uint32_t height)
{
	uint32_t bytes = width * height * 2;
	uint8_t *at = ADD(out, TYPE_CLASS_INTERFACE, 4, index, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16, 1,
			  0, 0, 0, 0);

	memcpy(at + 5, guid, 16);
	if (wrong == WRONG_FORMAT)
		memset(at + 5, 0xee, 16);
	at = ADD(out, TYPE_CLASS_INTERFACE, 5, 1, 0, LE16(width), LE16(height), LE32(bytes * 8 * 25),
		 LE32(bytes * 8 * 60), LE32(bytes), LE32(frame_intervals[2]), INTERVALS, LE32(frame_intervals[0]),
		 LE32(frame_intervals[1]), LE32(frame_intervals[2]), LE32(frame_intervals[3]));
	switch (wrong) {
	case WRONG_LENGTH:
		at[0] = 255;
		break;
	case WRONG_INTERVALS:
		at[25] = 255;
		break;
	case WRONG_INTERVAL:
		memset(at + 21, 0, 4);
		memset(at + 26, 0, 4 * INTERVALS);
		break;
	case WRONG_SIZE:
		memset(at + 5, 0xff, 4);
		break;
	default:
		break;
	}
}

static void add_streaming_interface(struct writer *out, enum speed speed, enum wrong wrong, uint8_t class)
{
	uint32_t start;
	uint8_t *header, *endpoint;

	ADD(out, TYPE_INTERFACE, 1, 0, wrong == WRONG_NO_ENDPOINT ? 0 : 1, class, 2, 0, 0);
	start = out->size;
	header = ADD(out, TYPE_CLASS_INTERFACE, 1, wrong == WRONG_NO_FORMAT ? 0 : 2, LE16(0), DS325_ENDPOINT, 0,
		     OUTPUT_TERMINAL, 0, 0, 0, 1, 0, 0);
	if (wrong != WRONG_NO_FORMAT) {
		add_format(out, wrong, DS325_FORMAT_IQ, yuyv, DS325_RAW_WIDTH, DS325_RAW_HEIGHT);
		add_format(out, wrong, DS325_FORMAT_Z16, z16, DS325_WIDTH, DS325_HEIGHT);
	}
	put_le16(header + 4, out->size - start);
	if (wrong == WRONG_NO_ENDPOINT)
		return;
	endpoint = ADD(out, TYPE_ENDPOINT, DS325_ENDPOINT, 2, LE16(speed == SPEED_SUPER ? 1024 : 512), 0);
	if (wrong == WRONG_ENDPOINT) {
		endpoint[3] = 1;
		put_le16(endpoint + 4, 0);
		endpoint[6] = 1;
	}
	if (speed == SPEED_SUPER)
		ADD(out, TYPE_COMPANION, 15, 0, LE16(0));
}

void descriptors_make(struct descriptors *all, enum speed speed, enum wrong wrong)
{
	struct writer device = { all->device, 0, sizeof(all->device) };
	struct writer qualifier = { all->qualifier, 0, sizeof(all->qualifier) };
	struct writer bos = { all->bos, 0, sizeof(all->bos) };
	struct writer out = { all->configuration, 0, sizeof(all->configuration) };
	uint32_t usb = speed == SPEED_SUPER ? 0x0300 : 0x0200;
	uint8_t class = wrong == WRONG_CLASS ? CLASS_VENDOR : CLASS_VIDEO;

	/* Class 239, subclass 2, protocol 1: look at the interface association. SuperSpeed's endpoint 0 has 2^9 bytes. */
	ADD(&device, TYPE_DEVICE, LE16(usb), 239, 2, 1, speed == SPEED_SUPER ? 9 : 64, LE16(DS325_USB_VENDOR),
	    LE16(DS325_USB_PRODUCT), LE16(0x0100), 1, 2, 3, 1);
	ADD(&qualifier, TYPE_QUALIFIER, LE16(usb), 239, 2, 1, 64, 1, 0);
	ADD(&bos, TYPE_BOS, LE16(22), 2);
	ADD(&bos, TYPE_CAPABILITY, 2, LE32(LINK_POWER_MANAGEMENT));
	ADD(&bos, TYPE_CAPABILITY, 3, 0, LE16(0x000e), 1, 10, LE16(2047));

	ADD(&out, TYPE_CONFIGURATION, LE16(0), 2, 1, 0, 0x80, speed == SPEED_SUPER ? 62 : 250); /* 500 mA */
	ADD(&out, TYPE_ASSOCIATION, 0, 2, class, 3, 0, 2);
	add_control_interface(&out, wrong, class);
	add_streaming_interface(&out, speed, wrong, class);
	put_le16(all->configuration + 2, wrong == WRONG_TOTAL ? 4096 : out.size);
	if (wrong == WRONG_TRUNCATED) /* the total length stays unchanged */
		out.size -= 60;

	all->device_size = device.size;
	all->qualifier_size = speed == SPEED_HIGH ? qualifier.size : 0;
	all->bos_size = speed == SPEED_SUPER ? bos.size : 0;
	all->configuration_size = out.size;
}

uint32_t descriptors_string(unsigned int index, uint8_t out[256])
{
	static const char *const texts[] = { NULL, "SoftKinetic", "DepthSense 325 (emulated)", "0" };
	uint32_t size = 2;

	out[1] = TYPE_STRING;
	if (index == 0) {
		put_le16(out + 2, 0x0409); /* English */
		size = 4;
	} else if (index < sizeof(texts) / sizeof(texts[0])) {
		for (const char *c = texts[index]; *c; c++, size += 2)
			put_le16(out + size, (uint8_t)*c);
	} else {
		return 0;
	}
	out[0] = (uint8_t)size;
	return size;
}

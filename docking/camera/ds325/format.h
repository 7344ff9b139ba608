/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The frames of a SoftKinetic DS325 as they come over USB: what emulator, flight library and kernel modules agree on.
 *
 * A frame is announced as YUYV of 640 x 240. It holds 320 x 240 pixels of two signed 16-bit little-endian words, I and
 * Q, in rows from the top, pixels from the left. Eight pixels lie in 32 bytes: their eight words I, then their eight
 * words Q. docs/docking/emulator.md defines the words and the camera frame.
 */
#ifndef DS325_FORMAT_H
#define DS325_FORMAT_H

#define DS325_WIDTH 320
#define DS325_HEIGHT 240
#define DS325_PIXELS (DS325_WIDTH * DS325_HEIGHT)
#define DS325_BLOCK 8 /* pixels whose words I lie together, as do their words Q */
#define DS325_BLOCK_BYTES (DS325_BLOCK * 2 * 2)
#define DS325_FRAME_BYTES (DS325_PIXELS * 2 * 2)
#define DS325_RAW_WIDTH 640 /* as announced: YUYV, two bytes a pixel */
#define DS325_RAW_HEIGHT 240
#define DS325_Z16_BYTES (DS325_PIXELS * 2)

/* The lens: 74 x 58 degrees, a pinhole unless calibrated otherwise. In micropixels, for code without floating point. */
#define DS325_FX_UPX 212327171 /* 160 / tan(37 degrees) */
#define DS325_FY_UPX 216485731 /* 120 / tan(29 degrees) */
#define DS325_CX_UPX 159500000
#define DS325_CY_UPX 119500000

#define DS325_LIGHT_M_S 299792458
#define DS325_MODULATION_HZ 50000000 /* assumed: unambiguous below c / 2f = 2997.92 mm */
#define DS325_WORD_MOST 2047 /* a word of this size, of either sign, is clipped: the pixel is saturated */
#define DS325_CONFIDENCE_LEAST 10 /* counts of amplitude; the default threshold */
#define DS325_Z16_MOST 31999 /* mm */
#define DS325_Z16_SATURATED 32002

/* USB. The real camera's ids, from the list of USB ids (Debian's package usb.ids). */
#define DS325_USB_VENDOR 0x2113
#define DS325_USB_PRODUCT 0x0145
#define DS325_ENDPOINT 0x81 /* bulk IN, in interface 1 */
#define DS325_FORMAT_IQ 1 /* bFormatIndex in UVC's PROBE and COMMIT */
#define DS325_FORMAT_Z16 2
#define DS325_PAYLOAD_HEADER 2 /* bytes before a frame: UVC's shortest header */
#define DS325_UNIT 6 /* the extension unit, */
#define DS325_SELECTOR 2 /* its control, */
#define DS325_CONTROL_BYTES 7 /* and the control's length */

/* A stamped frame has this in place of its last block: its sequence number, and when its last bytes went to the host.
 */
#define DS325_STAMP_MAGIC 0x44533235u
struct ds325_stamp { /* little-endian */
	unsigned int magic;
	unsigned int sequence;
	unsigned long long sent_ns; /* CLOCK_MONOTONIC */
	unsigned int due_late_us; /* how long after its due time the transfer began */
	unsigned int reserved[3];
};

#endif

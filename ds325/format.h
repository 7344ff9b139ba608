/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The frames of a SoftKinetic DS325 as they come over USB: what emulator, flight library and kernel modules agree on.
 *
 * A frame says it is YUYV of 640 x 240, and is 320 x 240 pixels of two signed 16-bit little-endian words, I and Q, in
 * rows from the top, pixels from the left. Eight pixels lie in 32 bytes: their eight words I, then their eight words Q.
 * What the words mean, and the camera frame, stand in docs/emulator.md.
 */
#ifndef DS325_FORMAT_H
#define DS325_FORMAT_H

#define DS325_WIDTH 320
#define DS325_HEIGHT 240
#define DS325_PIXELS (DS325_WIDTH * DS325_HEIGHT)
#define DS325_BLOCK 8 /* pixels whose words of one kind lie together */
#define DS325_BLOCK_BYTES (DS325_BLOCK * 2 * 2)
#define DS325_FRAME_BYTES (DS325_PIXELS * 2 * 2)
#define DS325_RAW_WIDTH 640 /* as which it is announced: YUYV, two bytes a pixel */
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

/* A stamped frame ends in this instead of its last block: sequence number, and when its last bytes went to the host. */
#define DS325_STAMP_MAGIC 0x44533235u
struct ds325_stamp { /* little-endian */
	unsigned int magic;
	unsigned int sequence;
	unsigned long long sent_ns; /* CLOCK_MONOTONIC */
	unsigned int due_late_us; /* how much later than due the transfer began */
	unsigned int reserved[3];
};

#endif

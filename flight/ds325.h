/* SPDX-License-Identifier: MIT OR GPL-2.0 */
/* The frames of a SoftKinetic DS325 as they come over USB: what emulator, flight library and kernel modules agree on.
 *
 * A frame says it is YUYV of 640 x 240, and is 320 x 240 pixels of two signed 16-bit little-endian words, I and Q, in
 * rows from the top, pixels from the left. Eight pixels lie in 32 bytes: their eight words I, then their eight words Q.
 */
#ifndef DS325_H
#define DS325_H

#define DS325_WIDTH 320
#define DS325_HEIGHT 240
#define DS325_PIXELS (DS325_WIDTH * DS325_HEIGHT)
#define DS325_BLOCK 8 /* pixels whose words of one kind lie together */
#define DS325_BLOCK_BYTES (DS325_BLOCK * 2 * 2)
#define DS325_FRAME_BYTES (DS325_PIXELS * 2 * 2)
#define DS325_RAW_WIDTH 640 /* as which it is announced: YUYV, two bytes a pixel */
#define DS325_RAW_HEIGHT 240

#endif

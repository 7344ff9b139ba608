// SPDX-License-Identifier: MIT
#include <math.h>
#include <string.h>

#include "bytes.h"
#include "frames.h"

static int clipped(int word)
{
	return word > DS325_WORD_MOST ? DS325_WORD_MOST : word < -DS325_WORD_MOST ? -DS325_WORD_MOST : word;
}

static void scale(uint8_t *out, const uint8_t *in, unsigned int gain)
{
	for (uint32_t at = 0; at < DS325_FRAME_BYTES; at += 2) {
		int word = (int16_t)get_le16(in + at) * (int)gain;

		put_le16(out + at, (uint32_t)clipped((word + (word < 0 ? -50 : 50)) / 100));
	}
}

static uint32_t depth_mm(int i, int q, unsigned int confidence, double mm_per_radian, double z_share)
{
	double phase;

	if (i >= DS325_WORD_MOST || i <= -DS325_WORD_MOST || q >= DS325_WORD_MOST || q <= -DS325_WORD_MOST)
		return DS325_Z16_SATURATED;
	if (i * i + q * q < (int)(confidence * confidence) || (!i && !q))
		return 0;
	phase = atan2(q, i);
	if (phase < 0)
		phase += 2 * M_PI;
	return (uint32_t)(phase * mm_per_radian * z_share + 0.5);
}

void frames_to_z16(uint8_t *out, const uint8_t *in, const struct lens *lens, unsigned int confidence,
		   double modulation_hz)
{
	double mm_per_radian = DS325_LIGHT_M_S / (4 * M_PI * modulation_hz) * 1000;

	for (uint32_t first = 0; first < DS325_PIXELS; first += DS325_BLOCK) {
		const uint8_t *block = in + first / DS325_BLOCK * DS325_BLOCK_BYTES;
		int words[2 * DS325_BLOCK]; /* read before `out`, which may be in the same place, is written */

		for (int word = 0; word < 2 * DS325_BLOCK; word++)
			words[word] = (int16_t)get_le16(block + 2 * word);
		for (uint32_t n = 0; n < DS325_BLOCK; n++)
			put_le16(out + 2 * (first + n), depth_mm(words[n], words[DS325_BLOCK + n], confidence,
								 mm_per_radian, lens->directions[first + n].z));
	}
}

const uint8_t *frames_get(const struct frames *frames, uint64_t sequence, unsigned int format, unsigned int gain,
			  unsigned int confidence, uint64_t now_ns)
{
	uint64_t number = sequence % frames->count;
	const uint8_t *frame;

	if (!frames->iq && !frames->live && format != DS325_FORMAT_Z16)
		return memset(frames->scratch, 0, DS325_FRAME_BYTES);
	if (format == DS325_FORMAT_Z16 && frames->z16 &&
	    (!frames->iq || (gain == 100 && confidence == frames->confidence)))
		return frames->z16 + number * DS325_Z16_BYTES;
	frame = frames->live ? live_frame(frames->live, sequence, now_ns) : frames->iq + number * DS325_FRAME_BYTES;
	if (gain != 100) {
		scale(frames->scratch, frame, gain);
		frame = frames->scratch;
	}
	if (format == DS325_FORMAT_Z16) {
		frames_to_z16(frames->scratch, frame, frames->lens, confidence, frames->modulation_hz);
		frame = frames->scratch;
	}
	return frame;
}

// SPDX-License-Identifier: MIT
/* exact METHOD FIRST COUNT DEPTH CONFIDENCE OFFSET_UM K1_PPM: the hash of these frames of exact.h, decoded here. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "exact.h"

int main(int argc, char **argv)
{
	static uint8_t raw[DS325_FRAME_BYTES];
	static uint16_t ranges[DS325_PIXELS];
	static struct ds325_decoder decoder;
	struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	const struct ds325_method *method = argc == 8 ? ds325_method(argv[1]) : NULL;
	uint64_t hash = EXACT_HASH;

	if (!method)
		return 2;
	calibration.geometry = atoi(argv[4]) ? DS325_DEPTH : DS325_RADIAL;
	calibration.confidence = (uint32_t)atoi(argv[5]);
	calibration.offset_um = atoi(argv[6]);
	calibration.k1_ppm = atoi(argv[7]);
	if (ds325_decoder_init(&decoder, &calibration))
		return 2;
	for (uint64_t one = strtoull(argv[2], NULL, 10), left = strtoull(argv[3], NULL, 10); left; left--, one++) {
		exact_frame(one, raw);
		if (!ds325_decode(method, &decoder, raw, sizeof(raw), ranges))
			return 3;
		hash = exact_hash(hash, ranges);
	}
	printf("%016" PRIx64 "\n", hash);
	return 0;
}

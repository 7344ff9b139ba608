// SPDX-License-Identifier: MIT
/* flight_frames FILE FRAMES METHOD [OUT]: FRAMES frames, those of FILE again and again, decoded by METHOD: "scalar",
 * "sse2", "avx2", "neon", "simd", "baseline" or "baseline:SWITCHES" (and "contour" among them). For counting
 * instructions of frame after frame, and for comparing OUT's bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "flight/baseline.h"

int main(int argc, char **argv)
{
	static struct ds325_decoder decoder;
	static struct ds325_baseline baseline;
	static uint16_t ranges[DS325_PIXELS];
	const struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	const struct ds325_method *method;
	FILE *file = argc >= 4 ? fopen(argv[1], "rb") : NULL, *out = argc > 4 ? fopen(argv[4], "wb") : NULL;
	size_t frames = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0, kept;
	bool as_published;
	uint8_t *raw;
	long bytes;

	if (!file || fseek(file, 0, SEEK_END))
		return 2;
	bytes = ftell(file);
	rewind(file);
	raw = bytes > 0 ? aligned_alloc(4096, ((size_t)bytes + 4095) / 4096 * 4096) : NULL;
	kept = (size_t)bytes / DS325_FRAME_BYTES;
	if (!raw || !kept || fread(raw, (size_t)bytes, 1, file) != 1 || ds325_decoder_init(&decoder, &calibration))
		return 2;
	as_published = !strncmp(argv[3], "baseline", 8);
	if (as_published) {
		baseline.switches = (unsigned int)ds325_baseline_switches(argv[3][8] ? argv[3] + 9 : "all");
		baseline.contour = getenv("DS325_CONTOUR");
		baseline.decoder = &decoder;
		baseline.method = method = ds325_method("scalar");
	} else {
		method = ds325_method(argv[3]);
	}
	if (!method || (int)baseline.switches < 0)
		return 2;
	for (size_t frame = 0; frame < frames; frame++) {
		const uint8_t *from = raw + frame % kept * DS325_FRAME_BYTES;

		if (as_published)
			ds325_baseline_frame(&baseline, from, ranges);
		else if (!ds325_decode(method, &decoder, from, DS325_FRAME_BYTES, ranges))
			return 3;
		if (out && fwrite(ranges, sizeof(ranges), 1, out) != 1)
			return 3;
	}
	return out && fclose(out) ? 3 : 0;
}

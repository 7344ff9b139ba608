// SPDX-License-Identifier: MIT
/* flight_decode random FRAMES SEED | all | slices | file FILE METHOD [key=value...]
 *
 * random: are all ways to decode the same on random frames and calibrations?
 * all: the same and near enough to the true angle on every pair of words that a camera can send, and edge words?
 * slices: in slices of any number of blocks at any address?
 * file: ranges, phases and amplitudes of a file's frames to standard output.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ds325/decode.h"

static struct ds325_decoder decoder;
static uint16_t expected[3][DS325_PIXELS], got[4][DS325_PIXELS];
static const struct ds325_planes expected_planes = { expected[0], expected[1], expected[2] };
static const struct ds325_planes got_planes = { got[0], got[1], got[2] };
static const char *const names[] = { "sse2", "avx2", "neon" };

static void __attribute__((noreturn)) die(const char *what, const char *method, size_t at)
{
	fprintf(stderr, "%s: %s, pixel %zu: expected %u %u %u, got %u %u %u, range alone %u\n", method, what, at,
		expected[0][at], expected[1][at], expected[2][at], got[0][at], got[1][at], got[2][at], got[3][at]);
	exit(1);
}

static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void calibrate(const struct ds325_calibration *calibration)
{
	const char *wrong = ds325_decoder_init(&decoder, calibration);

	if (wrong) {
		fprintf(stderr, "calibration: %s\n", wrong);
		exit(2);
	}
}

/* Every way against the reference, on one frame; how many ways there were. */
static unsigned int compare(const void *raw)
{
	unsigned int ways = 0;

	ds325_planes_scalar(&decoder, raw, 0, DS325_PIXELS / DS325_BLOCK, &expected_planes);
	for (size_t way = 0; way < sizeof(names) / sizeof(*names); way++) {
		const struct ds325_method *method = ds325_method(names[way]);

		if (!method)
			continue;
		ways++;
		memset(got, 0xa5, sizeof(got));
		method->planes(&decoder, raw, 0, DS325_PIXELS / DS325_BLOCK, &got_planes);
		if (!ds325_decode(method, &decoder, raw, DS325_FRAME_BYTES, got[3]))
			die("refused", names[way], 0);
		for (size_t at = 0; at < DS325_PIXELS; at++)
			if (got[0][at] != expected[0][at] || got[1][at] != expected[1][at] ||
			    got[2][at] != expected[2][at] || got[3][at] != expected[0][at])
				die("differs", names[way], at);
	}
	ds325_decode(ds325_method("scalar"), &decoder, raw, DS325_FRAME_BYTES, got[3]);
	if (memcmp(got[3], expected[0], sizeof(got[3])))
		die("differs", "scalar", 0);
	return ways;
}

static const int16_t edges[] = { 0, 1, -1, 9, 10, 2046, -2046, 2047, -2047, 2048, 32767, -32767, -32768, 16384 };
enum { EDGES = sizeof(edges) / sizeof(*edges) };

static void fill(int16_t *words, uint64_t *state)
{
	unsigned int bits = (unsigned int)(next(state) % 16); /* every size of word, in half of the frames 12 bits */
	bool narrow = next(state) & 1;

	for (size_t at = 0; at < DS325_FRAME_BYTES / 2; at += 4) {
		uint64_t four = next(state);

		for (unsigned int one = 0; one < 4; one++, four >>= 16) {
			int16_t word = (int16_t)four;

			words[at + one] = narrow ? (int16_t)(word >> 4) : (int16_t)(word >> bits);
		}
		if ((four = next(state)) % 64 == 0)
			words[at + four / 64 % 4] = edges[four / 256 % EDGES];
	}
}

/* Patches of words of one size: dark ones, ones at the edge of it, and others; every patch has a few of another size. */
static void fill_patches(int16_t *words, uint64_t *state)
{
	size_t left = 0;
	int size = 0;

	for (size_t at = 0; at < DS325_FRAME_BYTES / 2; at++, left--) {
		const int sizes[] = { decoder.dark, decoder.dark + 1, decoder.dark / 2, DS325_WORD_MOST + 1 };
		uint64_t random = next(state);

		if (!left) {
			left = 1 + random / 4 % 2000;
			size = sizes[random % 4];
		}
		if (random % 512 == 0)
			size = sizes[random / 512 % 4];
		words[at] = (int16_t)(random / 4096 % 4 ? (int)(random >> 32) % (size + 1) : size);
		if (random >> 20 & 1)
			words[at] = (int16_t)-words[at];
	}
}

static void random_frames(unsigned long frames, uint64_t state)
{
	static int16_t words[DS325_FRAME_BYTES / 2];
	unsigned int ways = 0;

	for (unsigned long frame = 0; frame < frames; frame++) {
		if (frame % 25 == 0) {
			struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;

			calibration.modulation_hz = 5000000 + (uint32_t)(next(&state) % 195000001);
			calibration.confidence = 1 + (uint32_t)(next(&state) % (frame % 50 ? 20 : 2047));
			calibration.offset_um = (int32_t)(next(&state) % 2000001) - 1000000;
			calibration.geometry = next(&state) % 2 ? DS325_DEPTH : DS325_RADIAL;
			calibration.k1_ppm = frame ? (int32_t)(next(&state) % 200001) - 100000 : 0;
			calibrate(&calibration);
		}
		(frame % 3 ? fill : fill_patches)(words, &state);
		ways = compare(words);
	}
	printf("%lu frames the same in %u ways\n", frames, ways);
}

/* Pair number `pair` of all: sizes to beyond clipping in each quadrant, then all pairs of edge words. */
static bool pair_of(size_t pair, int16_t *i, int16_t *q)
{
	enum { SIDE = 2 * DS325_WORD_MOST + 3 };

	if (pair < (size_t)SIDE * SIDE) {
		*i = (int16_t)((int)(pair % SIDE) - SIDE / 2);
		*q = (int16_t)((int)(pair / SIDE) - SIDE / 2);
		return true;
	}
	pair -= (size_t)SIDE * SIDE;
	*i = edges[pair % EDGES];
	*q = edges[pair / EDGES % EDGES];
	return pair < (size_t)EDGES * EDGES;
}

static void all_words(void)
{
	struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	static int16_t words[DS325_FRAME_BYTES / 2];
	double worst = 0, worst_mm = 0, sum = 0, squares = 0, turn_mm = DS325_LIGHT_M_S * 500.0 / DS325_MODULATION_HZ;
	size_t checked = 0;
	bool more = true;

	calibration.confidence = 1;
	calibrate(&calibration);
	for (size_t first = 0; more; first += DS325_PIXELS) {
		for (size_t at = 0; at < DS325_PIXELS; at++) {
			size_t place = at / DS325_BLOCK * 2 * DS325_BLOCK + at % DS325_BLOCK;

			more = pair_of(first + at, &words[place], &words[place + DS325_BLOCK]);
		}
		compare(words);
		for (size_t at = 0; at < DS325_PIXELS; at++) {
			int16_t i = ds325_word((const uint8_t *)words, at, 0),
				q = ds325_word((const uint8_t *)words, at, 1);
			double turn = atan2(q, i) / (2 * M_PI), error, mm;

			if (ds325_saturated(i, q) != (abs(i) >= 2047 || abs(q) >= 2047))
				die("saturation", "scalar", at);
			if (ds325_saturated(i, q) != (expected[0][at] == DS325_Z16_SATURATED))
				die("mark of saturation", "scalar", at);
			if (ds325_saturated(i, q))
				continue;
			if (expected[2][at] != (uint16_t)sqrt((double)i * i + (double)q * q))
				die("amplitude", "scalar", at);
			if (!i && !q) {
				if (expected[0][at] || expected[1][at])
					die("no light", "scalar", at);
				continue;
			}
			turn -= floor(turn);
			error = expected[1][at] / 65536.0 - turn;
			error -= round(error);
			mm = expected[0][at] / turn_mm - turn;
			mm = (mm - round(mm)) * turn_mm;
			worst = fmax(worst, fabs(error));
			worst_mm = fmax(worst_mm, fabs(mm));
			sum += error;
			squares += error * error;
			checked++;
		}
	}
	printf("pairs=%zu phase_error_max_mm=%.4f phase_error_mean_mm=%.4f phase_error_rms_mm=%.4f "
	       "range_error_max_mm=%.4f\n",
	       checked, worst * turn_mm, sum / (double)checked * turn_mm, sqrt(squares / (double)checked) * turn_mm,
	       worst_mm);
}

static void slices(void)
{
	struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	static uint8_t raw[DS325_FRAME_BYTES + 64];
	static int16_t words[DS325_FRAME_BYTES / 2];
	uint64_t state = 7;

	calibration.geometry = DS325_DEPTH; /* a scale that differs from pixel to pixel */
	calibrate(&calibration);
	fill(words, &state);
	for (size_t away = 0; away < 64; away += 7) {
		memcpy(raw + away, words, DS325_FRAME_BYTES);
		ds325_planes_scalar(&decoder, raw + away, 0, DS325_PIXELS / DS325_BLOCK, &expected_planes);
		for (size_t way = 0; way < sizeof(names) / sizeof(*names); way++) {
			const struct ds325_method *method = ds325_method(names[way]);

			if (!method)
				continue;
			memset(got, 0xa5, sizeof(got));
			for (size_t first = 0, count; first < DS325_PIXELS / DS325_BLOCK; first += count) {
				const uint8_t *from = raw + away + first * DS325_BLOCK_BYTES;

				count = next(&state) % 70;
				if (first + count > DS325_PIXELS / DS325_BLOCK)
					count = DS325_PIXELS / DS325_BLOCK - first;
				method->blocks(&decoder, from, first, count, got[3] + first * DS325_BLOCK);
				method->planes(&decoder, from, first, count, &got_planes);
			}
			for (size_t at = 0; at < DS325_PIXELS; at++)
				if (got[3][at] != expected[0][at] || got[2][at] != expected[2][at])
					die("slices", names[way], at);
		}
	}
	puts("slices the same");
}

static void set(struct ds325_calibration *calibration, const char *key, int32_t value)
{
	if (!strcmp(key, "geometry"))
		calibration->geometry = value ? DS325_DEPTH : DS325_RADIAL;
	else if (!strcmp(key, "modulation_hz"))
		calibration->modulation_hz = (uint32_t)value;
	else if (!strcmp(key, "confidence"))
		calibration->confidence = (uint32_t)value;
	else if (!strcmp(key, "offset_um"))
		calibration->offset_um = value;
	else if (!strcmp(key, "drift_um_per_k"))
		calibration->drift_um_per_k = value;
	else if (!strcmp(key, "temperature_mc"))
		calibration->temperature_mc = value;
	else if (!strcmp(key, "fx_upx"))
		calibration->fx_upx = value;
	else if (!strcmp(key, "k1_ppm"))
		calibration->k1_ppm = value;
	else if (!strcmp(key, "k2_ppm"))
		calibration->k2_ppm = value;
	else
		exit(2);
}

static void decode_file(int count, char **arguments)
{
	struct ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;
	const struct ds325_method *method = ds325_method(arguments[1]);
	static uint8_t raw[DS325_FRAME_BYTES + 1];
	FILE *file = fopen(arguments[0], "rb");
	size_t bytes;

	for (int one = 2; one < count; one++) {
		char *value = strchr(arguments[one], '=');

		*value = '\0';
		set(&calibration, arguments[one], (int32_t)strtol(value + 1, NULL, 10));
	}
	calibrate(&calibration);
	if (!file || !method)
		exit(2);
	while ((bytes = fread(raw, 1, DS325_FRAME_BYTES, file))) {
		uint16_t *exact = malloc(sizeof(got[3])); /* so that ASan sees what is written beyond */
		uint8_t *frame = malloc(bytes);
		bool good = ds325_decode(method, &decoder, memcpy(frame, raw, bytes), bytes, exact);

		if (!good) {
			fprintf(stderr, "frame of %zu bytes\n", bytes);
			exit(3);
		}
		method->planes(&decoder, frame, 0, DS325_PIXELS / DS325_BLOCK, &got_planes);
		fwrite(exact, sizeof(*exact), DS325_PIXELS, stdout);
		fwrite(got[1], sizeof(got[1]), 2, stdout);
		free(frame);
		free(exact);
	}
	fclose(file);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "random"))
		random_frames(strtoul(argv[2], NULL, 10), strtoull(argv[3], NULL, 10) * 2 + 1);
	else if (argc == 2 && !strcmp(argv[1], "all"))
		all_words();
	else if (argc == 2 && !strcmp(argv[1], "slices"))
		slices();
	else if (argc >= 4 && !strcmp(argv[1], "file"))
		decode_file(argc - 2, argv + 2);
	else
		return 2;
	return 0;
}

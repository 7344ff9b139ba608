// SPDX-License-Identifier: MIT
/*
 * Calibrations, frames and rings: a calibration is taken or refused with a reason; all ways to decode give the same
 * whatever the words are, in slices of any place; a ring's memory, which another process wrote, is refused or read
 * within its bounds.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ds325/decode.h"
#include "ds325/ring.h"
#include "fuzz.h"

enum { SLICE_MOST = 96, SLOTS = 2 };
enum { CALIBRATED, NOT_CALIBRATED, DECODED, RINGS, NO_RINGS, RING_FRAMES };

const char *const reaches[] = { "calibrations taken",   "refused", "slices decoded", "rings taken", "refused",
				"of their frames read", NULL };

static struct ds325_decoder decoder;
static int ring_file;
static struct ds325_ring_header *shared;

void prepare(void)
{
	size_t bytes = ds325_ring_bytes(SLOTS);

	ring_file = memfd_create("ring", 0);
	if (ring_file < 0 || ftruncate(ring_file, (off_t)bytes))
		abort();
	shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring_file, 0);
	if (shared == MAP_FAILED)
		abort();
}

static int32_t near(int32_t usual)
{
	switch (draw(5)) {
	case 0:
		return (int32_t)draw(UINT32_MAX);
	case 1:
		return (int32_t[]){ INT32_MIN, INT32_MAX, 0, -1 }[draw(4)];
	default:
		return (int32_t)(usual + (int64_t)usual * ((int32_t)draw(200) - 100) / 300);
	}
}

static void calibrate(void)
{
	const struct ds325_calibration usual = DS325_CALIBRATION_DEFAULT;
	struct ds325_calibration calibration = usual;
	int32_t *const fields[] = { &calibration.offset_um, &calibration.drift_um_per_k, &calibration.temperature_mc,
				    &calibration.fx_upx,    &calibration.fy_upx,         &calibration.cx_upx,
				    &calibration.cy_upx,    &calibration.k1_ppm,         &calibration.k2_ppm };
	bool kept = decoder.least_power && draw(100);
	const char *wrong;

	calibration.geometry = draw(2) ? DS325_RADIAL : DS325_DEPTH;
	calibration.k1_ppm = draw(2) ? (int32_t)draw(400000) - 200000 : 0;
	for (uint32_t n = draw(3); n; n--) {
		int32_t *field = fields[draw(sizeof(fields) / sizeof(*fields))];

		*field = near(*field);
	}
	if (draw(8) == 0)
		calibration.modulation_hz = (uint32_t)near(50000000);
	if (draw(8) == 0)
		calibration.confidence = draw(4000);
	/* A table is costly to make: mostly only the temperature follows. */
	wrong = kept ? ds325_decoder_set_temperature(&decoder, &calibration) :
		       ds325_decoder_init(&decoder, &calibration);
	reached(wrong ? NOT_CALIBRATED : CALIBRATED);
}

static void decode(void)
{
	static const char *const names[] = { "sse2", "avx2", "neon", "simd" };
	uint32_t count = 1 + draw(SLICE_MOST), first = draw(DS325_PIXELS / DS325_BLOCK - count + 1);
	size_t bytes = count * DS325_BLOCK_BYTES, pixels = count * DS325_BLOCK;
	uint16_t *expected = malloc(4 * pixels * sizeof(*expected)), *got = malloc(4 * pixels * sizeof(*got));
	uint8_t *raw = malloc(bytes);
	size_t last = first * (size_t)DS325_BLOCK;
	uint32_t kind = draw(4);

	if (!expected || !got || !raw)
		abort();
	for (size_t i = 0; i < bytes; i += 2) {
		int word = kind == 0 ? (int)draw(65536) : kind == 1 ? (int)draw(40) - 20 : (int)draw(4096) - 2048;

		if (kind == 3 && draw(4))
			word = (int[]){ 2047, -2047, 32767, -32768 }[draw(4)];
		raw[i] = (uint8_t)word;
		raw[i + 1] = (uint8_t)(word >> 8);
	}
	mutate(raw, bytes, bytes);
	for (int way = -1; way < 4; way++) {
		const struct ds325_method *method = ds325_method(way < 0 ? "scalar" : names[way]);
		uint16_t *to = way < 0 ? expected : got;
		/* Planes are whole frames: these begin so that the slice's pixels are those at `to`. */
		const struct ds325_planes planes = { to + pixels - last, to + 2 * pixels - last,
						     to + 3 * pixels - last };

		if (!method)
			continue;
		method->blocks(&decoder, raw, first, count, to);
		method->planes(&decoder, raw, first, count, &planes);
		if (way >= 0 && memcmp(expected, got, 4 * pixels * sizeof(*got)))
			broken("%s decodes otherwise than scalar", method->name);
		if (memcmp(to, to + pixels, pixels * sizeof(*to)))
			broken("%s: ranges alone are others than with amplitudes", method->name);
		if (ds325_decode(method, &decoder, raw, bytes, got))
			broken("a cut frame was decoded");
	}
	reached(DECODED);
	free(expected);
	free(got);
	free(raw);
}

static void read_ring(void)
{
	struct ds325_ring ring;
	struct ds325_ring_frame frame;
	uint32_t sum = 0;

	memset(shared, 0, sizeof(*shared));
	ds325_ring_make(shared, SLOTS, DS325_RING_RANGE_U16);
	if (draw(2))
		mutate((uint8_t *)shared, 48, 48);
	if (draw(20) == 0)
		shared->slots = 1u << draw(32);
	if (draw(4) == 0)
		shared->published = draw(2) ? UINT64_MAX - draw(4) : draw(1000);
	if (ds325_ring_map(&ring, ring_file)) {
		reached(NO_RINGS);
		return;
	}
	reached(RINGS);
	for (uint32_t n = draw(4); n; n--) {
		/* What a writer does, and what it must not do: the header changes while it is read. */
		if (draw(3))
			ds325_ring_publish(shared, ds325_ring_begin(shared));
		if (draw(4) == 0)
			mutate((uint8_t *)&shared->published, 40, 40);
		if (!ds325_ring_take(&ring, draw(2) ? DS325_RING_NEXT : DS325_RING_NEWEST, &frame))
			continue;
		for (uint32_t i = 0; i < DS325_PIXELS; i += 1000)
			sum += frame.ranges[i];
		sum += frame.ranges[DS325_PIXELS - 1];
		if (ds325_ring_kept(&ring, &frame))
			reached(RING_FRAMES);
	}
	ds325_ring_unmap(&ring);
	__asm__ volatile("" : : "r"(sum)); /* the reads are made */
}

void one_input(void)
{
	calibrate();
	if (decoder.least_power)
		decode();
	read_ring();
}

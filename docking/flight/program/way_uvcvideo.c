// SPDX-License-Identifier: MIT
/* By uvcvideo: raw frames in mapped buffers, decoded here. */
#include <string.h>

#include "way.h"
#include "world.h"

enum {
	REGISTER_EXPOSURE = 0x52, /* docs/docking/emulator.md */
	REGISTER_WRITE = 0x12,
};

struct uvcvideo {
	const char *device;
	struct ds325_capture capture;
	struct ds325_frame frame;
	struct ds325_calibration calibration;
	struct ds325_decoder decoder;
	const struct ds325_method *method;
	int32_t exposure;
};

static struct uvcvideo *the(void)
{
	static struct uvcvideo uvcvideo;

	return &uvcvideo;
}

static void ready(const char *device)
{
	struct uvcvideo *uvcvideo = the();

	if (strlen(device) >= sizeof(uvcvideo->capture.device))
		die(BAD_INPUT, "--device=%s is too long a name", device);
	uvcvideo->device = device;
	uvcvideo->calibration = (struct ds325_calibration)DS325_CALIBRATION_DEFAULT;
	uvcvideo->method = ds325_method("simd");
}

static bool calibrate(const int32_t parameter[PARAMETER_COUNT])
{
	struct uvcvideo *uvcvideo = the();

	uvcvideo->calibration.confidence = (uint32_t)parameter[PARAMETER_CONFIDENCE];
	uvcvideo->calibration.offset_um = parameter[PARAMETER_OFFSET_UM];
	uvcvideo->calibration.drift_um_per_k = parameter[PARAMETER_DRIFT_UM_PER_K];
	uvcvideo->calibration.temperature_mc = parameter[PARAMETER_TEMPERATURE_MC];
	return !ds325_decoder_init(&uvcvideo->decoder, &uvcvideo->calibration);
}

static bool set_exposure(struct uvcvideo *uvcvideo)
{
	uint8_t command[DS325_CONTROL_BYTES] = { REGISTER_WRITE, REGISTER_EXPOSURE, 0, (uint8_t)uvcvideo->exposure,
						 (uint8_t)(uvcvideo->exposure >> 8) };

	return uvcvideo->exposure < 0 || ds325_capture_command(&uvcvideo->capture, false, command);
}

static bool open_it(int32_t rate, int32_t exposure)
{
	struct uvcvideo *uvcvideo = the();
	struct ds325_capture *capture = &uvcvideo->capture;

	memset(capture, 0, sizeof(*capture));
	memcpy(capture->device, uvcvideo->device, strlen(uvcvideo->device) + 1);
	capture->io = DS325_MMAP;
	capture->buffers_wanted = 4;
	capture->rate = (uint32_t)rate;
	uvcvideo->exposure = exposure;
	if (!ds325_capture_open(capture))
		return false;
	if (set_exposure(uvcvideo))
		return true;
	ds325_capture_close(capture);
	return false;
}

static void close_it(void)
{
	ds325_capture_close(&the()->capture);
}

static enum ds325_event next(int timeout_ms, struct picture *picture)
{
	struct uvcvideo *uvcvideo = the();
	struct ds325_frame *frame = &uvcvideo->frame;
	const enum ds325_event event = ds325_capture_next(&uvcvideo->capture, timeout_ms, frame);

	if (event == DS325_BACK && !set_exposure(uvcvideo)) /* it has forgotten */
		return DS325_FAILED;
	if (event == DS325_FRAME)
		*picture = (struct picture){ frame->raw, DS325_FRAME_BYTES, frame->time_ns,
					     frame->stamped_ns ? frame->stamped_ns : frame->time_ns };
	return event;
}

static bool decode(struct picture *picture, const struct ds325_planes *planes)
{
	const struct uvcvideo *uvcvideo = the();

	uvcvideo->method->planes(&uvcvideo->decoder, picture->bytes, 0, DS325_PIXELS / DS325_BLOCK, planes);
	return true;
}

static bool release(void)
{
	return ds325_capture_release(&the()->capture, &the()->frame);
}

static void count(uint64_t *lost, uint32_t *refused)
{
	const struct ds325_capture *capture = &the()->capture;

	*lost = capture->lost + capture->lost_unseen + capture->lost_estimated + capture->refused;
	*refused = (uint32_t)capture->refused;
}

const struct way way_uvcvideo = {
	"/dev/video0", true, ready, calibrate, open_it, close_it, next, decode, release, count
};

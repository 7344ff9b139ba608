// SPDX-License-Identifier: MIT
#include <errno.h>
#include <string.h>

#include "bytes.h"
#include "camera.h"

/* Requests of USB 2.0 chapter 9.4 and UVC 1.1 chapter 4. */
enum {
	GET_STATUS = 0,
	CLEAR_FEATURE = 1,
	SET_FEATURE = 3,
	GET_DESCRIPTOR = 6,
	GET_CONFIGURATION = 8,
	SET_CONFIGURATION = 9,
	GET_INTERFACE = 10,
	SET_INTERFACE = 11,
	SET_SEL = 48,
	SET_ISOCH_DELAY = 49,

	SET_CUR = 0x01,
	GET_CUR = 0x81,
	GET_MIN,
	GET_MAX,
	GET_RES,
	GET_LEN,
	GET_INFO,
	GET_DEF,

	VS_PROBE = 1,
	VS_COMMIT = 2,
	VC_POWER_MODE = 1,
	VC_ERROR = 2,

	ERROR_RANGE = 4,
	ERROR_CONTROL = 6,
	ERROR_REQUEST = 7,
};

/* First byte of the unit's 7: what to do; then register and value, both 16-bit little-endian. */
enum { UNIT_STATUS = 0x86, UNIT_WRITE = 0x12, UNIT_READ = 0x92 };

static uint32_t format_bytes(unsigned int format)
{
	return format == DS325_FORMAT_Z16 ? DS325_Z16_BYTES : DS325_FRAME_BYTES;
}

/* Turns what the host may ask for into what the camera does. */
static void negotiate(uint8_t probe[PROBE_BYTES], const uint8_t *asked, uint32_t length)
{
	uint32_t interval = length >= 8 ? get_le32(asked + 4) : 0;
	unsigned int format = length >= 3 && asked[2] == DS325_FORMAT_Z16 ? DS325_FORMAT_Z16 : DS325_FORMAT_IQ;
	uint32_t nearest = frame_intervals[INTERVALS - 1];

	if (!interval)
		interval = frame_intervals[2];
	for (int i = INTERVALS - 1; i >= 0; i--)
		if (interval <= frame_intervals[i])
			nearest = frame_intervals[i];
	memset(probe, 0, PROBE_BYTES);
	put_le16(probe, length >= 2 ? get_le16(asked) : 0);
	probe[2] = (uint8_t)format;
	probe[3] = 1;
	put_le32(probe + 4, nearest);
	put_le16(probe + 16, 1); /* ms from the end of exposure to USB */
	put_le32(probe + 18, format_bytes(format));
	put_le32(probe + 22, format_bytes(format) + DS325_PAYLOAD_HEADER); /* one payload a frame */
	put_le32(probe + 26, 48000000);
	probe[30] = 3; /* frame id and end of frame are in the payload's header */
}

void camera_start(struct camera *camera, enum speed speed, enum wrong wrong, unsigned int confidence)
{
	memset(camera, 0, sizeof(*camera));
	descriptors_make(&camera->descriptors, speed, wrong);
	negotiate(camera->probe, NULL, 0);
	memcpy(camera->committed, camera->probe, PROBE_BYTES);
	camera->registers[REGISTER_CONFIDENCE] = (uint16_t)confidence;
	camera->registers[REGISTER_EXPOSURE] = 100;
}

static int answer(uint8_t *data, uint32_t length, const void *from, uint32_t size)
{
	if (!size)
		return -EPIPE;
	if (size > length)
		size = length;
	memcpy(data, from, size);
	return (int)size;
}

static int get_descriptor(const struct camera *camera, unsigned int type, unsigned int index, uint8_t *data,
			  uint32_t length)
{
	const struct descriptors *all = &camera->descriptors;
	uint8_t string[256];

	switch (type) {
	case 1:
		return answer(data, length, all->device, all->device_size);
	case 2:
		return index ? -EPIPE : answer(data, length, all->configuration, all->configuration_size);
	case 3:
		return answer(data, length, string, descriptors_string(index, string));
	case 6:
		return answer(data, length, all->qualifier, all->qualifier_size);
	case 15:
		return answer(data, length, all->bos, all->bos_size);
	default:
		return -EPIPE;
	}
}

static int standard_request(struct camera *camera, const uint8_t setup[8], uint8_t *data, uint32_t length)
{
	static const uint8_t zeros[2];
	uint32_t value = get_le16(setup + 2), index = get_le16(setup + 4);
	uint8_t halted[2] = { camera->halted, 0 };

	switch (setup[1]) {
	case GET_DESCRIPTOR:
		return get_descriptor(camera, value >> 8, value & 255, data, length);
	case GET_STATUS:
		return answer(data, length, index == DS325_ENDPOINT ? halted : zeros, 2);
	case GET_CONFIGURATION:
		return answer(data, length, &camera->configuration, 1);
	case GET_INTERFACE:
		return answer(data, length, zeros, 1);
	case SET_CONFIGURATION:
		camera->configuration = (uint8_t)value;
		camera->streaming = camera->halted = false;
		return value > 1 ? -EPIPE : 0;
	case SET_INTERFACE:
		camera->streaming = camera->streaming && index != 1;
		return value || index > 1 ? -EPIPE : 0;
	case CLEAR_FEATURE:
		/* A host ends a bulk stream by this, and goes on with it after a stall. */
		if (index == DS325_ENDPOINT && !value) {
			camera->streaming = camera->streaming && camera->halted;
			camera->halted = false;
		}
		return 0;
	case SET_FEATURE: /* power management and latencies: nothing to do */
	case SET_SEL:
	case SET_ISOCH_DELAY:
		return (int)length;
	default:
		return -EPIPE;
	}
}

static int refuse(struct camera *camera, uint8_t error)
{
	camera->error = error;
	return -EPIPE;
}

static int streaming_request(struct camera *camera, const uint8_t setup[8], uint8_t *data, uint32_t length)
{
	static const uint8_t info = 3; /* GET and SET */
	uint8_t selector = setup[3], size[2], other[PROBE_BYTES];

	if (selector != VS_PROBE && selector != VS_COMMIT)
		return refuse(camera, ERROR_CONTROL);
	switch (setup[1]) {
	case SET_CUR:
		if (length < 26) /* UVC 1.0's length, the shortest */
			return refuse(camera, ERROR_RANGE);
		negotiate(camera->probe, data, length);
		if (selector == VS_COMMIT) {
			memcpy(camera->committed, camera->probe, PROBE_BYTES);
			camera->streaming = true;
		}
		return (int)length;
	case GET_CUR:
		return answer(data, length, selector == VS_PROBE ? camera->probe : camera->committed, PROBE_BYTES);
	case GET_MIN:
	case GET_MAX:
	case GET_DEF:
		negotiate(other, camera->probe, 4);
		put_le32(other + 4, frame_intervals[setup[1] == GET_MIN ? 0 : setup[1] == GET_MAX ? INTERVALS - 1 : 2]);
		return answer(data, length, other, PROBE_BYTES);
	case GET_LEN:
		put_le16(size, PROBE_BYTES);
		return answer(data, length, size, 2);
	case GET_INFO:
		return answer(data, length, &info, 1);
	default:
		return refuse(camera, ERROR_REQUEST);
	}
}

static int unit_write(struct camera *camera, const uint8_t *data)
{
	uint32_t number = get_le16(data + 1), value = get_le16(data + 3);
	static const uint8_t rates[] = { 0, 25, 30, 50, 60 };
	bool good = true;

	if (data[0] != UNIT_WRITE)
		return 0;
	if (number == REGISTER_MODE)
		good = value <= 1;
	else if (number == REGISTER_CONFIDENCE)
		good = value <= DS325_WORD_MOST;
	else if (number == REGISTER_EXPOSURE)
		good = value <= 400;
	else if (number == REGISTER_RATE)
		good = value <= 60 && memchr(rates, (int)value, sizeof(rates));
	else
		good = number < REGISTERS;
	if (!good)
		return refuse(camera, ERROR_RANGE);
	camera->registers[number] = (uint16_t)value;
	return 0;
}

static int unit_request(struct camera *camera, const uint8_t setup[8], uint8_t *data, uint32_t length)
{
	uint8_t bytes[DS325_CONTROL_BYTES] = { 0 };
	uint32_t number = get_le16(camera->request + 1);

	if (setup[3] != DS325_SELECTOR)
		return refuse(camera, ERROR_CONTROL);
	camera->unit_requests++;
	switch (setup[1]) {
	case SET_CUR:
		if (length != DS325_CONTROL_BYTES)
			return refuse(camera, ERROR_RANGE);
		memcpy(camera->request, data, DS325_CONTROL_BYTES);
		return unit_write(camera, data) ? -EPIPE : (int)length;
	case GET_CUR:
		memcpy(bytes, camera->request, sizeof(bytes));
		if (bytes[0] == UNIT_READ && number < REGISTERS)
			put_le16(bytes + 3, camera->registers[number]);
		return answer(data, length, bytes, sizeof(bytes));
	case GET_MAX:
		memset(bytes, 0xff, sizeof(bytes));
		return answer(data, length, bytes, sizeof(bytes));
	case GET_RES:
		bytes[0] = 1;
		return answer(data, length, bytes, sizeof(bytes));
	case GET_MIN:
	case GET_DEF:
		return answer(data, length, bytes, sizeof(bytes));
	case GET_LEN:
		bytes[0] = DS325_CONTROL_BYTES;
		return answer(data, length, bytes, 2);
	case GET_INFO:
		bytes[0] = 3;
		return answer(data, length, bytes, 1);
	default:
		return refuse(camera, ERROR_REQUEST);
	}
}

static int control_interface_request(struct camera *camera, const uint8_t setup[8], uint8_t *data, uint32_t length)
{
	static const uint8_t full_power = 0, readable = 1;

	if (setup[5] == DS325_UNIT)
		return unit_request(camera, setup, data, length);
	if (setup[5] || setup[1] == SET_CUR)
		return refuse(camera, ERROR_CONTROL);
	if (setup[1] == GET_INFO)
		return answer(data, length, &readable, 1);
	if (setup[1] == GET_CUR && setup[3] == VC_ERROR)
		return answer(data, length, &camera->error, 1);
	if (setup[1] == GET_CUR && setup[3] == VC_POWER_MODE)
		return answer(data, length, &full_power, 1);
	return refuse(camera, ERROR_REQUEST);
}

int camera_control(struct camera *camera, const uint8_t setup[8], uint8_t *data, uint32_t length)
{
	bool in = setup[0] & 0x80;
	unsigned int type = setup[0] >> 5 & 3;

	camera->requests++;
	if (length > CONTROL_MOST)
		return -EPIPE;
	if (type == 0)
		return standard_request(camera, setup, data, length);
	if (type != 1 || in != (setup[1] >= 0x80) || setup[4] > 1)
		return -EPIPE;
	return setup[4] ? streaming_request(camera, setup, data, length) :
			  control_interface_request(camera, setup, data, length);
}

unsigned int camera_format(const struct camera *camera)
{
	return camera->committed[2];
}

uint32_t camera_frame_bytes(const struct camera *camera)
{
	return format_bytes(camera_format(camera));
}

uint64_t camera_interval_ns(const struct camera *camera)
{
	uint32_t rate = camera->registers[REGISTER_RATE];

	return rate ? 1000000000 / rate : get_le32(camera->committed + 4) * 100ull;
}

unsigned int camera_gain(const struct camera *camera)
{
	return camera->registers[REGISTER_EXPOSURE] * (camera->registers[REGISTER_MODE] ? 4u : 1u);
}

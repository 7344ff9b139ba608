// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <cstring>
#include <system_error>

#include "cameras.h"
#include "stream.h"

enum {
	BUFFERS = 4,
	TIMEOUT_MS = 100, /* how long a stop may wait for a camera that sends nothing */
	RETRY_MS = 10, /* between looks for a camera that was unplugged */
	STRIDE = DS325_WIDTH * sizeof(OniDepthPixel),
	/* No range is beyond a whole turn of the modulation, c / 2f, and no depth beyond its range; rounded up. */
	MOST_MM = (DS325_LIGHT_M_S * 1000ll + 2ll * DS325_MODULATION_HZ - 1) / (2ll * DS325_MODULATION_HZ),
	INFO = 1,
	WARNING = 2, /* OpenNI's severities */
};

static const float RADIANS = 3.14159265f / 180;

#define MODE(rate) { ONI_PIXEL_FORMAT_DEPTH_1_MM, DS325_WIDTH, DS325_HEIGHT, rate }
/* The first rate is the default: OpenNI's usual rate. */
const OniVideoMode DS325_MODES[] = { MODE(30), MODE(25), MODE(50), MODE(60) };
static_assert(sizeof(DS325_MODES) == DS325_MODE_COUNT * sizeof(*DS325_MODES), "every mode is counted");

Stream::Stream(const std::string &port, oni::driver::DriverServices &services)
    : port(port), services(services), mode(DS325_MODES[0]), method(ds325_method("simd"))
{
	ds325_calibration calibration = DS325_CALIBRATION_DEFAULT;

	calibration.geometry = DS325_DEPTH;
	ds325_decoder_init(&decoder, &calibration); /* refuses only calibrations that cannot be */
	capture.fd = -1;
}

Stream::~Stream()
{
	stop();
}

void Stream::log(int severity, const std::string &message)
{
	services.log(severity, "stream.cpp", 0, "DS325", message.c_str());
}

/* Of one connection. */
void Stream::log_counts()
{
	log(INFO, "frames: " + std::to_string(capture.frames) + ", lost: " + std::to_string(capture.lost) +
			  ", refused: " + std::to_string(capture.refused) +
			  ", without a buffer: " + std::to_string(without_buffer));
	without_buffer = 0;
}

/* --- properties --------------------------------------------------------------------------------------- */

template <typename T> static OniStatus give(T value, void *data, int *bytes)
{
	if (*bytes != sizeof(value))
		return ONI_STATUS_BAD_PARAMETER;
	memcpy(data, &value, sizeof(value));
	return ONI_STATUS_OK;
}

OniBool Stream::isPropertySupported(int property)
{
	switch (property) {
	case ONI_STREAM_PROPERTY_HORIZONTAL_FOV:
	case ONI_STREAM_PROPERTY_VERTICAL_FOV:
	case ONI_STREAM_PROPERTY_VIDEO_MODE:
	case ONI_STREAM_PROPERTY_MAX_VALUE:
	case ONI_STREAM_PROPERTY_MIN_VALUE:
	case ONI_STREAM_PROPERTY_STRIDE:
	case ONI_STREAM_PROPERTY_MIRRORING:
		return TRUE;
	default:
		return FALSE;
	}
}

OniStatus Stream::getProperty(int property, void *data, int *bytes)
{
	switch (property) {
	case ONI_STREAM_PROPERTY_HORIZONTAL_FOV:
		return give(74 * RADIANS, data, bytes);
	case ONI_STREAM_PROPERTY_VERTICAL_FOV:
		return give(58 * RADIANS, data, bytes);
	case ONI_STREAM_PROPERTY_VIDEO_MODE:
		return give(mode, data, bytes);
	case ONI_STREAM_PROPERTY_MAX_VALUE:
		return give<int>(MOST_MM, data, bytes);
	case ONI_STREAM_PROPERTY_MIN_VALUE:
		return give<int>(0, data, bytes);
	case ONI_STREAM_PROPERTY_STRIDE:
		return give<int>(STRIDE, data, bytes);
	case ONI_STREAM_PROPERTY_MIRRORING:
		return give<OniBool>(mirrored, data, bytes);
	default:
		return ONI_STATUS_NOT_SUPPORTED;
	}
}

static bool same(const OniVideoMode &one, const OniVideoMode &other)
{
	return one.pixelFormat == other.pixelFormat && one.resolutionX == other.resolutionX &&
	       one.resolutionY == other.resolutionY && one.fps == other.fps;
}

OniStatus Stream::setProperty(int property, const void *data, int bytes)
{
	OniVideoMode wanted;
	OniBool mirror;

	switch (property) {
	case ONI_STREAM_PROPERTY_VIDEO_MODE:
		if (bytes != sizeof(wanted))
			return ONI_STATUS_BAD_PARAMETER;
		memcpy(&wanted, data, sizeof(wanted));
		if (std::none_of(DS325_MODES, DS325_MODES + DS325_MODE_COUNT,
				 [&](const OniVideoMode &offered) { return same(offered, wanted); })) {
			services.errorLoggerAppend("DS325: depth is 320 x 240 in mm, at 25, 30, 50 or 60 Hz\n");
			return ONI_STATUS_NOT_SUPPORTED;
		}
		if (running && !same(wanted, mode)) {
			services.errorLoggerAppend("DS325: stop the stream before its video mode is changed\n");
			return ONI_STATUS_OUT_OF_FLOW;
		}
		mode = wanted;
		return ONI_STATUS_OK;
	case ONI_STREAM_PROPERTY_MIRRORING:
		if (bytes != sizeof(mirror))
			return ONI_STATUS_BAD_PARAMETER;
		memcpy(&mirror, data, sizeof(mirror));
		mirrored = mirror;
		return ONI_STATUS_OK;
	default:
		return ONI_STATUS_NOT_SUPPORTED;
	}
}

/* --- frames ----------------------------------------------------------------------------------------------- */

/* At whatever node the port's camera has now; false with capture.why. */
bool Stream::connect()
{
	ds325_capture next = {};

	next.io = DS325_MMAP;
	next.buffers_wanted = BUFFERS;
	next.rate = (uint32_t)mode.fps;
	next.fd = -1;
	for (const Camera &camera : find_cameras())
		if (camera.port == port)
			snprintf(next.device, sizeof(next.device), "%s", camera.node.c_str());
	capture = next;
	first_index = next_index;
	if (capture.device[0])
		return ds325_capture_open(&capture);
	snprintf(capture.why, sizeof(capture.why), "no camera is plugged in at USB port %s", port.c_str());
	return false;
}

OniStatus Stream::start()
{
	std::lock_guard<std::mutex> lock(starting);

	if (running)
		return ONI_STATUS_OK;
	next_index = 0;
	without_buffer = 0;
	if (!connect()) {
		services.errorLoggerAppend("DS325: %s\n", capture.why);
		return ONI_STATUS_ERROR;
	}
	running = true;
	try {
		thread = std::thread(&Stream::run, this);
	} catch (const std::system_error &error) {
		running = false;
		ds325_capture_close(&capture);
		services.errorLoggerAppend("DS325: starting its thread: %s\n", error.what());
		return ONI_STATUS_ERROR;
	}
	return ONI_STATUS_OK;
}

void Stream::stop()
{
	std::lock_guard<std::mutex> lock(starting);

	running = false;
	if (!thread.joinable())
		return;
	thread.join();
	ds325_capture_close(&capture);
}

void Stream::run()
{
	ds325_frame frame;

	while (running) {
		switch (ds325_capture_next(&capture, TIMEOUT_MS, &frame)) {
		case DS325_FRAME:
			if (!deliver(frame))
				come_back();
			break;
		case DS325_GONE:
		case DS325_FAILED:
			come_back();
			break;
		case DS325_REFUSED: /* a frame short or damaged: the next one's index shows the gap */
		case DS325_TIMEOUT:
		case DS325_BACK:
			break;
		}
	}
	log_counts();
}

/* Let go of the node, so that the next camera at this port may have its name, and wait for that camera. The library's
 * own search goes by the card's name and might take the other of two cameras. */
void Stream::come_back()
{
	log(WARNING, capture.why[0] ? capture.why : "the camera is gone");
	log_counts();
	ds325_capture_close(&capture);
	while (running && !connect())
		std::this_thread::sleep_for(std::chrono::milliseconds(RETRY_MS));
}

/*
 * OpenNI has only one value for pixels without a depth, 0. Programs index tables by depth, so the mark of saturation
 * would take them beyond the table's end.
 */
static void finish(uint16_t *depth, bool mirror)
{
	for (int pixel = 0; pixel < DS325_PIXELS; pixel++)
		depth[pixel] = depth[pixel] > DS325_Z16_MOST ? 0 : depth[pixel];
	for (int row = 0; mirror && row < DS325_HEIGHT; row++)
		std::reverse(depth + row * DS325_WIDTH, depth + (row + 1) * DS325_WIDTH);
}

/* False if the camera's buffer could not be given back. */
bool Stream::deliver(const ds325_frame &frame)
{
	OniFrame *out = getServices().acquireFrame();

	next_index = first_index + frame.number + 1;
	if (out && out->dataSize < DS325_HEIGHT * STRIDE) {
		getServices().releaseFrame(out);
		out = nullptr;
	}
	if (!out) {
		without_buffer++;
		return ds325_capture_release(&capture, &frame);
	}
	ds325_decode(method, &decoder, frame.raw, DS325_FRAME_BYTES, static_cast<uint16_t *>(out->data));
	const bool released = ds325_capture_release(&capture, &frame);
	finish(static_cast<uint16_t *>(out->data), mirrored);
	out->dataSize = DS325_HEIGHT * STRIDE;
	out->sensorType = ONI_SENSOR_DEPTH;
	out->timestamp = frame.time_ns / 1000;
	out->frameIndex = static_cast<int>(next_index - 1);
	out->width = DS325_WIDTH;
	out->height = DS325_HEIGHT;
	out->videoMode = mode;
	out->croppingEnabled = FALSE;
	out->cropOriginX = out->cropOriginY = 0;
	out->stride = STRIDE;
	raiseNewFrame(out);
	getServices().releaseFrame(out);
	return released;
}

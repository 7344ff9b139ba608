// SPDX-License-Identifier: MIT
/* openni2_frames FRAMES [rate=N] [mirror=1] [refuse=N] [reopen=1]: what an OpenNI2 program sees of the camera.
 *
 * Properties, then of each frame its index, time (us) and CRC-32 of all pixels (zlib's), and the cameras' coming and
 * going. refuse: an allocator that has no memory for every N-th frame. reopen: a camera that comes back is opened anew
 * while the old stream still waits for it.
 */
#include <OpenNI.h>
#include <atomic>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace openni;

static const int TIMEOUT_MS = 3000;

struct Crc32 {
	uint32_t table[256];

	Crc32()
	{
		for (uint32_t byte = 0; byte < 256; byte++) {
			table[byte] = byte;
			for (int bit = 0; bit < 8; bit++)
				table[byte] = table[byte] >> 1 ^ (table[byte] & 1 ? 0xedb88320 : 0);
		}
	}
	uint32_t of(const uint8_t *bytes, size_t count) const
	{
		uint32_t crc = ~0u;

		while (count--)
			crc = crc >> 8 ^ table[(crc ^ *bytes++) & 0xff];
		return ~crc;
	}
};

struct Options {
	int frames, rate = 30, mirror = 0, refuse = 0, reopen = 0;
};

struct Allocator : VideoStream::FrameAllocator {
	explicit Allocator(int refuse) : refuse(refuse) {}
	void *allocateFrameBuffer(int size) override { return ++asked % refuse ? malloc(size) : nullptr; }
	void freeFrameBuffer(void *data) override { free(data); }
	int refuse, asked = 0;
};

struct Events : OpenNI::DeviceConnectedListener, OpenNI::DeviceDisconnectedListener {
	Events()
	{
		OpenNI::addDeviceConnectedListener(this);
		OpenNI::addDeviceDisconnectedListener(this);
	}
	~Events() override
	{
		OpenNI::removeDeviceConnectedListener(this);
		OpenNI::removeDeviceDisconnectedListener(this);
	}
	void onDeviceConnected(const DeviceInfo *info) override
	{
		printf("connected %s\n", info->getUri());
		came++;
	}
	void onDeviceDisconnected(const DeviceInfo *info) override { printf("disconnected %s\n", info->getUri()); }
	std::atomic<int> came{ 0 };
};

static bool check(Status status, const char *what)
{
	if (status != STATUS_OK)
		printf("failed %s: %s\n", what, OpenNI::getExtendedError());
	return status == STATUS_OK;
}

struct Camera {
	Device device;
	VideoStream depth;

	~Camera()
	{
		depth.stop();
		depth.destroy();
		device.close();
	}

	bool open(const Options &options, Allocator *allocator)
	{
		VideoMode mode;

		mode.setResolution(320, 240);
		mode.setPixelFormat(PIXEL_FORMAT_DEPTH_1_MM);
		mode.setFps(options.rate);
		return check(device.open(ANY_DEVICE), "open") && check(depth.create(device, SENSOR_DEPTH), "create") &&
		       check(depth.setVideoMode(mode), "mode") &&
		       check(depth.setMirroringEnabled(options.mirror), "mirroring") &&
		       (!options.refuse || check(depth.setFrameBuffersAllocator(allocator), "allocator")) &&
		       check(depth.start(), "start");
	}
};

static void describe(Camera &camera)
{
	const DeviceInfo &info = camera.device.getDeviceInfo();
	const Array<VideoMode> &modes = camera.depth.getSensorInfo().getSupportedVideoModes();
	VideoMode wrong = camera.depth.getVideoMode();
	float x, y, z;

	printf("device %s %s %s %04x:%04x\n", info.getUri(), info.getVendor(), info.getName(), info.getUsbVendorId(),
	       info.getUsbProductId());
	for (int at = 0; at < modes.getSize(); at++)
		printf("mode %d %d %d %d\n", modes[at].getPixelFormat(), modes[at].getResolutionX(),
		       modes[at].getResolutionY(), modes[at].getFps());
	printf("fov %.6f %.6f\n", camera.depth.getHorizontalFieldOfView(), camera.depth.getVerticalFieldOfView());
	printf("values %d %d\n", camera.depth.getMinPixelValue(), camera.depth.getMaxPixelValue());
	CoordinateConverter::convertDepthToWorld(camera.depth, 320.f, 120.f, 1000.f, &x, &y, &z);
	printf("world %.3f %.3f %.3f\n", x, y, z);
	wrong.setFps(24);
	printf("wrong-rate %d\n", camera.depth.setVideoMode(wrong));
	wrong.setFps(camera.depth.getVideoMode().getFps() == 25 ? 60 : 25);
	printf("while-streaming %d\n", camera.depth.setVideoMode(wrong));
	printf("cropping %d\n", camera.depth.isCroppingSupported());
}

static void show(const VideoFrameRef &frame, const Crc32 &crc)
{
	printf("frame %d %" PRIu64 " %08x\n", frame.getFrameIndex(), frame.getTimestamp(),
	       crc.of(static_cast<const uint8_t *>(frame.getData()), 320 * 240 * 2));
	if (frame.getDataSize() != 320 * 240 * 2 || frame.getStrideInBytes() != 640 || frame.getWidth() != 320 ||
	    frame.getHeight() != 240 || frame.getCroppingEnabled() || frame.getSensorType() != SENSOR_DEPTH)
		printf("failed frame: its shape is wrong\n");
}

/* Frames as they come; everything of it is let go of before the runtime is. */
static bool watch(const Options &options)
{
	Allocator allocator(options.refuse);
	const Crc32 crc;
	Events events;
	std::unique_ptr<Camera> camera = std::make_unique<Camera>(), old;

	if (!camera->open(options, &allocator))
		return false;
	describe(*camera);
	for (int got = 0; got < options.frames; got++) {
		VideoFrameRef frame;
		VideoStream *stream;
		int ready;

		if (options.reopen && events.came) {
			events.came = 0;
			old = std::move(camera);
			camera = std::make_unique<Camera>();
			if (!camera->open(options, &allocator))
				return false;
			printf("reopened\n");
		}
		stream = &camera->depth;
		if (!check(OpenNI::waitForAnyStream(&stream, 1, &ready, TIMEOUT_MS), "wait") ||
		    !check(stream->readFrame(&frame), "read"))
			return false;
		show(frame, crc);
	}
	return true;
}

int main(int argc, char **argv)
{
	Options options;

	options.frames = argc > 1 ? atoi(argv[1]) : 1;
	for (int at = 2; at < argc; at++) {
		sscanf(argv[at], "rate=%d", &options.rate);
		sscanf(argv[at], "mirror=%d", &options.mirror);
		sscanf(argv[at], "refuse=%d", &options.refuse);
		sscanf(argv[at], "reopen=%d", &options.reopen);
	}
	if (!check(OpenNI::initialize(), "initialize"))
		return 1;
	const bool good = watch(options);
	OpenNI::shutdown();
	printf("end\n");
	return good ? 0 : 1;
}

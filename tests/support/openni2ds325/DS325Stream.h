// SPDX-License-Identifier: MIT
/* The least of OpenNI's driver interface that openni2ds325's DepthDS325Stream.cpp needs to be compiled as it was
 * published, with frames from memory in place of a camera. What it does between a frame's arrival and its handing over
 * is its own; reading, sleeping and commands are ours and cost next to nothing here.
 */
#pragma once
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

typedef int OniStatus;
typedef unsigned short OniDepthPixel;
typedef void *XN_THREAD_HANDLE;
enum { ONI_STATUS_OK = 0, ONI_STATUS_ERROR = 1, ONI_STATUS_NOT_IMPLEMENTED = 2 };
enum { ONI_PIXEL_FORMAT_DEPTH_1_MM = 100, ONI_SENSOR_DEPTH = 3 };
enum { UVC_SET_CUR = 1, UVC_GET_CUR = 0x81, FALSE = 0 };

struct OniVideoMode {
	int pixelFormat, resolutionX, resolutionY, fps;
};

struct OniFrame {
	int dataSize;
	void *data;
	int sensorType;
	unsigned long long timestamp;
	int frameIndex, width, height;
	OniVideoMode videoMode;
	int croppingEnabled, cropOriginX, cropOriginY, stride;
};

struct Services {
	OniFrame *frame;
	OniFrame *acquireFrame() { return frame; }
	void releaseFrame(OniFrame *) {}
};

static inline void xnOSMemSet(void *to, unsigned char value, std::size_t bytes)
{
	std::memset(to, value, bytes);
}
static inline void xnOSMemCopy(void *to, const void *from, std::size_t bytes)
{
	std::memcpy(to, from, bytes);
}
static inline void xnOSSleep(unsigned int)
{
}
template <class Entry, class Parameter> void xnOSCreateThread(Entry, Parameter, XN_THREAD_HANDLE *)
{
}

enum { DEPTHSENSE_DEPTH_RESOLUTION_X = 320, DEPTHSENSE_DEPTH_RESOLUTION_Y = 240 };

class DS325Stream
{
      public:
	virtual ~DS325Stream() {}
	virtual OniStatus SetVideoMode(OniVideoMode *) = 0;
	virtual OniStatus GetVideoMode(OniVideoMode *) = 0;
	virtual void Mainloop() = 0;
	virtual OniStatus start() = 0;
	virtual void stop() = 0;

	/* Frames to be read, one after the other; `out` gets what is raised, unless it is NULL. */
	unsigned char *source = nullptr;
	std::size_t frames = 0, taken = 0, kept = 1;
	std::FILE *out = nullptr;
	Services services = {};
	bool m_running = true;

      protected:
	XN_THREAD_HANDLE m_threadHandle = nullptr;

	virtual void set_image(unsigned char *source, int size) = 0;
	static void threadFunc(void *) {}
	Services &getServices() { return services; }
	int send_xu(int, unsigned char *) { return 0; }
	OniStatus start_stream(int, int, int) { return ONI_STATUS_OK; }
	void stop_stream() {}
	int read_frame_once()
	{
		set_image(source + taken % kept * 307200, 307200);
		m_running = ++taken < frames;
		return 0;
	}
	void raiseNewFrame(OniFrame *frame)
	{
		if (out && std::fwrite(frame->data, (std::size_t)frame->dataSize, 1, out) != 1)
			std::exit(3);
	}
};

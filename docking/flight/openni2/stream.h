/* SPDX-License-Identifier: MIT */
/* Depth frames of one camera: a thread takes them from V4L2 and decodes them straight into OpenNI's buffers. */
#ifndef DS325_OPENNI2_STREAM_H
#define DS325_OPENNI2_STREAM_H

#include <Driver/OniDriverAPI.h>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>

extern "C" {
#include "flight/capture.h"
#include "ds325/decode.h"
}

enum { DS325_MODE_COUNT = 4 };
extern const OniVideoMode DS325_MODES[DS325_MODE_COUNT];

class Stream final : public oni::driver::StreamBase
{
      public:
	Stream(const std::string &port, oni::driver::DriverServices &services);
	~Stream() override;

	OniStatus setProperty(int property, const void *data, int bytes) override;
	OniStatus getProperty(int property, void *data, int *bytes) override;
	OniBool isPropertySupported(int property) override;

	/* After an error OpenNI's extended error holds the reason. */
	OniStatus start() override;
	/* May be called again, and by two threads at once. */
	void stop() override;

      private:
	bool connect();
	void run();
	void come_back();
	bool deliver(const ds325_frame &frame);
	void log(int severity, const std::string &message);
	void log_counts();

	const std::string port;
	oni::driver::DriverServices &services;
	std::mutex starting; /* held while the thread is started or ended */
	std::thread thread;
	std::atomic<bool> running = false, mirrored = false;
	OniVideoMode mode;
	/* The thread's, while it runs. */
	ds325_capture capture = {};
	ds325_decoder decoder;
	const struct ds325_method *method; /* the function has the same name */
	uint32_t first_index = 0, next_index = 0; /* of the connection's frame 0; of the frame after the last */
	uint64_t without_buffer = 0;
};

#endif

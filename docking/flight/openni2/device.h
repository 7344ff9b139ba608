/* SPDX-License-Identifier: MIT */
/* A camera that a program has opened. */
#ifndef DS325_OPENNI2_DEVICE_H
#define DS325_OPENNI2_DEVICE_H

#include <memory>
#include <mutex>
#include <string>

#include "cameras.h"
#include "stream.h"

class Device final : public oni::driver::DeviceBase
{
      public:
	Device(const Camera &camera, oni::driver::DriverServices &services);

	OniStatus getSensorInfoList(OniSensorInfo **sensors, int *count) override;
	oni::driver::StreamBase *createStream(OniSensorType sensor) override;
	void destroyStream(oni::driver::StreamBase *stream) override;
	OniStatus getProperty(int property, void *data, int *bytes) override;
	OniBool isPropertySupported(int property) override;

	/* The port's camera came back and was opened anew, so this device's stream no longer waits for it. */
	void retire();
	const std::string &port() const { return camera.port; }

      private:
	const Camera camera;
	oni::driver::DriverServices &services;
	OniVideoMode modes[DS325_MODE_COUNT];
	OniSensorInfo sensor;
	std::mutex mutex; /* of the stream; not held while its thread is awaited */
	std::shared_ptr<Stream> stream; /* OpenNI makes at most one stream of a sensor */
};

#endif

// SPDX-License-Identifier: MIT
/* openni2_driver: a program's listener that opens and closes devices while its stream's thread is being ended.
 *
 * The driver is as it flies; cameras and streams are of this file. A stream's end awaits its thread, which is in a
 * listener that asks the driver for something, as OpenNI lets it: the driver has to answer meanwhile.
 */
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <functional>
#include <future>
#include <utility>

#include "flight/openni2/device.h"

static const char *const FIRST = "2113/0145@1-1", *const SECOND = "2113/0145@1-2";
const OniVideoMode DS325_MODES[DS325_MODE_COUNT] = {};

extern "C" {
void oniDriverCreate(OniDriverServices *services);
void oniDriverDestroy();
OniStatus oniDriverInitialize(oni::driver::DeviceConnectedCallback connected,
			      oni::driver::DeviceDisconnectedCallback disconnected,
			      oni::driver::DeviceStateChangedCallback changed, void *cookie);
void *oniDriverDeviceOpen(const char *uri, const char *mode);
void oniDriverDeviceClose(void *device);
void *oniDriverDeviceCreateStream(void *device, OniSensorType sensor);
void oniDriverDeviceDestroyStream(void *device, void *stream);
}

std::vector<Camera> find_cameras()
{
	return { { "1-1", "/dev/video0", "" }, { "1-2", "/dev/video2", "" } };
}

static std::function<void()> listener;
static int failures;

Stream::Stream(const std::string &port, oni::driver::DriverServices &services) : port(port), services(services)
{
}
Stream::~Stream()
{
	stop();
}
OniStatus Stream::setProperty(int, const void *, int)
{
	return ONI_STATUS_NOT_SUPPORTED;
}
OniStatus Stream::getProperty(int, void *, int *)
{
	return ONI_STATUS_NOT_SUPPORTED;
}
OniBool Stream::isPropertySupported(int)
{
	return FALSE;
}
OniStatus Stream::start()
{
	return ONI_STATUS_OK;
}

/* Awaits the listener, though not for ever. */
void Stream::stop()
{
	if (!listener)
		return;
	auto done = std::make_shared<std::promise<void>>();
	std::thread([done, call = std::exchange(listener, nullptr)] {
		call();
		done->set_value();
	}).detach();
	if (done->get_future().wait_for(std::chrono::seconds(2)) == std::future_status::ready)
		return;
	printf("the driver awaits a thread that waits for the driver\n");
	failures++;
}

int main()
{
	static OniDriverServices services = {};

	services.errorLoggerAppend = [](void *, const char *format, va_list arguments) { vprintf(format, arguments); };
	services.log = [](void *, int, const char *, int, const char *, const char *text) { puts(text); };
	oniDriverCreate(&services);
	oniDriverInitialize([](const OniDeviceInfo *, void *) {}, [](const OniDeviceInfo *, void *) {},
			    [](const OniDeviceInfo *, int, void *) {}, nullptr);
	void *other = oniDriverDeviceOpen(SECOND, ""), *old = oniDriverDeviceOpen(FIRST, "");

	oniDriverDeviceCreateStream(old, ONI_SENSOR_DEPTH);
	/* The camera is opened anew, which ends the old stream; its listener closes another one and asks its own device. */
	listener = [&] {
		oniDriverDeviceClose(other);
		oniDriverDeviceCreateStream(old, ONI_SENSOR_COLOR);
	};
	void *opened = oniDriverDeviceOpen(FIRST, "");

	/* A stream is destroyed, then a device closed with its stream. */
	void *stream = oniDriverDeviceCreateStream(opened, ONI_SENSOR_DEPTH);
	listener = [&] { oniDriverDeviceCreateStream(opened, ONI_SENSOR_COLOR); };
	oniDriverDeviceDestroyStream(opened, stream);
	listener = [] { oniDriverDeviceClose(oniDriverDeviceOpen(SECOND, "")); };
	oniDriverDeviceClose(old);
	oniDriverDestroy();
	printf("failures %d\n", failures);
	return failures != 0;
}

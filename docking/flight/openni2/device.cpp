// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "device.h"

static const OniVersion DRIVER_VERSION = { DS325_VERSION, 0 };

Device::Device(const Camera &camera, oni::driver::DriverServices &services) : camera(camera), services(services)
{
	std::copy_n(DS325_MODES, DS325_MODE_COUNT, modes);
	sensor = { ONI_SENSOR_DEPTH, DS325_MODE_COUNT, modes };
}

OniStatus Device::getSensorInfoList(OniSensorInfo **sensors, int *count)
{
	*sensors = &sensor;
	*count = 1;
	return ONI_STATUS_OK;
}

oni::driver::StreamBase *Device::createStream(OniSensorType wanted)
{
	std::lock_guard<std::mutex> lock(mutex);

	if (wanted != ONI_SENSOR_DEPTH || stream) {
		services.errorLoggerAppend("DS325: it has one depth stream and no other\n");
		return nullptr;
	}
	stream = std::make_shared<Stream>(camera.port, services);
	return stream.get();
}

void Device::destroyStream(oni::driver::StreamBase *)
{
	std::unique_lock<std::mutex> lock(mutex);
	const auto destroyed = std::move(stream); /* ends with this function, after the lock is released */

	lock.unlock();
}

void Device::retire()
{
	std::unique_lock<std::mutex> lock(mutex);
	const auto retired = stream;

	lock.unlock();
	if (retired)
		retired->stop();
}

OniBool Device::isPropertySupported(int property)
{
	return property == ONI_DEVICE_PROPERTY_DRIVER_VERSION ||
	       (property == ONI_DEVICE_PROPERTY_SERIAL_NUMBER && !camera.serial.empty());
}

OniStatus Device::getProperty(int property, void *data, int *bytes)
{
	const int serial_bytes = static_cast<int>(camera.serial.size()) + 1;

	if (!isPropertySupported(property))
		return ONI_STATUS_NOT_SUPPORTED;
	if (property == ONI_DEVICE_PROPERTY_SERIAL_NUMBER) {
		if (*bytes < serial_bytes)
			return ONI_STATUS_BAD_PARAMETER;
		memcpy(data, camera.serial.c_str(), serial_bytes);
		*bytes = serial_bytes;
		return ONI_STATUS_OK;
	}
	if (*bytes != sizeof(DRIVER_VERSION))
		return ONI_STATUS_BAD_PARAMETER;
	memcpy(data, &DRIVER_VERSION, sizeof(DRIVER_VERSION));
	return ONI_STATUS_OK;
}

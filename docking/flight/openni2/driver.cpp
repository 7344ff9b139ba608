// SPDX-License-Identifier: MIT
/* libDS325.so: tells OpenNI of the cameras that come and go. */
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <map>
#include <memory>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <system_error>
#include <unistd.h>

#include "device.h"

/* OniDriverAPI.h uses these macros, but the header that defines them is not installed. */
#define XN_NEW(type, ...) new type(__VA_ARGS__)
#define XN_DELETE(object) delete object

enum { ERROR = 3 }; /* OpenNI's severity */

class Driver final : public oni::driver::DriverBase
{
      public:
	explicit Driver(OniDriverServices *services) : DriverBase(services) {}

	OniStatus initialize(oni::driver::DeviceConnectedCallback connected,
			     oni::driver::DeviceDisconnectedCallback disconnected,
			     oni::driver::DeviceStateChangedCallback changed, void *cookie) override;
	oni::driver::DeviceBase *deviceOpen(const char *uri, const char *mode) override;
	void deviceClose(oni::driver::DeviceBase *device) override;
	void shutdown() override;

      private:
	void scan();
	void forget(const std::string &node);
	void read_events();
	void watch();

	/* Protects the two fields below. Not held while calling OpenNI, which may call back, nor while waiting for a
	 * stream's thread, which may be in such a call. */
	std::mutex mutex;
	std::map<std::string, Camera> cameras; /* by URI */
	std::vector<std::shared_ptr<Device>> devices;
	std::thread watcher;
	int changes = -1, ending = -1;
};

static std::string uri_of(const Camera &camera)
{
	char id[16];

	snprintf(id, sizeof(id), "%04x/%04x", DS325_USB_VENDOR, DS325_USB_PRODUCT);
	return id + ("@" + camera.port);
}

static OniDeviceInfo info_of(const Camera &camera)
{
	OniDeviceInfo info = {};

	snprintf(info.uri, sizeof(info.uri), "%s", uri_of(camera).c_str());
	snprintf(info.vendor, sizeof(info.vendor), "SoftKinetic");
	snprintf(info.name, sizeof(info.name), "DS325");
	info.usbVendorId = DS325_USB_VENDOR;
	info.usbProductId = DS325_USB_PRODUCT;
	return info;
}

OniStatus Driver::initialize(oni::driver::DeviceConnectedCallback connected,
			     oni::driver::DeviceDisconnectedCallback disconnected,
			     oni::driver::DeviceStateChangedCallback changed, void *cookie)
{
	DriverBase::initialize(connected, disconnected, changed, cookie);
	changes = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	ending = eventfd(0, EFD_CLOEXEC);
	/* Watched first, so that no camera comes unseen after the scan. */
	if (changes < 0 || ending < 0 || inotify_add_watch(changes, "/dev", IN_CREATE | IN_DELETE) < 0) {
		getServices().errorLoggerAppend("DS325: watching /dev: %s\n", strerror(errno));
		return ONI_STATUS_ERROR;
	}
	scan();
	try {
		watcher = std::thread(&Driver::watch, this);
	} catch (const std::system_error &error) {
		getServices().errorLoggerAppend("DS325: starting its thread: %s\n", error.what());
		return ONI_STATUS_ERROR;
	}
	return ONI_STATUS_OK;
}

void Driver::shutdown()
{
	const uint64_t one = 1;

	if (watcher.joinable()) {
		if (write(ending, &one, sizeof(one)) < 0)
			getServices().log(ERROR, "driver.cpp", __LINE__, "DS325", strerror(errno));
		watcher.join();
	}
	for (int *fd : { &changes, &ending }) {
		if (*fd >= 0)
			close(*fd);
		*fd = -1;
	}
	/* OpenNI closes what is plugged in; programs may have left the rest. */
	devices.clear();
}

void Driver::scan()
{
	for (const Camera &camera : find_cameras()) {
		const OniDeviceInfo info = info_of(camera);
		std::unique_lock<std::mutex> lock(mutex);
		const bool is_new = cameras.emplace(info.uri, camera).second;

		lock.unlock();
		if (is_new)
			deviceConnected(&info);
	}
}

void Driver::forget(const std::string &node)
{
	std::unique_lock<std::mutex> lock(mutex);
	const auto gone = std::find_if(cameras.begin(), cameras.end(),
				       [&](const auto &entry) { return entry.second.node == node; });

	if (gone == cameras.end())
		return;
	const OniDeviceInfo info = info_of(gone->second);
	cameras.erase(gone);
	lock.unlock();
	deviceDisconnected(&info);
}

/* Everything that happened in /dev since the last call; a camera that went and came back is reported as both. */
void Driver::read_events()
{
	alignas(inotify_event) char events[16 * (sizeof(inotify_event) + NAME_MAX + 1)];
	ssize_t bytes;

	while ((bytes = read(changes, events, sizeof(events))) > 0) {
		for (ssize_t at = 0; at < bytes;) {
			const auto *event = reinterpret_cast<const inotify_event *>(events + at);

			if (event->mask & IN_DELETE)
				forget(std::string("/dev/") + event->name);
			at += static_cast<ssize_t>(sizeof(*event) + event->len);
		}
	}
	scan();
}

void Driver::watch()
{
	pollfd wait[] = { { changes, POLLIN, 0 }, { ending, POLLIN, 0 } };

	while (poll(wait, 2, -1) > 0 || errno == EINTR) {
		if (wait[1].revents)
			return;
		if (wait[0].revents & POLLIN)
			read_events();
	}
}

oni::driver::DeviceBase *Driver::deviceOpen(const char *uri, const char *)
{
	std::unique_lock<std::mutex> lock(mutex);
	const auto found = cameras.find(uri);

	if (found == cameras.end()) {
		getServices().errorLoggerAppend("DS325: no camera at %s\n", uri);
		return nullptr;
	}
	const auto opened = std::make_shared<Device>(found->second, getServices());
	auto before = devices;
	devices.push_back(opened);
	lock.unlock();
	for (const auto &device : before)
		if (device->port() == opened->port())
			device->retire();
	return opened.get();
}

void Driver::deviceClose(oni::driver::DeviceBase *old)
{
	std::unique_lock<std::mutex> lock(mutex);
	const auto is_it = [&](const auto &device) { return device.get() == old; };
	const auto found = std::find_if(devices.begin(), devices.end(), is_it);

	if (found == devices.end())
		return;
	const auto closed = *found; /* ends with this function, after the lock is released */
	devices.erase(found);
	lock.unlock();
}

ONI_EXPORT_DRIVER(Driver)

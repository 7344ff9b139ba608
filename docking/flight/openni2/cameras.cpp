// SPDX-License-Identifier: MIT
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include "cameras.h"
#include "ds325/format.h"

namespace fs = std::filesystem;

static const fs::path NODES = "/sys/class/video4linux";

static std::string first_line(const fs::path &file)
{
	std::ifstream stream(file);
	std::string line;

	std::getline(stream, line);
	return line;
}

static bool has_id(const fs::path &file, unsigned int id)
{
	char text[8];

	snprintf(text, sizeof(text), "%04x", id);
	return first_line(file) == text;
}

std::vector<Camera> find_cameras()
{
	std::vector<Camera> found;
	std::error_code error; /* what goes away during the search counts as not there */

	for (fs::directory_iterator entry(NODES, error), end; !error && entry != end; entry.increment(error)) {
		const std::string node = "/dev/" + entry->path().filename().string();
		std::error_code gone;
		const fs::path device = fs::canonical(entry->path() / "device", gone).parent_path();

		/* The first node is that of the frames; a second one has their metadata. When a camera goes, its node
		 * in /dev goes before its entry in sysfs. */
		if (!gone && first_line(entry->path() / "index") == "0" &&
		    has_id(device / "idVendor", DS325_USB_VENDOR) && has_id(device / "idProduct", DS325_USB_PRODUCT) &&
		    !access(node.c_str(), F_OK))
			found.push_back({ device.filename(), node, first_line(device / "serial") });
	}
	return found;
}

/* SPDX-License-Identifier: MIT */
/* Which DS325 are plugged in, as sysfs tells: nothing is opened, so that looking disturbs no stream. */
#ifndef DS325_OPENNI2_CAMERAS_H
#define DS325_OPENNI2_CAMERAS_H

#include <string>
#include <vector>

struct Camera {
	std::string port; /* where it is plugged in, "1-1.4": stays the same when it comes back as another node */
	std::string node; /* "/dev/video0" */
	std::string serial; /* empty if it has none */
};

std::vector<Camera> find_cameras();

#endif

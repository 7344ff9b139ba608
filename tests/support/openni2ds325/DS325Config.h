// SPDX-License-Identifier: MIT
#pragma once
struct DS325Config {
	static int GetDeviceID() { return 0; }
	static bool GetWithContour() { return std::getenv("DS325_CONTOUR") != nullptr; }
};

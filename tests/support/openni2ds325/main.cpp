// SPDX-License-Identifier: MIT
/* main FILE FRAMES [OUT]: the published driver's main loop on FRAMES frames, those of FILE again and again. */
#include <cstdio>
#include <cstdlib>

#define private public /* its main loop, */
#define protected public /* its memory */
#include "DepthDS325Stream.h"
#undef private
#undef protected

int main(int argc, char **argv)
{
	static unsigned short handed_out[320 * 240];
	DepthDS325Stream stream;
	OniFrame frame = {};
	FILE *file = argc >= 3 ? std::fopen(argv[1], "rb") : nullptr;

	if (!file)
		return 2;
	std::fseek(file, 0, SEEK_END);
	const long bytes = std::ftell(file);
	std::rewind(file);
	/* The last blocks' words of I are read with the Q beyond them. */
	stream.source = static_cast<unsigned char *>(std::malloc((std::size_t)bytes + 64));
	stream.kept = (std::size_t)bytes / 307200;
	if (!stream.kept || std::fread(stream.source, (std::size_t)bytes, 1, file) != 1)
		return 2;
	stream.frames = (std::size_t)std::atol(argv[2]);
	stream.out = argc > 3 ? std::fopen(argv[3], "wb") : nullptr;
	frame.data = handed_out;
	frame.dataSize = sizeof(handed_out);
	stream.services.frame = &frame;
	stream.start();
	std::memset(stream.data->depth_map, 0, sizeof(handed_out)); /* its end is never written */
	stream.Mainloop();
	if (stream.out)
		std::fclose(stream.out);
	return 0;
}

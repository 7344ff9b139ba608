// SPDX-License-Identifier: MIT
/*
 * rtqual-firmware COMMAND [WORD...]: what a Raspberry Pi's firmware answers, as its makers' vcgencmd prints it.
 *
 * Candidates on a board have no vcgencmd, and the kernel's own file tells the state of two seconds ago only. The
 * message is that of the mailbox property interface (github.com/raspberrypi/firmware/wiki/Mailbox-property-interface),
 * with vcgencmd's tag, through the device that the Raspberry Pi's kernels have for it. Not tried on a board.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

enum { TAG_GENCMD = 0x00030080, TEXT_SIZE = 1024 };

struct message {
	uint32_t size, code;
	uint32_t tag, tag_size, tag_code;
	uint32_t error;
	char text[TEXT_SIZE]; /* the command, then the answer */
	uint32_t end;
};

#define VCIO_PROPERTY _IOWR(100, 0, char *)

int main(int argc, char **argv)
{
	static const char device[] = "/dev/vcio";
	struct message message = {
		.size = sizeof(message),
		.tag = TAG_GENCMD,
		.tag_size = TEXT_SIZE,
	};
	size_t used = 0;
	int file, i;

	for (i = 1; i < argc; i++) {
		int added = snprintf(message.text + used, TEXT_SIZE - used, "%s%s", i > 1 ? " " : "", argv[i]);

		if (added < 0 || (size_t)added >= TEXT_SIZE - used) {
			fprintf(stderr, "rtqual-firmware: the command is longer than %d bytes\n", TEXT_SIZE - 1);
			return 2;
		}
		used += (size_t)added;
	}
	file = open(device, O_RDONLY | O_CLOEXEC);
	if (file < 0 || ioctl(file, VCIO_PROPERTY, &message) < 0) {
		fprintf(stderr, "rtqual-firmware: %s: %s\n", device, strerror(errno));
		return 1;
	}
	message.text[TEXT_SIZE - 1] = '\0';
	if (message.error) {
		fprintf(stderr, "rtqual-firmware: the firmware answers with error %u\n", (unsigned int)message.error);
		return 1;
	}
	puts(message.text);
	return 0;
}

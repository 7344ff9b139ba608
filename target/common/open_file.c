// SPDX-License-Identifier: MIT
/* Apart from command_line.c: the probe, whose instructions are counted, reads no files. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "command_line.h"

/* Why it cannot be read as a file; NULL: it can. */
static const char *no_file(int failed, const struct stat *status)
{
	return failed                   ? strerror(errno) :
	       S_ISREG(status->st_mode) ? NULL :
	       S_ISDIR(status->st_mode) ? "this is a folder, and a file is needed" :
					  "this is a pipe, a socket or a device, and a file is needed";
}

int open_file(const char *what, const char *path, long long *bytes)
{
	struct stat status;
	/* Looked at first, since a device may act when it is opened; and again, since the name may lead elsewhere by
	 * then. */
	const char *why = no_file(stat(path, &status), &status);
	int fd = why ? -1 : open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (!why)
		why = no_file(fd < 0 || fstat(fd, &status), &status);
	if (why)
		die(BAD_INPUT, "%s%s: %s", what, path, why);
	*bytes = status.st_size;
	return fd;
}

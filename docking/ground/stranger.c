// SPDX-License-Identifier: MIT
/*
 * A stranger at the flight program's port, a process of its own: more connections than there are places, each made anew
 * again and again, and on all of them sound packets that are for another process, as fast as they are taken.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stranger.h"

enum { CONNECTIONS = 8, FDS = 256, PAUSE_US = 1000, ANEW = 64 }; /* one is made anew in so many rounds */

static const uint8_t foreign[] = { 0x18, 0x43, 0xc0, 0x03, 0x00, 0x06, 0x2f, 0x11, 0x01, 0x00, 0x00, 0x72, 0xf8 };

static int reach(const struct sockaddr_in *where)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd >= 0 && connect(fd, (const struct sockaddr *)where, sizeof(*where)) && errno != EINPROGRESS) {
		close(fd);
		return -1;
	}
	return fd;
}

static void __attribute__((noreturn)) annoy(const struct sockaddr_in *where)
{
	const struct sched_param none = { 0 };
	uint8_t heard[4096];
	int fd[CONNECTIONS];

	/* What is the ground's stays the ground's: its link would not close, its priority would stop the board. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &none);
	for (int one = STDERR_FILENO + 1; one < FDS; one++)
		close(one);
	memset(fd, -1, sizeof(fd));
	for (unsigned round = 0;; round++) {
		for (int one = 0; one < CONNECTIONS; one++) {
			if (fd[one] >= 0 && round % ANEW == (unsigned)one) {
				close(fd[one]);
				fd[one] = -1;
			}
			if (fd[one] < 0)
				fd[one] = reach(where);
			if (fd[one] < 0)
				continue;
			if ((send(fd[one], foreign, sizeof(foreign), MSG_NOSIGNAL) < 0 && errno != EAGAIN) ||
			    !recv(fd[one], heard, sizeof(heard), 0)) {
				close(fd[one]);
				fd[one] = -1;
			}
		}
		usleep(PAUSE_US);
	}
}

const char *stranger(pid_t *process, const struct sockaddr_in *where, const char *what)
{
	if (strcmp(what, "comes") && strcmp(what, "goes"))
		return "a stranger comes or goes";
	if (*process > 0) {
		kill(*process, SIGKILL);
		waitpid(*process, NULL, 0);
		*process = 0;
	}
	if (!strcmp(what, "goes"))
		return NULL;
	*process = fork();
	if (!*process)
		annoy(where);
	return *process < 0 ? strerror(errno) : NULL;
}

// SPDX-License-Identifier: MIT
/* ds325-emulator: makes or reads frames, plugs the camera in, and reports at the end what became of the frames. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "options.h"
#include "recording.h"
#include "server.h"
#include "session.h"
#include "vhci.h"

static void *zeroed(size_t count, size_t size)
{
	void *memory = calloc(count, size);

	if (!memory)
		die(RUN_FAILED, "no memory for %zu bytes", count * size);
	return memory;
}

static uint64_t cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000 +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

static int signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		die(RUN_FAILED, "signals cannot be blocked: %s", strerror(errno));
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		die(RUN_FAILED, "no signalfd: %s", strerror(errno));
	return fd;
}

/* Created if it does not exist. Opened for reading and writing, so that it never reports its end. */
static int control_fifo(const char *path)
{
	struct stat status;
	int fd;

	if (!path)
		return -1;
	if (mkfifo(path, 0600) && errno != EEXIST)
		die(BAD_INPUT, "the FIFO %s cannot be made: %s", path, strerror(errno));
	if (!stat(path, &status) && !S_ISFIFO(status.st_mode))
		die(BAD_INPUT, "--control %s: this is there and no FIFO", path);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &status) || !S_ISFIFO(status.st_mode))
		die(BAD_INPUT, "the FIFO %s cannot be opened: %s", path, strerror(errno));
	return fd;
}

/* Moves the rest of the run to the background; the caller continues when the camera is plugged in. */
static void into_background(void)
{
	pid_t child = fork();

	if (child < 0)
		die(RUN_FAILED, "cannot go to the background: %s", strerror(errno));
	if (child)
		_exit(0);
	setsid();
}

static void run_attached(const struct options *options, struct session *session)
{
	bool daemon = options->daemon;
	enum session_end end;

	do {
		session->socket = vhci_attach(options->settings.speed, options->interrupts);
		if (daemon)
			into_background();
		daemon = false;
		end = session_run(session);
		close(session->socket); /* the host sees an unplug */
		if (end == SESSION_UNPLUGGED && session->device->replug_ms)
			end = session_wait(session, session->device->replug_ms);
		else
			break;
	} while (end != SESSION_SIGNAL);
}

static void run_served(const struct options *options, struct session *session)
{
	struct server server;
	enum session_end end;

	server_listen(&server, &options->settings, options->listen);
	if (options->daemon)
		into_background();
	for (;;) {
		session->server = &server;
		end = session_await_host(session);
		if (end == SESSION_SIGNAL)
			break;
		end = session_run(session);
		close(session->socket);
		if (end == SESSION_UNPLUGGED && session->device->replug_ms) {
			session->server = NULL; /* who asks meanwhile waits until it is plugged in again */
			end = session_wait(session, session->device->replug_ms);
		}
		if (end != SESSION_HOST_LEFT)
			break;
		server_free(&server);
	}
	server_close(&server);
}

static void report(const struct options *options, const struct log *log, uint64_t render_ns, uint64_t stream_ns)
{
	FILE *out = options->report ? fopen(options->report, "w") : stdout;
	const struct {
		const char *name;
		uint64_t value;
	} lines[] = {
		{ "frames_sent", log->sent },
		{ "frames_lost_without_urb", log->lost },
		{ "frames_dropped", log->dropped },
		{ "frames_cut", log->cut },
		{ "bytes", log->bytes },
		{ "plugged", log->plugs },
		{ "streams", log->streams },
		{ "control_requests", log->control_requests },
		{ "unit_requests", log->unit_requests },
		{ "late_most_ns", log->late_most_ns },
		{ "render_cpu_ns", render_ns },
		{ "stream_cpu_ns", stream_ns },
	};

	if (!out)
		die(RUN_FAILED, "the report %s cannot be written: %s", options->report, strerror(errno));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		fprintf(out, "%s %llu\n", lines[i].name, (unsigned long long)lines[i].value);
	if (out == stdout ? fflush(out) : fclose(out))
		die(RUN_FAILED, "the report cannot be written: %s", strerror(errno));
	if (!options->log)
		return;
	out = fopen(options->log, "w");
	if (!out || log_write(log, out) || fclose(out))
		die(RUN_FAILED, "the log %s cannot be written: %s", options->log, strerror(errno));
}

/* The real camera waits for no scheduler. By system call: musl's function refuses, because in POSIX it is for
 * processes. */
static void raise_priority(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (priority && syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &param))
		die(RUN_FAILED, "no real-time priority %d: %s", priority, strerror(errno));
}

static void run(struct options *options, const struct lens *lens)
{
	struct log log = { .entries = options->log ? zeroed(LOG_ENTRIES, sizeof(struct log_entry)) : NULL };
	struct frames frames = { .confidence = options->settings.confidence,
				 .modulation_hz = options->sensor.modulation_hz,
				 .lens = lens,
				 .scratch = zeroed(1, DS325_FRAME_BYTES) };
	struct device *device = zeroed(1, sizeof(*device));
	struct session session = { .device = device, .control = control_fifo(options->control) };
	struct truth *truths = zeroed(options->frames, sizeof(*truths));
	pid_t renderer = getpid();
	struct live live;
	uint64_t render_ns;

	*device = (struct device){ .settings = &options->settings,
				   .frames = &frames,
				   .faults = &options->faults,
				   .log = &log,
				   .scratch = zeroed(1, DS325_FRAME_BYTES) };
	if (options->steered) {
		live_begin(&live, options, lens);
		frames.live = &live;
		frames.count = options->frames;
	} else if (options->replay) {
		recording_replay(options, &frames);
	} else {
		recording_render(options, lens, &frames, truths);
	}
	if (options->truth)
		recording_truth(options, &frames, truths, options->truth);
	render_ns = cpu_ns();
	session.signals = signals(); /* until here a signal ends the program at once */
	raise_priority(options->priority);
	if (options->attach)
		run_attached(options, &session);
	else
		run_served(options, &session);
	report(options, &log, render_ns, cpu_ns() - (getpid() == renderer ? render_ns : 0));
	if (frames.live)
		live_end(frames.live);
	free(truths);
	free(device->scratch);
	free(device);
	free(frames.scratch);
	free(log.entries);
}

int main(int argc, char **argv)
{
	struct options *options = zeroed(1, sizeof(*options));
	struct lens *lens = zeroed(1, sizeof(*lens));

	options_read(options, argc, argv);
	lens->k1 = options->k1;
	lens->k2 = options->k2;
	lens_make(lens);
	if (options->write)
		recording_write(options, lens);
	else
		run(options, lens);
	free(lens);
	free(options);
	return 0;
}

// SPDX-License-Identifier: MIT
/* Watches the threads, feeds the watchdog, writes files. It runs without a real-time priority: what it does may wait. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/watchdog.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/crc32.h"
#include "sabotage.h"
#include "world.h"

enum { LOOK_MS = 100, RETRY_MS = 1000 };
/* Without a sign so long, a thread counts as stuck. A camera that does not answer keeps its thread for
 * several of USB's timeouts of 5 s; that must not reset the board. */
static const uint32_t patience_ms[THREAD_COUNT] = {
	[THREAD_CONTROL] = 300, [THREAD_CAMERA] = 20000, [THREAD_COMMANDS] = 1000, [THREAD_LINK] = 1000
};

struct supervisor {
	struct world *world;
	int watchdog;
	struct kept kept;
	uint64_t counter;
	bool unsaved, counter_unsaved, save_failed;
	uint64_t retry_ns;
	struct {
		uint32_t beat;
		uint64_t at_ns;
		bool silent;
	} thread[THREAD_COUNT];
};

static struct supervisor *the_supervisor(void)
{
	static struct supervisor supervisor;

	return &supervisor;
}

static volatile sig_atomic_t *told_to_end(void)
{
	static volatile sig_atomic_t told;

	return &told;
}

static void on_signal(int number)
{
	(void)number;
	*told_to_end() = 1;
}

void supervisor_ready(struct world *world)
{
	struct supervisor *supervisor = the_supervisor();
	const struct options *options = &world->options;
	struct sigaction end = { .sa_handler = on_signal }, ignore = { .sa_handler = SIG_IGN };
	int seconds = (int)options->watchdog_s;

	supervisor->world = world;
	supervisor->watchdog = -1;
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGINT, &end, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	if (!options->watchdog)
		return;
	supervisor->watchdog = open(options->watchdog, O_WRONLY | O_CLOEXEC);
	if (supervisor->watchdog < 0)
		die(RUN_FAILED, "--watchdog=%s: %s", options->watchdog, strerror(errno));
	if (ioctl(supervisor->watchdog, WDIOC_SETTIMEOUT, &seconds) && errno != ENOTTY && errno != EOPNOTSUPP)
		die(RUN_FAILED, "--watchdog-s=%d: %s", seconds, strerror(errno));
	atomic_store(&world->watchdog_on, 1);
}

/* Has the watchdog reset the board? Not all drivers know. */
static bool by_watchdog(const struct supervisor *supervisor)
{
	int status = 0;

	return supervisor->watchdog >= 0 && !ioctl(supervisor->watchdog, WDIOC_GETBOOTSTATUS, &status) &&
	       status & WDIOF_CARDRESET;
}

enum cause supervisor_cause(enum cause cause)
{
	return cause == CAUSE_RESET && by_watchdog(the_supervisor()) ? CAUSE_WATCHDOG : cause;
}

static void say(const struct supervisor *supervisor, enum word word, uint32_t value, uint32_t detail)
{
	tell(supervisor->world, TOLD_SUPERVISOR, word, value, detail);
}

/* Have all threads given a sign? */
static bool all_live(struct supervisor *supervisor, uint64_t now)
{
	bool live = true;

	for (uint32_t one = 0; one < THREAD_COUNT; one++) {
		const uint32_t beat = atomic_load(&supervisor->world->beat[one]);
		uint32_t silence_ms = (uint32_t)((now - supervisor->thread[one].at_ns) / 1000000);

		if (beat != supervisor->thread[one].beat || !supervisor->thread[one].at_ns) {
			if (supervisor->thread[one].silent)
				say(supervisor, WORD_SIGN, one, silence_ms);
			supervisor->thread[one].silent = false;
			supervisor->thread[one].beat = beat;
			supervisor->thread[one].at_ns = now;
			continue;
		}
		if (silence_ms < patience_ms[one])
			continue;
		if (!supervisor->thread[one].silent)
			say(supervisor, WORD_SILENT, one, silence_ms);
		supervisor->thread[one].silent = true;
		live = false;
	}
	return live;
}

static bool read_number(const char *path, int field, long *number)
{
	char text[128] = { 0 }, *at = text;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	for (; field && at; field--)
		at = strchr(at + 1, ' ');
	if (got <= 0 || !at)
		return false;
	*number = strtol(at, NULL, 10);
	return true;
}

static void measure(struct world *world)
{
	struct rusage usage;
	long number;

	getrusage(RUSAGE_SELF, &usage);
	atomic_store(&world->page_faults, (uint32_t)(usage.ru_minflt + usage.ru_majflt));
	if (read_number("/proc/self/statm", 1, &number))
		atomic_store(&world->memory_kib, (uint32_t)(number * (sysconf(_SC_PAGESIZE) / 1024)));
	if (read_number("/sys/class/thermal/thermal_zone0/temp", 0, &number)) {
		atomic_store(&world->temperature_mc, (uint32_t)(int32_t)number);
		atomic_store(&world->temperature_known, 1);
	}
}

/* Is there something new in it? */
static bool renewed(struct snapshot *snapshot, uint32_t *seen, void *to)
{
	const uint32_t lock = atomic_load(&snapshot->lock);

	if (lock == *seen || !snapshot_read(snapshot, to))
		return false;
	*seen = lock;
	return true;
}

static void save(struct supervisor *supervisor, uint64_t now)
{
	struct world *world = supervisor->world;
	const char *path = world->options.state;
	static uint32_t seen, counter_seen;
	int why = 0;

	supervisor->counter_unsaved |= renewed(&world->counter, &counter_seen, &supervisor->counter);
	supervisor->unsaved |= renewed(&world->kept, &seen, &supervisor->kept);
	if (!path || now < supervisor->retry_ns || !(supervisor->unsaved || supervisor->counter_unsaved))
		return;
	if (supervisor->counter_unsaved && !counter_write(path, supervisor->counter))
		why = errno;
	else
		supervisor->counter_unsaved = false;
	if (supervisor->unsaved && !keep_write(path, &supervisor->kept)) {
		why = errno;
	} else if (supervisor->unsaved) {
		supervisor->unsaved = false;
		atomic_fetch_add(&world->state_writes, 1);
	}
	if (!why) {
		supervisor->save_failed = false;
		return;
	}
	supervisor->retry_ns = now + RETRY_MS * 1000000ull;
	atomic_fetch_add(&world->state_failures, 1);
	if (!supervisor->save_failed) /* once a series */
		say(supervisor, WORD_STATE_FAILED, (uint32_t)why, atomic_load(&world->state_failures));
	supervisor->save_failed = true;
}

static void write_frame(struct supervisor *supervisor)
{
	struct world *world = supervisor->world;
	const char *path = world->options.frame;
	bool kept = false;
	int fd;

	if (!atomic_load(&world->frame_held))
		return;
	fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600) : -1;
	if (fd >= 0) {
		kept = write(fd, world->frame, world->frame_octets) == (ssize_t)world->frame_octets;
		kept &= !close(fd);
	}
	say(supervisor, WORD_FRAME_KEPT, kept, 0);
	atomic_store(&world->frame_held, 0);
}

/* A file that goes down, as it is now; one that does not fit is not there. */
static void read_file(struct supervisor *supervisor)
{
	struct world *world = supervisor->world;
	const uint32_t wanted = atomic_load(&world->file_wanted);
	const char *path = wanted == FILE_LOG + 1 ? world->options.log : world->options.frame;
	size_t octets = 0;
	ssize_t got = -1;
	int fd;

	if (!wanted)
		return;
	fd = path ? open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC) : -1;
	while (fd >= 0 && octets < sizeof(world->file) &&
	       (got = read(fd, world->file + octets, sizeof(world->file) - octets)) > 0)
		octets += (size_t)got;
	if (fd >= 0)
		close(fd);
	world->file[octets / 2] ^= SABOTAGE_ALTERS && octets < sizeof(world->file);
	atomic_store(&world->file_wanted, 0);
	if (got)
		say(supervisor, WORD_NO_FILE, 0, 0);
	else
		say(supervisor, WORD_FILE, (uint32_t)octets, crc32_add(0, world->file, octets));
}

/* Nothing more is to come: the last state is written, the watchdog let go or left running. */
static void end(struct supervisor *supervisor, bool again, char **argv)
{
	struct world *world = supervisor->world;

	supervisor->retry_ns = 0;
	save(supervisor, now_ns());
	supervisor->kept.settings.orderly = true;
	supervisor->unsaved = supervisor->kept.settings.boots > 0;
	save(supervisor, now_ns());
	if (!again) {
		if (supervisor->watchdog >= 0 && write(supervisor->watchdog, "V", 1) < 0)
			die(RUN_FAILED, "--watchdog=%s: %s", world->options.watchdog, strerror(errno));
		exit(0);
	}
	wait_for(world->wake_supervisor, LOOK_MS); /* what is on its way to the ground goes first */
	usleep(LOOK_MS * 1000);
	execv("/proc/self/exe", argv);
	die(RUN_FAILED, "starting anew: %s", strerror(errno));
}

static void leak(void)
{
	volatile char *const taken = malloc(8192);

	if (taken)
		*taken = 1;
}

void supervise(struct world *world, char **argv)
{
	struct supervisor *supervisor = the_supervisor();
	const struct sched_param none = { 0 };
	uint64_t look_ns = 0;

	/* Whoever started it may have had a real-time priority. By the system call, as in become_realtime(). */
	if (syscall(SYS_sched_setscheduler, 0, SCHED_OTHER, &none))
		die(RUN_FAILED, "SCHED_OTHER: %s", strerror(errno));
	/* Before all other programs: a killed program ends, and a watchdog is fed, when this thread gets its turn. */
	if (setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), -20) && !world->options.no_realtime)
		die(RUN_FAILED, "nice -20: %s", strerror(errno));
	for (;;) {
		uint64_t now = now_ns();

		if (now >= look_ns) {
			look_ns = now + LOOK_MS * 1000000ull;
			measure(world);
			if (SABOTAGE_LEAKS)
				leak();
			if (all_live(supervisor, now) && supervisor->watchdog >= 0 && !SABOTAGE_WATCHDOG &&
			    write(supervisor->watchdog, "", 1) != 1)
				atomic_store(&world->watchdog_on, 0);
		}
		save(supervisor, now);
		write_frame(supervisor);
		read_file(supervisor);
		if (*told_to_end())
			end(supervisor, false, argv);
		if (atomic_load(&world->restart))
			end(supervisor, true, argv);
		wait_for(world->wake_supervisor, LOOK_MS);
	}
}

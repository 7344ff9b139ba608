// SPDX-License-Identifier: MIT
/*
 * rest - wait until a booted system is at rest: what is measured before that is its boot.
 *
 * At rest means that for two windows in a row no process, kernel threads included, took more than 1 % of a CPU, and
 * nothing of the kernel's own start is pending: self-tests of ciphers, the random generator, modules, device probes. A
 * thread that wakes up now and then for good is no transient, so the share is one of a whole window. Each probe reads
 * what the kernel tells, and where a kernel does not tell, nothing is pending.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "../common/crc32.h"
#include "machine.h"
#include "rest.h"

#define LEAST_SHARE 100 /* of one CPU over a window that is 1 %; a thread that runs 300 us each 50 ms takes 0.6 % */
#define NS_PER_S 1000000000LL
#define DEBUG_FS "/sys/kernel/debug"

enum { NAME = 80 }; /* a worker's name is followed by what it does */

struct spent {
	pid_t pid;
	int64_t ns;
};

/* The processes of a look, and what has happened since the look before. */
struct look {
	int64_t at_ns;
	int64_t all_ns; /* what all threads that ever were have spent */
	struct spent *spent;
	size_t processes, room;
	const struct look *before;
	char busiest[NAME];
	int64_t busiest_ns, seen_ns; /* the process that spent most, and all that are there */
	uint32_t deferred;  /* checksum of the devices that wait for others */
	const char *unrest; /* NULL at rest */
	char awaited[2 * NAME];
};

static int64_t now_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now))
		die("cannot read the clock: %s", strerror(errno));
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/* The CPU clocks of processes count ns and, unlike /proc/PID/schedstat, exist on every kernel. */
int each_process(process_fn tell, void *with)
{
	DIR *processes = opendir("/proc");
	const struct dirent *entry;

	if (!processes)
		return -1;
	while ((entry = readdir(processes))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
		char path[40], name[NAME] = "";
		struct timespec spent;
		clockid_t clock;
		FILE *comm;

		if (pid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		comm = fopen(path, "re");
		if (!comm)
			continue; /* it has ended */
		if (fgets(name, sizeof(name), comm) && !clock_getcpuclockid(pid, &clock) &&
		    !clock_gettime(clock, &spent)) {
			name[strcspn(name, "\n")] = '\0';
			tell(with, pid, spent.tv_sec * NS_PER_S + spent.tv_nsec, name);
		}
		fclose(comm);
	}
	return closedir(processes);
}

/*
 * A processor's seventh figure is what threads other than the idle one have run on it; 0 where the kernel counts none. So
 * those are seen too that have ended between two looks.
 */
static int64_t spent_by_all(void)
{
	FILE *processors = fopen("/proc/schedstat", "re");
	char line[4096]; /* as long as the kernel's sets of processors make it */
	long long ns, all_ns = 0;

	if (!processors)
		return 0;
	while (fgets(line, sizeof(line), processors)) {
		if (sscanf(line, "cpu%*d %*u %*u %*u %*u %*u %*u %lld", &ns) == 1)
			all_ns += ns;
	}
	fclose(processors);
	return all_ns;
}

static int64_t spent_before(const struct look *before, pid_t pid)
{
	for (size_t i = 0; i < before->processes; i++) {
		if (before->spent[i].pid == pid)
			return before->spent[i].ns;
	}
	return 0; /* it began since */
}

static void note_process(void *with, pid_t pid, int64_t spent_ns, const char *name)
{
	struct look *look = with;
	int64_t since_ns = look->before ? spent_ns - spent_before(look->before, pid) : 0;

	look->seen_ns += since_ns;
	if (look->processes == look->room) {
		look->room = look->room ? 2 * look->room : 256;
		look->spent = realloc(look->spent, look->room * sizeof(*look->spent));
		if (!look->spent)
			die("cannot allocate %zu processes", look->room);
	}
	look->spent[look->processes++] = (struct spent){ .pid = pid, .ns = spent_ns };
	if (since_ns > look->busiest_ns && pid != getpid()) {
		look->busiest_ns = since_ns;
		snprintf(look->busiest, sizeof(look->busiest), "%s", name);
	}
}

/* --- what the kernel tells of its start -------------------------------------------------------- */

/* In /proc/crypto a cipher's fields follow each other, its name first; an untested one has "selftest : unknown". */
static bool tests_itself(char *what, size_t size)
{
	FILE *crypto = fopen("/proc/crypto", "re");
	char line[256], driver[64] = "";
	bool tests = false;

	if (!crypto)
		return false;
	while (!tests && fgets(line, sizeof(line), crypto)) {
		sscanf(line, "driver : %63s", driver);
		tests = !strncmp(line, "selftest", 8) && strstr(line, "unknown");
	}
	fclose(crypto);
	if (tests)
		snprintf(what, size, "the kernel's self-test of %s", driver);
	return tests;
}

static bool lacks_entropy(char *what, size_t size)
{
	char byte;
	bool lacks = getrandom(&byte, 1, GRND_NONBLOCK) < 0 && errno == EAGAIN;

	if (lacks)
		snprintf(what, size, "the random generator");
	return lacks;
}

/* name size users by state address */
static bool loads_module(char *what, size_t size)
{
	FILE *modules = fopen("/proc/modules", "re");
	char line[1024], name[64];
	bool loads = false;

	if (!modules)
		return false;
	while (!loads && fgets(line, sizeof(line), modules)) {
		loads = strstr(line, " Loading ") && sscanf(line, "%63s", name) == 1;
	}
	fclose(modules);
	if (loads)
		snprintf(what, size, "the module %s", name);
	return loads;
}

/* Devices may wait for others for good, so only a change of the list is a start that goes on. */
static uint32_t deferred_devices(void)
{
	FILE *devices = fopen(DEBUG_FS "/devices_deferred", "re");
	unsigned char bytes[4096];
	uint32_t sum = 0;
	size_t got;

	if (!devices)
		return 0;
	while ((got = fread(bytes, 1, sizeof(bytes), devices)))
		sum = crc32_add(sum, bytes, got);
	fclose(devices);
	return sum;
}

/* The list of deferred devices lies in debugfs: mounted for this process alone, where that is allowed. */
static void mount_debugfs(void)
{
	if (access(DEBUG_FS "/devices_deferred", F_OK) && !unshare(CLONE_NEWNS) &&
	    !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) && mount("none", DEBUG_FS, "debugfs", 0, NULL))
		return; /* no debugfs in this kernel: nothing is known of such devices */
}

/* --- looks ------------------------------------------------------------------------------------- */

static bool starts(struct look *look, const struct look *before)
{
	char *what = look->awaited;
	size_t size = sizeof(look->awaited);

	if (tests_itself(what, size) || lacks_entropy(what, size) || loads_module(what, size))
		return true;
	if (!before || look->deferred == before->deferred)
		return false;
	snprintf(what, size, "probes of deferred devices");
	return true;
}

static void take_look(struct look *look, const struct look *before)
{
	int64_t since_ns;

	free(look->spent);
	*look = (struct look){
		.before = before, .at_ns = now_ns(), .all_ns = spent_by_all(), .deferred = deferred_devices()
	};
	if (each_process(note_process, look))
		die("cannot open /proc: %s", strerror(errno));
	if (before && look->all_ns - before->all_ns - look->seen_ns > look->busiest_ns) {
		look->busiest_ns = look->all_ns - before->all_ns - look->seen_ns;
		snprintf(look->busiest, sizeof(look->busiest), "processes that have ended");
	}
	since_ns = before ? look->at_ns - before->at_ns : 0;
	if (starts(look, before)) {
		look->unrest = "start";
	} else if (look->busiest_ns > since_ns / LEAST_SHARE) {
		look->unrest = "busy";
		snprintf(look->awaited, sizeof(look->awaited), "%s, %.1f %% of a CPU", look->busiest,
			 100.0 * (double)look->busiest_ns / (double)since_ns);
	}
}

/* Anything may be in a name. */
static void print_text(const char *name, const char *text)
{
	if (!*text)
		return;
	printf("%s=", name);
	for (; *text; text++)
		putchar(isprint((unsigned char)*text) ? *text : '?');
	putchar('\n');
}

int rest(int64_t window_ns, int64_t limit_ns)
{
	struct look looks[2] = { 0 }, *look = &looks[0];
	int64_t began_ns = now_ns(), since_ns = 0, most_ns = 0;
	const char *unrest = "busy";
	char awaited[sizeof(look->awaited)] = "";
	int quiet = 0;

	mount_debugfs();
	take_look(look, NULL);
	for (int number = 1; quiet < 2 && since_ns + (2 - quiet) * window_ns <= limit_ns; number++) {
		const struct look *before = look;

		sleep_ns(window_ns);
		look = &looks[number % 2];
		take_look(look, before);
		since_ns = look->at_ns - began_ns;
		quiet = look->unrest ? 0 : quiet + 1;
		if (look->unrest && look->busiest_ns >= most_ns) { /* the busiest of all windows is named */
			most_ns = look->busiest_ns;
			unrest = look->unrest;
			snprintf(awaited, sizeof(awaited), "%s", look->awaited);
		}
	}
	printf("rest_ns=%lld\nrest_window_ns=%lld\n", (long long)since_ns, (long long)window_ns);
	print_text("rest_awaited", awaited);
	if (look->busiest_ns) {
		print_text("rest_busiest", look->busiest);
		printf("rest_busiest_ns=%lld\n", (long long)look->busiest_ns);
	}
	print_text("unrest", quiet < 2 ? unrest : "");
	free(looks[0].spent);
	free(looks[1].spent);
	return 0;
}

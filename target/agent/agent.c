// SPDX-License-Identifier: MIT
/*
 * rtqual-agent: the few things a run needs that no shell can do.
 *
 *   run DIR NAME FIFO PROGRAM [ARG...]  run a program; leave NAME.out, .err, .status and .threads in DIR
 *   phase SEED                          shift what follows by a seed-dependent memory layout and delay
 *   seed                                give the random generator entropy where it has none: on the virtual board
 *   resolution                          print the resolution of CLOCK_MONOTONIC in ns
 *   times                               print each process: its id, CPU time in ns, name
 *   rest WINDOW LIMIT                   wait until the system is at rest for two windows of so many ms, within a limit,
 *                                       and print what was seen (rest.c)
 *   raise FIFO                          run the calling shell under SCHED_FIFO (busybox has no chrt)
 *   now | pause | job | send FILE | exit N   on the virtual board: print the ns since it was switched on, stop
 *                                       for a snapshot, print the job handed in by the host, send stdin as one
 *                                       checked frame, leave the emulator
 *
 * What differs between the virtual boards' processors is in machine_x86.c and machine_arm.c; the build takes one.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "../common/crc32.h"
#include "machine.h"
#include "rest.h"

enum { FW_DIRECTORY = 0x19 }; /* QEMU's docs/specs/fw_cfg */

static const char job_item[] = "opt/rtqual/job";

void die(const char *format, ...)
{
	va_list args;

	fputs("rtqual-agent: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(125);
}

static long number(const char *text)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || *end || end == text)
		die("%s is not a number", text);
	return value;
}

static int64_t milliseconds(const char *text)
{
	long value = number(text);

	if (value < 1 || value > 86400000)
		die("%s is not 1 to 86400000 ms", text);
	return value * INT64_C(1000000);
}

static FILE *open_in(const char *dir, const char *name, const char *suffix)
{
	char path[4096];
	FILE *file;

	if (snprintf(path, sizeof(path), "%s/%s.%s", dir, name, suffix) >= (int)sizeof(path))
		die("the path %s/%s.%s is too long", dir, name, suffix);
	file = fopen(path, "we");
	if (!file)
		die("cannot write %s: %s", path, strerror(errno));
	return file;
}

void sleep_ns(int64_t ns)
{
	struct timespec left = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

/* --- run --------------------------------------------------------------------------------------- */

/* Returns the thread's real-time priority. */
static int print_thread(FILE *out, pid_t tid, const char *name)
{
	struct sched_param param = { 0 };
	int policy = sched_getscheduler(tid);
	cpu_set_t cpus;

	if (policy < 0 || sched_getparam(tid, &param) || sched_getaffinity(tid, sizeof(cpus), &cpus))
		return 0; /* it has ended meanwhile */
	fprintf(out, "%d %d %d ", tid, policy & ~SCHED_RESET_ON_FORK, param.sched_priority);
	for (int cpu = 0, first = 1; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &cpus)) {
			fprintf(out, "%s%d", first ? "" : ",", cpu);
			first = 0;
		}
	}
	fprintf(out, " %s\n", name);
	return param.sched_priority;
}

/* Returns the highest real-time priority among the program's threads. */
static int print_threads(FILE *out, pid_t pid)
{
	char path[64], name[64];
	struct dirent *entry;
	int highest = 0;
	DIR *tasks;
	FILE *comm;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return 0; /* the program ended */
	while ((entry = readdir(tasks))) {
		pid_t tid = atoi(entry->d_name);

		if (tid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
		comm = fopen(path, "re");
		if (!comm)
			continue;
		if (fgets(name, sizeof(name), comm)) {
			int priority;

			name[strcspn(name, "\n")] = '\0';
			priority = print_thread(out, tid, name);
			highest = priority > highest ? priority : highest;
		}
		fclose(comm);
	}
	closedir(tasks);
	return highest;
}

/*
 * Look at the program's threads until it ends. First often, until a thread is above the priority it was started with: a
 * tool may take a second to start a measurement that lasts a tenth of one. Then ever more seldom, since looking
 * disturbs. The lowest real-time priority gets past a load and never delays a real-time measurement.
 */
static void watch_threads(const char *dir, const char *name, pid_t pid, int fifo)
{
	const int64_t shortest_ns = 20000000;
	FILE *out = open_in(dir, name, "threads");
	int64_t waited_ns = 0, wait_ns = shortest_ns;
	int seen = 0;

	for (;;) {
		sleep_ns(wait_ns);
		waited_ns += wait_ns;
		if (kill(pid, 0))
			break;
		seen |= print_threads(out, pid) > fifo;
		fflush(out);
		wait_ns = seen ? waited_ns : waited_ns / 16;
		wait_ns = wait_ns < shortest_ns ? shortest_ns : wait_ns;
	}
	fclose(out);
}

static void set_policy(pid_t pid, int fifo)
{
	struct sched_param param = { .sched_priority = fifo };

	if (sched_setscheduler(pid, fifo ? SCHED_FIFO : SCHED_OTHER, &param))
		die("cannot set %s priority %d: %s", fifo ? "SCHED_FIFO" : "SCHED_OTHER", fifo, strerror(errno));
}

static pid_t start(const char *dir, const char *name, int fifo, char **argv)
{
	pid_t pid = fork();

	if (pid < 0)
		die("cannot fork: %s", strerror(errno));
	if (pid)
		return pid;
	if (!freopen("/dev/null", "r", stdin) || dup2(fileno(open_in(dir, name, "out")), 1) < 0 ||
	    dup2(fileno(open_in(dir, name, "err")), 2) < 0)
		die("cannot redirect: %s", strerror(errno));
	set_policy(0, fifo);
	execvp(argv[0], argv);
	fprintf(stderr, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int run(const char *dir, const char *name, int fifo, char **argv)
{
	pid_t pid = start(dir, name, fifo, argv), watcher = fork();
	struct rusage used;
	int status, code;
	FILE *out;

	if (watcher < 0)
		die("cannot fork: %s", strerror(errno));
	if (!watcher) {
		sched_setscheduler(0, SCHED_FIFO, &(struct sched_param){ .sched_priority = 1 }); /* if allowed */
		watch_threads(dir, name, pid, fifo);
		_exit(0);
	}
	if (wait4(pid, &status, 0, &used) < 0)
		die("cannot wait for %s: %s", argv[0], strerror(errno));
	kill(watcher, SIGTERM);
	waitpid(watcher, NULL, 0);
	code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	out = open_in(dir, name, "status");
	fprintf(out, "exit %d\nminor_faults %ld\nmajor_faults %ld\nvoluntary_switches %ld\ninvoluntary_switches %ld\n",
		code, used.ru_minflt, used.ru_majflt, used.ru_nvcsw, used.ru_nivcsw);
	if (fclose(out))
		die("cannot write the status of %s: %s", name, strerror(errno));
	return code;
}

/* --- phase ------------------------------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea, Flood 2014): every seed gives an unrelated stream. */
static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/*
 * One deterministic run is one draw. The seed changes the state of the free lists, and when the measurement begins
 * relative to the tick and the load.
 */
static int phase(uint64_t seed)
{
	size_t bytes = splitmix64(&seed) % 256 * 4096 + 4096;
	volatile char *pages = malloc(bytes);

	if (!pages)
		die("cannot allocate %zu bytes", bytes);
	for (size_t i = 0; i < bytes; i += 4096)
		pages[i] = 1;
	sleep_ns(splitmix64(&seed) % 20000000);
	return 0;
}

/*
 * Give the kernel's random generator its first entropy where the board has none to give, as firmware and the seed file
 * of a system do. Without it each random number is drawn by hashing anew, with interrupts off. In a guest nothing is
 * secret, and the same octets make the same run.
 */
static int seed(void)
{
	union {
		struct rand_pool_info info;
		unsigned char bytes[sizeof(struct rand_pool_info) + 64];
	} entropy = { .info = { .entropy_count = 512, .buf_size = 64 } };
	uint64_t state = 1, word;
	int fd;

	if (getrandom(&word, 1, GRND_NONBLOCK) == 1)
		return 0;
	for (size_t i = sizeof(entropy.info); i < sizeof(entropy); i += sizeof(word)) {
		word = splitmix64(&state);
		memcpy(entropy.bytes + i, &word, sizeof(word));
	}
	fd = open("/dev/random", O_WRONLY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, RNDADDENTROPY, &entropy))
		die("cannot seed the random generator: %s", strerror(errno));
	return close(fd);
}

static int resolution(void)
{
	struct timespec res;

	if (clock_getres(CLOCK_MONOTONIC, &res))
		die("cannot read the clock's resolution: %s", strerror(errno));
	printf("%lld\n", (long long)res.tv_sec * 1000000000 + res.tv_nsec);
	return 0;
}

static void print_times(void *unused, pid_t pid, int64_t spent_ns, const char *name)
{
	(void)unused;
	printf("%d %lld %s\n", pid, (long long)spent_ns, name);
}

static int times(void)
{
	if (each_process(print_times, NULL))
		die("cannot open /proc: %s", strerror(errno));
	return 0;
}

/* --- virtual board ----------------------------------------------------------------------------- */

static uint32_t fw_be(int bytes)
{
	uint32_t value = 0;

	while (bytes--)
		value = value << 8 | machine_fw_byte();
	return value;
}

static int job(void)
{
	uint32_t entries, size;
	uint16_t key;
	char name[56];

	machine_fw_select(FW_DIRECTORY);
	for (entries = fw_be(4); entries; entries--) {
		size = fw_be(4);
		key = fw_be(2);
		fw_be(2);
		for (size_t i = 0; i < sizeof(name); i++)
			name[i] = (char)machine_fw_byte();
		if (!strncmp(name, job_item, sizeof(name)))
			break;
	}
	if (!entries)
		die("the board handed in no job (%s)", job_item);
	machine_fw_select(key);
	while (size--)
		putchar(machine_fw_byte());
	if (fflush(stdout))
		die("cannot print the job: %s", strerror(errno));
	return 0;
}

static int send_frame(const char *path)
{
	int fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	const size_t piece = 256;
	size_t size = 0, room = 1 << 16;
	unsigned char *bytes = malloc(room);
	struct termios tty;
	ssize_t got;

	if (fd < 0)
		die("cannot open %s: %s", path, strerror(errno));
	if (!tcgetattr(fd, &tty)) {
		cfmakeraw(&tty);
		if (tcsetattr(fd, TCSANOW, &tty))
			die("cannot set %s to raw: %s", path, strerror(errno));
	}
	while (bytes && (got = read(0, bytes + size, room - size)) > 0) {
		size += got;
		if (size == room)
			bytes = realloc(bytes, room *= 2);
	}
	if (!bytes || got < 0)
		die("cannot read what to send: %s", strerror(errno));
	if (dprintf(fd, "RTQUAL1 %zu %08x\n", size, crc32_add(0, bytes, size)) < 0)
		die("cannot send on %s: %s", path, strerror(errno));
	/*
	 * QEMU takes each byte at once and interrupts. Where interrupts have threads (PREEMPT_RT), those that arrive
	 * while the thread goes on writing count as unhandled, and the kernel turns off an interrupt of which more than
	 * 999 in 1000 are unhandled.
	 */
	for (size_t done = 0; done < size; done += got) {
		got = write(fd, bytes + done, size - done < piece ? size - done : piece);
		if (got < 0)
			die("cannot send on %s: %s", path, strerror(errno));
		tcdrain(fd);
	}
	return close(fd);
}

int main(int argc, char **argv)
{
	const char *verb = argc > 1 ? argv[1] : "";

	if (!strcmp(verb, "run") && argc > 5)
		return run(argv[2], argv[3], number(argv[4]), argv + 5);
	if (!strcmp(verb, "phase") && argc == 3)
		return phase(number(argv[2]));
	if (!strcmp(verb, "seed") && argc == 2)
		return seed();
	if (!strcmp(verb, "resolution") && argc == 2)
		return resolution();
	if (!strcmp(verb, "times") && argc == 2)
		return times();
	if (!strcmp(verb, "rest") && argc == 4)
		return rest(milliseconds(argv[2]), milliseconds(argv[3]));
	if (!strcmp(verb, "raise") && argc == 3) {
		set_policy(getppid(), number(argv[2]));
		return 0;
	}
	if (!strcmp(verb, "now") && argc == 2)
		return printf("%llu\n", (unsigned long long)machine_now_ns()) < 0;
	if (!strcmp(verb, "job") && argc == 2)
		return job();
	if (!strcmp(verb, "send") && argc == 3)
		return send_frame(argv[2]);
	if (!strcmp(verb, "exit") && argc == 3)
		machine_leave((int)number(argv[2]));
	if (!strcmp(verb, "pause") && argc == 2) {
		machine_pause();
		return 0;
	}
	fputs("usage: rtqual-agent run DIR NAME FIFO PROGRAM [ARG...] | phase SEED | seed | resolution | times | "
	      "rest WINDOW LIMIT | raise FIFO | now | job | send FILE | exit N | pause\n",
	      stderr);
	return 2;
}

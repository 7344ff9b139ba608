// SPDX-License-Identifier: MIT
/*
 * rtqual-here: run a program, and note by the kernel's tracepoints what its threads wait for; on this machine, among files
 * that are laid over its own.
 *
 *   rtqual-here [--root FOLDER] [--trace FILE --kib N] -- COMMAND [ARG...]
 *
 * With --root the command runs in a mount namespace of its own: FOLDER/laid over the machine's root, what it writes in
 * memory, gone when it ends. FOLDER/rw and FOLDER/root are mounted on.
 *
 * Two instances of ftrace, by CLOCK_MONOTONIC: `own` has what the threads below the command do and what is done to them
 * (set_event_pid with event-fork), `due` the timers that wake threads, whomever they interrupt. FILE gets lines: `pid`, of
 * the command itself; `function`, a timer's, with its address; `format`, of each event, until an empty line; `lost` events;
 * `page`, of the ring buffer, as base64.
 * Exit code: the command's; 125: it was not started.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRACING "/sys/kernel/tracing"
#define MARKER "before the command"
#define NAMED "%lu-%d" /* PID namespace and PID */
enum { FAILED = 125, PATH = 512, PAGE = 65536 };
static const char *const own_events[] = { "sched/sched_switch", "sched/sched_waking", "raw_syscalls/sys_enter",
					  "timer/hrtimer_start" };
static const char *const due_events[] = { "timer/hrtimer_expire_entry", "timer/hrtimer_start" };
/* Timers that wake a thread: their own one by itself, the rest by a signal or a descriptor. */
static const char *const wakers[] = { "hrtimer_wakeup", "posix_timer_fn", "timerfd_tmrproc", "it_real_fn" };
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void die(const char *what)
{
	fprintf(stderr, "rtqual-here: %s: %s\n", what, strerror(errno));
	exit(FAILED);
}

/* --- files of its own ----------------------------------------------------------------------------- */

static void enter(const char *folder)
{
	static const char *const kept[] = { "proc", "sys", "dev" };
	char rw[PATH], root[PATH], from[PATH], to[2 * PATH], how[4 * PATH];

	snprintf(rw, sizeof(rw), "%s/rw", folder);
	snprintf(root, sizeof(root), "%s/root", folder);
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("a mount namespace of its own");
	if (mount("tmpfs", rw, "tmpfs", 0, NULL))
		die(rw);
	snprintf(to, sizeof(to), "%s/upper", rw);
	if (mkdir(to, 0755))
		die(to);
	snprintf(to, sizeof(to), "%s/work", rw);
	if (mkdir(to, 0755))
		die(to);
	snprintf(how, sizeof(how), "lowerdir=%s/laid:/,upperdir=%s/upper,workdir=%s/work", folder, rw, rw);
	if (mount("overlay", root, "overlay", 0, how))
		die("its files over those of the machine");
	for (size_t i = 0; i < COUNT(kept); i++) {
		snprintf(from, sizeof(from), "/%s", kept[i]);
		snprintf(to, sizeof(to), "%s/%s", root, kept[i]);
		if (mount(from, to, NULL, MS_BIND | MS_REC, NULL))
			die(to);
	}
	if (chroot(root)) /* the folder that this works in stays */
		die(root);
}

/* --- the kernel's tracer -------------------------------------------------------------------------- */

static char own[64], due[64]; /* instances, named by this process */
static unsigned long long at_address[COUNT(wakers)];

static void put(const char *instance, const char *file, const char *format, ...)
{
	char path[PATH], text[1024];
	va_list args;
	int fd, length;

	snprintf(path, sizeof(path), TRACING "/instances/%s/%s", instance, file);
	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0 || write(fd, text, (size_t)length) != length)
		die(path);
	close(fd);
}

static void take_away(const char *instance)
{
	char path[2 * PATH];

	snprintf(path, sizeof(path), TRACING "/instances/%s", instance);
	rmdir(path);
}

static unsigned long namespace(void)
{
	struct stat found;

	return stat("/proc/self/ns/pid", &found) ? 0 : (unsigned long)found.st_ino;
}

/* What others of these left that were killed, in this PID namespace. */
static void sweep(void)
{
	const struct dirent *entry;
	DIR *all = opendir(TRACING "/instances");

	while (all && (entry = readdir(all))) {
		unsigned long where = 0;
		int pid = 0;

		if ((sscanf(entry->d_name, "rtqual-own-" NAMED, &where, &pid) == 2 ||
		     sscanf(entry->d_name, "rtqual-due-" NAMED, &where, &pid) == 2) &&
		    where == namespace() && kill(pid, 0) && errno == ESRCH)
			take_away(entry->d_name);
	}
	if (all)
		closedir(all);
}

static void make(const char *instance, const char *kib)
{
	char path[PATH];

	snprintf(path, sizeof(path), TRACING "/instances/%s", instance);
	if (mkdir(path, 0700))
		die(path);
	put(instance, "tracing_on", "0");
	put(instance, "trace_clock", "mono");
	put(instance, "buffer_size_kb", "%s", kib);
}

static void find_wakers(void)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	char line[512], name[256];
	unsigned long long address;

	while (symbols && fgets(line, sizeof(line), symbols))
		for (size_t i = 0; i < COUNT(wakers) && sscanf(line, "%llx %*c %255s", &address, name) == 2; i++)
			if (!strcmp(name, wakers[i]))
				at_address[i] = address;
	if (symbols)
		fclose(symbols);
	if (!at_address[0]) {
		errno = ENOENT;
		die("/proc/kallsyms tells no address of hrtimer_wakeup");
	}
}

/* A tracepoint of timers, of the functions among `wakers` from `first` on. */
static void enable_timers(const char *event, size_t first)
{
	char text[512] = "", path[PATH];
	size_t used = 0;

	for (size_t i = first; i < COUNT(wakers); i++)
		if (at_address[i])
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%sfunction == 0x%llx",
						 used ? " || " : "", at_address[i]);
	if (!used)
		return;
	snprintf(path, sizeof(path), "events/%s/filter", event);
	put(due, path, "%s", text);
	snprintf(path, sizeof(path), "events/%s/enable", event);
	put(due, path, "1");
}

static void make_instances(const char *kib)
{
	if (access(TRACING "/instances", F_OK) && mount("tracefs", TRACING, "tracefs", 0, NULL))
		die(TRACING);
	sweep();
	snprintf(own, sizeof(own), "rtqual-own-" NAMED, namespace(), getpid());
	snprintf(due, sizeof(due), "rtqual-due-" NAMED, namespace(), getpid());
	make(own, kib);
	make(due, kib);
	put(own, "options/event-fork", "1");
	put(own, "tracing_on", "1");
}

/* The tracer's number of the thread that wrote the marker: in a PID namespace it is not what getpid() gives. */
static int marked(void)
{
	char path[PATH], line[512], *cpu, *number;
	int pid = 0;
	FILE *in;

	snprintf(path, sizeof(path), TRACING "/instances/%s/trace", own);
	in = fopen(path, "re");
	while (in && !pid && fgets(line, sizeof(line), in))
		if (strstr(line, "tracing_mark_write: " MARKER) && (cpu = strchr(line, '['))) { /* NAME-PID [CPU] */
			*cpu = '\0';
			number = strrchr(line, '-');
			pid = number ? atoi(number + 1) : 0;
		}
	if (in)
		fclose(in);
	if (!pid) {
		errno = ENOENT;
		die("the mark of its own in " TRACING);
	}
	return pid;
}

static void begin_tracing(int pid)
{
	char path[PATH];

	put(own, "set_event_pid", "%d", pid);
	for (size_t i = 0; i < COUNT(own_events); i++) {
		snprintf(path, sizeof(path), "events/%s/enable", own_events[i]);
		put(own, path, "1");
	}
	find_wakers();
	enable_timers(due_events[0], 0);
	enable_timers(due_events[1], 1); /* a thread's own are in `own` */
	put(due, "tracing_on", "1");
}

static void copy_formats(FILE *out, const char *instance, const char *const *events, size_t count)
{
	char path[PATH], line[1024];

	for (size_t i = 0; i < count; i++) {
		FILE *in;

		snprintf(path, sizeof(path), TRACING "/instances/%s/events/%s/format", instance, events[i]);
		in = fopen(path, "re");
		if (!in)
			die(path);
		fputs("format\n", out);
		while (fgets(line, sizeof(line), in))
			if (strcmp(line, "\n"))
				fputs(line, out);
		fputc('\n', out);
		fclose(in);
	}
}

static unsigned long long lost_on(const char *instance, int cpu)
{
	static const char *const counted[] = { "overrun: %llu", "commit overrun: %llu", "dropped events: %llu" };
	char path[PATH], line[256];
	unsigned long long lost = 0, found;
	FILE *in;

	snprintf(path, sizeof(path), TRACING "/instances/%s/per_cpu/cpu%d/stats", instance, cpu);
	in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in))
		for (size_t i = 0; i < COUNT(counted); i++)
			if (sscanf(line, counted[i], &found) == 1)
				lost += found;
	if (in)
		fclose(in);
	return lost;
}

static void copy_pages(FILE *out, const char *instance, int cpu)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	static unsigned char page[PAGE];
	char path[PATH];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), TRACING "/instances/%s/per_cpu/cpu%d/trace_pipe_raw", instance, cpu);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return; /* a CPU that is off */
	while ((got = read(fd, page, (size_t)sysconf(_SC_PAGESIZE))) > 0) {
		uint64_t used;

		memcpy(&used, page + 8, sizeof(used));
		used = (used & 0xfffff) + 16; /* what lies behind is of no use */
		got = used < (uint64_t)got ? (ssize_t)used : got;
		fprintf(out, "page %d ", cpu);
		for (ssize_t i = 0; i < got; i += 3) {
			uint32_t three = (uint32_t)(page[i] << 16) | (uint32_t)(i + 1 < got ? page[i + 1] << 8 : 0) |
					 (i + 2 < got ? page[i + 2] : 0);

			putc(digits[three >> 18], out);
			putc(digits[three >> 12 & 63], out);
			putc(i + 1 < got ? digits[three >> 6 & 63] : '=', out);
			putc(i + 2 < got ? digits[three & 63] : '=', out);
		}
		putc('\n', out);
	}
	close(fd);
}

static void end_tracing(int pid, const char *path)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	unsigned long long lost = 0;
	FILE *out = fopen(path, "we");

	put(own, "tracing_on", "0");
	put(due, "tracing_on", "0");
	if (!out)
		die(path);
	fprintf(out, "pid %d\n", pid);
	for (size_t i = 0; i < COUNT(wakers); i++)
		fprintf(out, "function %llx %s\n", at_address[i], wakers[i]);
	copy_formats(out, own, own_events, COUNT(own_events));
	copy_formats(out, due, due_events, 1);
	for (int cpu = 0; cpu < cpus; cpu++) {
		lost += lost_on(own, cpu) + lost_on(due, cpu);
		copy_pages(out, own, cpu);
		copy_pages(out, due, cpu);
	}
	fprintf(out, "lost %llu\n", lost);
	if (fclose(out))
		die(path);
	take_away(own);
	take_away(due);
}

/* --- the command ---------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
	const char *root = NULL, *trace = NULL, *kib = "4096";
	int at = 1, status = 0, traced = 0;
	pid_t pid;

	for (; at + 1 < argc && strcmp(argv[at], "--"); at += 2) {
		if (!strcmp(argv[at], "--root"))
			root = argv[at + 1];
		else if (!strcmp(argv[at], "--trace"))
			trace = argv[at + 1];
		else if (!strcmp(argv[at], "--kib"))
			kib = argv[at + 1];
		else
			break;
	}
	if (at + 1 >= argc || strcmp(argv[at], "--") || (root && strlen(root) > PATH / 2)) {
		fputs("usage: rtqual-here [--root FOLDER] [--trace FILE --kib N] -- COMMAND [ARG...]\n", stderr);
		return FAILED;
	}
	if (root)
		enter(root);
	if (trace)
		make_instances(kib);
	pid = fork();
	if (pid < 0)
		die("fork");
	if (!pid) {
		if (trace) {
			put(own, "trace_marker", MARKER);
			raise(SIGSTOP); /* until it is traced */
		}
		execvp(argv[at + 1], argv + at + 1);
		die(argv[at + 1]);
	}
	if (trace) {
		waitpid(pid, &status, WUNTRACED);
		traced = marked();
		begin_tracing(traced);
		kill(pid, SIGCONT);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (trace)
		end_tracing(traced, trace);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

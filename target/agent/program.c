// SPDX-License-Identifier: MIT
/*
 * rtqual-program: run somebody's program as his mission says, and note when it was ready, what it ran on and how it ended.
 *
 *   rtqual-program [OPTION VALUE]... -- PROGRAM [ARG...]
 *
 * The program is not changed and not traced. Its output goes to NAME.out and NAME.err in the folder where this was
 * started, and what there is to say of it to NAME.report: lines of a word and its values, times by CLOCK_MONOTONIC in
 * ns. Exit code 0: it ran for as long as it was to; 3: it ended before, or was never ready; 125: it was not started, and
 * the report's line `cannot` says why.
 *
 * This looks at the program only until it is ready, and sleeps for the rest. Without --runs-for, SIGTERM has it end the
 * program, which then ran for as long as it was to.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CAP_IPC_LOCK = 14, CAP_SYS_NICE = 23 };
enum { MOST_RAISED = 16, MOST_READY = 256, POLL_NS = 10000000, GRACE_NS = 2000000000, KEPT = 125, FAILED = 3 };

struct options {
	const char *name; /* of its files: `program` */
	const char *folder; /* to start it in */
	const char *raised[MOST_RAISED]; /* PATTERN=PRIORITY */
	size_t n_raised;
	const char *left[MOST_RAISED]; /* files that it leaves in its folder, to be brought back */
	size_t n_left;
	const char *ready; /* of its output */
	int64_t ready_within_ns, warm_up_ns, runs_for_ns; /* 0: until it ends */
	int64_t most_bytes; /* of a file that it writes */
	int64_t user; /* -1: as this */
	int64_t priority, policy; /* it is started with */
	int64_t ends_by; /* signal */
};

static FILE *report;

static void cannot(const char *format, ...)
{
	va_list args;

	fputs("cannot ", report);
	va_start(args, format);
	vfprintf(report, format, args);
	va_end(args);
	fputc('\n', report);
	fclose(report);
	exit(KEPT);
}

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void sleep_until(int64_t ns)
{
	struct timespec until = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

/* --- threads of the kernel ---------------------------------------------------------------------- */

static bool read_text(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, room - 1);

	if (fd >= 0)
		close(fd);
	text[got < 0 ? 0 : got] = '\0';
	return got > 0;
}

/* A thread of the kernel has no memory of its own, so no command line. */
static bool is_kernels(const char *pid)
{
	char path[64], text[8];

	snprintf(path, sizeof(path), "/proc/%.16s/cmdline", pid);
	return !read_text(path, text, sizeof(text));
}

static void raise_threads(const char *wanted)
{
	const char *equals = strrchr(wanted, '=');
	struct sched_param param = { .sched_priority = equals ? atoi(equals + 1) : 0 };
	char pattern[64] = "", path[64], name[64];
	int raised = 0;
	const struct dirent *entry;
	DIR *all = opendir("/proc");

	if (!all || !equals || equals - wanted >= (int)sizeof(pattern))
		cannot("look at the kernel's threads for %s", wanted);
	memcpy(pattern, wanted, (size_t)(equals - wanted));
	while ((entry = readdir(all))) {
		pid_t pid = atoi(entry->d_name);
		struct sched_param before;
		int policy;

		snprintf(path, sizeof(path), "/proc/%.16s/comm", entry->d_name);
		if (pid <= 0 || !read_text(path, name, sizeof(name)))
			continue;
		name[strcspn(name, "\n")] = '\0';
		if (fnmatch(pattern, name, 0) || !is_kernels(entry->d_name))
			continue;
		policy = sched_getscheduler(pid);
		if (policy < 0 || sched_getparam(pid, &before))
			continue; /* it has ended */
		if (sched_setscheduler(pid, SCHED_FIFO, &param))
			cannot("give %s priority %d: %s", name, param.sched_priority, strerror(errno));
		fprintf(report, "raised %d %d %d %s\n", policy, before.sched_priority, param.sched_priority, name);
		raised++;
	}
	closedir(all);
	if (!raised)
		fprintf(report, "unraised %s\n", pattern);
}

/* --- the program --------------------------------------------------------------------------------- */

static void become(int64_t user)
{
	/* As it flies: no root, but it may ask for priorities and lock its memory. As capset(2) has them; musl brings no
	 * header of the kernel's. */
	const uint32_t kept = 1u << CAP_SYS_NICE | 1u << CAP_IPC_LOCK;
	struct {
		uint32_t version;
		int pid;
	} head = { 0x20080522, 0 };
	uint32_t data[2][3] = { { kept, kept, kept } }; /* effective, permitted, inheritable */

	if (setgroups(0, NULL) || prctl(PR_SET_KEEPCAPS, 1) || setresgid((gid_t)user, (gid_t)user, (gid_t)user) ||
	    setresuid((uid_t)user, (uid_t)user, (uid_t)user) || syscall(SYS_capset, &head, data) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_NICE, 0, 0) ||
	    prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_IPC_LOCK, 0, 0)) {
		perror("rtqual-program: cannot become its user");
		_exit(KEPT);
	}
}

/* NAME.SUFFIX, of the program's own files. */
static const char *own(const struct options *given, const char *suffix, char *path, size_t room)
{
	snprintf(path, room, "%s.%s", given->name, suffix);
	return path;
}

static void redirect(const struct options *given, const char *suffix, int to)
{
	char path[256];
	int fd = open(own(given, suffix, path, sizeof(path)), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);

	if (fd < 0 || dup2(fd, to) < 0)
		_exit(KEPT);
	close(fd);
}

static pid_t start(const struct options *given, char **argv)
{
	struct sched_param param = { .sched_priority = (int)given->priority };
	struct rlimit most = { (rlim_t)given->most_bytes, (rlim_t)given->most_bytes };
	sigset_t none;
	pid_t pid = fork();

	if (pid)
		return pid;
	if (given->user >= 0 && given->folder && chown(given->folder, (uid_t)given->user, (gid_t)given->user))
		perror("rtqual-program: cannot give its folder away"), _exit(KEPT);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	redirect(given, "out", 1);
	redirect(given, "err", 2);
	if (!freopen("/dev/null", "r", stdin) || (given->folder && chdir(given->folder)))
		perror("rtqual-program: cannot start it in its folder"), _exit(KEPT);
	if (setrlimit(RLIMIT_FSIZE, &most) || sched_setscheduler(0, (int)given->policy, &param))
		perror("rtqual-program: cannot set its priority"), _exit(KEPT);
	if (given->user >= 0)
		become(given->user);
	execvp(argv[0], argv);
	fprintf(stderr, "rtqual-program: cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(KEPT);
}

/* Whether the text is in what was written since the last look; `at`: how far was read. */
static bool says(const char *name, const char *text, off_t *at)
{
	char piece[4096 + MOST_READY];
	size_t length = strlen(text);
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	ssize_t got;
	bool seen = false;

	if (fd < 0)
		return false;
	while (!seen && (got = pread(fd, piece, sizeof(piece), *at)) >= (ssize_t)length) {
		seen = memmem(piece, (size_t)got, text, length);
		*at += got - (ssize_t)length + 1; /* the text may lie across two looks */
	}
	close(fd);
	return seen;
}

static bool is_there(pid_t pid, int *status)
{
	pid_t ended = waitpid(pid, status, WNOHANG);

	return ended != pid;
}

/* Returns false where the program ended before. */
static bool until_ready(const struct options *given, pid_t pid, int *status)
{
	int64_t since_ns = now_ns(), next_ns = since_ns;
	char out_path[256], err_path[256];
	off_t out = 0, err = 0;

	own(given, "out", out_path, sizeof(out_path));
	own(given, "err", err_path, sizeof(err_path));
	while (!says(out_path, given->ready, &out) && !says(err_path, given->ready, &err)) {
		if (!is_there(pid, status))
			return false;
		if (now_ns() - since_ns > given->ready_within_ns) {
			fprintf(report, "never_ready %lld\n", (long long)given->ready_within_ns);
			kill(pid, SIGKILL);
			waitpid(pid, status, 0);
			return false;
		}
		sleep_until(next_ns += POLL_NS);
	}
	fprintf(report, "ready %lld\n", (long long)now_ns());
	return true;
}

/* Blocked by main(): that the program has ended, and that it is to be ended, where its time is not known before. */
static sigset_t awaited(const struct options *given)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	if (!given->runs_for_ns)
		sigaddset(&set, SIGTERM);
	return set;
}

/* Sleep until then, until the program is to be ended, or until it has: then it returns false. */
static bool lasts(const struct options *given, pid_t pid, int64_t until_ns, int *status)
{
	const sigset_t set = awaited(given);

	for (;;) {
		int64_t left_ns = until_ns ? until_ns - now_ns() : INT64_C(1000000000000);
		struct timespec left = { left_ns / 1000000000, left_ns % 1000000000 };

		if (!is_there(pid, status))
			return false;
		if (left_ns <= 0)
			return true;
		if (sigtimedwait(&set, NULL, &left) == SIGTERM)
			return is_there(pid, status);
	}
}

static void tell_stat(pid_t pid, const char *when)
{
	unsigned long long minor = 0, major = 0;
	char path[64], text[2048];
	const char *after, *locked, *resident;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	if (read_text(path, text, sizeof(text)) && (after = strrchr(text, ')')))
		if (sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %llu %*u %llu", &minor, &major) == 2)
			fprintf(report, "faults %s %llu %llu\n", when, minor, major);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	if (read_text(path, text, sizeof(text)) && (locked = strstr(text, "VmLck:")) &&
	    (resident = strstr(text, "VmRSS:")))
		fprintf(report, "memory %s %lld %lld\n", when, atoll(locked + 6), atoll(resident + 6));
}

static void tell_threads(pid_t pid)
{
	char path[64], name[64];
	const struct dirent *entry;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		struct sched_param param = { 0 };
		pid_t tid = atoi(entry->d_name);
		int policy;

		snprintf(path, sizeof(path), "/proc/%d/task/%.16s/comm", pid, entry->d_name);
		if (tid <= 0 || !read_text(path, name, sizeof(name)))
			continue;
		name[strcspn(name, "\n")] = '\0';
		policy = sched_getscheduler(tid);
		if (policy >= 0 && !sched_getparam(tid, &param))
			fprintf(report, "thread %d %d %d %s\n", tid, policy & ~SCHED_RESET_ON_FORK,
				param.sched_priority, name);
	}
	if (tasks)
		closedir(tasks);
}

static void end(const struct options *given, pid_t pid, int *status)
{
	int64_t last_ns = now_ns() + GRACE_NS;

	kill(pid, (int)given->ends_by);
	if (lasts(given, pid, last_ns, status)) {
		fputs("killed\n", report);
		kill(pid, SIGKILL);
		waitpid(pid, status, 0);
	}
}

/* What the program left in its folder. */
static void bring_back(const struct options *given, const char *name)
{
	char from_path[512], to_path[512], piece[65536];
	int from, to;
	ssize_t got = 0;

	snprintf(from_path, sizeof(from_path), "%s/%s", given->folder ? given->folder : ".", name);
	snprintf(to_path, sizeof(to_path), "%s.file.%s", given->name, name);
	from = open(from_path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	to = from < 0 ? -1 : open(to_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	while (to >= 0 && (got = read(from, piece, sizeof(piece))) > 0)
		if (write(to, piece, (size_t)got) != got)
			break;
	if (to < 0 || got)
		fprintf(report, "unleft %s\n", name);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
}

static void tell_end(const struct options *given, int status)
{
	char path[256];
	struct stat out = { 0 }, err = { 0 };

	for (size_t i = 0; i < given->n_left; i++)
		bring_back(given, given->left[i]);

	if (WIFSIGNALED(status))
		fprintf(report, "signal %d\n", WTERMSIG(status));
	else
		fprintf(report, "exit %d\n", WEXITSTATUS(status));
	if (!stat(own(given, "out", path, sizeof(path)), &out) && !stat(own(given, "err", path, sizeof(path)), &err))
		fprintf(report, "bytes %lld %lld\n", (long long)out.st_size, (long long)err.st_size);
}

static int supervise(const struct options *given, char **argv)
{
	int64_t begin_ns;
	int status = 0;
	bool whole;
	pid_t pid;

	fprintf(report, "started %lld\n", (long long)now_ns());
	fflush(report);
	pid = start(given, argv);
	if (pid < 0)
		cannot("start it: %s", strerror(errno));
	fprintf(report, "pid %d\n", pid);
	if (given->ready && !until_ready(given, pid, &status)) {
		tell_end(given, status);
		return FAILED;
	}
	begin_ns = now_ns() + given->warm_up_ns;
	whole = !given->warm_up_ns || lasts(given, pid, begin_ns, &status);
	fprintf(report, "begin %lld\n", (long long)now_ns());
	if (whole)
		tell_stat(pid, "begin");
	if (whole) {
		const bool asked = lasts(given, pid, given->runs_for_ns ? begin_ns + given->runs_for_ns : 0, &status);

		fprintf(report, "end %lld\n", (long long)now_ns());
		if (asked) {
			tell_stat(pid, "end");
			tell_threads(pid);
			end(given, pid, &status);
		}
		whole = asked || (!given->runs_for_ns && WIFEXITED(status) && !WEXITSTATUS(status));
	}
	tell_end(given, status);
	return whole ? 0 : FAILED;
}

/* --- options ------------------------------------------------------------------------------------- */

static int64_t number(const char *text)
{
	char *stop;
	long long value;

	errno = 0;
	value = strtoll(text, &stop, 10);
	if (errno || *stop || stop == text)
		cannot("read the number %s", text);
	return value;
}

static void take(struct options *given, const char *name, const char *value)
{
	struct {
		const char *name;
		const char **text;
		int64_t *number;
	} rows[] = {
		{ "--name", &given->name, NULL },
		{ "--folder", &given->folder, NULL },
		{ "--ready", &given->ready, NULL },
		{ "--ready-within", NULL, &given->ready_within_ns },
		{ "--warm-up", NULL, &given->warm_up_ns },
		{ "--runs-for", NULL, &given->runs_for_ns },
		{ "--most-bytes", NULL, &given->most_bytes },
		{ "--user", NULL, &given->user },
		{ "--priority", NULL, &given->priority },
		{ "--policy", NULL, &given->policy },
		{ "--ends-by", NULL, &given->ends_by },
	};

	if (!strcmp(name, "--kernel-thread") && given->n_raised < MOST_RAISED) {
		given->raised[given->n_raised++] = value;
		return;
	}
	if (!strcmp(name, "--left") && given->n_left < MOST_RAISED) {
		given->left[given->n_left++] = value;
		return;
	}
	if (!strcmp(name, "--set")) {
		if (putenv(strdup(value)))
			cannot("set %s", value);
		return;
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!strcmp(name, rows[i].name)) {
			if (rows[i].text)
				*rows[i].text = value;
			else
				*rows[i].number = number(value);
			return;
		}
	cannot("understand the option %s", name);
}

int main(int argc, char **argv)
{
	struct options given = {
		.name = "program", .ready_within_ns = 10000000000, .most_bytes = 1 << 26, .user = -1, .ends_by = SIGTERM
	};
	char path[256];
	sigset_t set;
	int at = 1, code;

	report = stderr; /* until its name is known */
	for (; at + 1 < argc && strcmp(argv[at], "--"); at += 2)
		take(&given, argv[at], argv[at + 1]);
	report = fopen(own(&given, "report", path, sizeof(path)), "we");
	if (!report) {
		perror("rtqual-program: cannot write its report");
		return KEPT;
	}
	setvbuf(report, NULL, _IOLBF, 0); /* rtqual-wire reads it meanwhile */
	if (at + 1 >= argc || (given.ready && strlen(given.ready) >= MOST_READY))
		cannot("tell what to run");
	if (given.folder && mkdir(given.folder, 0777) && errno != EEXIST)
		cannot("make the folder %s: %s", given.folder, strerror(errno));
	for (size_t i = 0; i < given.n_raised; i++)
		raise_threads(given.raised[i]);
	set = awaited(&given);
	sigprocmask(SIG_BLOCK, &set, NULL);
	code = supervise(&given, argv + at + 1);
	return fclose(report) ? KEPT : code;
}

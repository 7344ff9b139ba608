// SPDX-License-Identifier: MIT
/*
 * step_thread CYCLES PROGRAM [ARGUMENT...]: count a periodic thread's instructions in user space (x86-64).
 *
 * Runs the program and single-steps the first thread but main that sleeps until absolute times. For each of its periods
 * it prints the instructions from one clock_nanosleep to the next, and those of them from the wake-up to the first
 * reading of the time-stamp counter.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SYSCALL_STOP = SIGTRAP | 0x80, PERIODS_IGNORED = 3 };
/* The instructions syscall, rdtsc and rdtscp as they lie in memory. */
enum { SYSCALL = 0x050f, RDTSC = 0x310f, RDTSCP = 0xf9010f };

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static struct user_regs_struct registers_of(pid_t thread)
{
	struct user_regs_struct registers;

	if (ptrace(PTRACE_GETREGS, thread, NULL, &registers))
		die("PTRACE_GETREGS");
	return registers;
}

/* Let a thread run on to its next system call, with the signal it was stopped for unless that is one of ours. */
static void run_on(pid_t thread, int signal)
{
	if (signal == SYSCALL_STOP || signal == SIGTRAP || signal == SIGSTOP)
		signal = 0;
	ptrace(PTRACE_SYSCALL, thread, NULL, (long)signal); /* fails when the thread has been killed */
}

static pid_t next_stop(pid_t program, int *signal)
{
	for (;;) {
		int status;
		pid_t thread = waitpid(-1, &status, __WALL);

		if (thread < 0)
			die("waitpid");
		if (WIFSTOPPED(status)) {
			*signal = WSTOPSIG(status);
			return thread;
		}
		if (thread == program) {
			fprintf(stderr, "the program ended before it was measured\n");
			exit(1);
		}
	}
}

static pid_t find_sleeper(pid_t program)
{
	for (int seen = 0;;) {
		int signal;
		pid_t thread = next_stop(program, &signal);

		if (signal == SYSCALL_STOP && thread != program) {
			struct user_regs_struct registers = registers_of(thread);

			/* At entry, and not at exit. */
			if (registers.orig_rax == SYS_clock_nanosleep && registers.rsi == TIMER_ABSTIME &&
			    (long)registers.rax < 0 && ++seen > PERIODS_IGNORED)
				return thread;
		}
		run_on(thread, signal);
	}
}

static void step(pid_t program, pid_t sleeper, int cycles)
{
	long steps = 0, to_clock = 0;

	for (int cycle = -1; cycle < cycles;) {
		struct user_regs_struct registers;
		unsigned long code;
		int signal;
		pid_t thread;

		if (ptrace(PTRACE_SINGLESTEP, sleeper, NULL, 0L))
			die("PTRACE_SINGLESTEP");
		while ((thread = next_stop(program, &signal)) != sleeper)
			run_on(thread, signal);
		registers = registers_of(sleeper);
		code = (unsigned long)ptrace(PTRACE_PEEKTEXT, sleeper, registers.rip, NULL);
		steps++;
		if (!to_clock && ((code & 0xffff) == RDTSC || (code & 0xffffff) == RDTSCP))
			to_clock = steps;
		if ((code & 0xffff) != SYSCALL)
			continue;
		if (registers.rax != SYS_clock_nanosleep) {
			fprintf(stderr, "another system call: %lld\n", registers.rax);
			exit(1);
		}
		if (cycle++ >= 0)
			printf("%ld %ld\n", steps, to_clock);
		steps = 0;
		to_clock = 0;
	}
}

int main(int argc, char **argv)
{
	pid_t program, sleeper;
	int signal;

	if (argc < 3)
		return 2;
	program = fork();
	if (program < 0)
		die("fork");
	if (!program) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(argv[2], argv + 2);
		die(argv[2]);
	}
	next_stop(program, &signal);
	if (ptrace(PTRACE_SETOPTIONS, program, NULL,
		   (long)(PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD)))
		die("PTRACE_SETOPTIONS");
	run_on(program, 0);
	sleeper = find_sleeper(program);
	step(program, sleeper, atoi(argv[1]));
	return kill(program, SIGKILL);
}

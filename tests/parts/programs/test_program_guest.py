# SPDX-License-Identifier: MIT
"""The example's loop in a guest: watched at no cost, and seen as it sees itself."""

import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.protocols.board import Job, JobOutcome
from rtqual.protocols.record.schema import Record
from rtqual.protocols.record.store import read
from support.command import Run

_EXAMPLE = Path(__file__).parents[3] / "examples" / "loop250"


@pytest.mark.guest
def test_jobs_from_outside_are_those_that_the_program_sees(
    tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    loop = tmp_path / "loop250"
    subprocess.run(["gcc", "-O2", "-static", "-pthread", "-o", loop, _EXAMPLE / "loop250.c"], check=True)
    text = (_EXAMPLE / "loop250.toml").read_text().replace('["500", "70"]', '["100", "70"]')
    stock = text[text.index('[[candidate]]\nname = "debian"\n') : text.index("[[program]]")]
    (tmp_path / "loop.toml").write_text(text.replace(stock, ""))
    done = rtqual("select", tmp_path / "loop.toml", "--scale", "try", "--run-programs", "--out", tmp_path / "out")
    assert "program-loop250" in done.stderr
    records = [read(path) for path in sorted((tmp_path / "out" / "records").iterdir())]
    assert sorted(one.manifest.repeat for one in records) == [0, 1]
    # The second run was made once more with nobody watching: it would have said that the program's output differs.
    assert [one.manifest.problems for one in records] == [[], []]
    first = records[0]
    assert first.manifest.scalars["control missed"].value == 0
    taken = {one.info.name: np.concatenate([*(one.ordered() or ())]) for one in first.series}
    assert (len(taken["late"]), len(taken["control start"])) == (100, 99)  # it ends within its last job
    further = taken["late"][:99] - taken["control start"]  # the way back to user space, and the clock's reading
    assert further.max() - further.min() <= 100
    path = next((tmp_path / "out" / "records").glob("*-0"))
    said = rtqual("explain", path).stdout
    assert "control response" in said
    assert "the thread itself" in said


_LOOKS = """
#include <poll.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/select.h>

int main(void)
{
	struct epoll_event event;
	int queue = epoll_create1(0);

	for (int i = 0; i < 40; i++) {
		struct timeval none = { 0 };

		epoll_wait(queue, &event, 1, 0);
		select(0, NULL, NULL, NULL, &none);
		poll(NULL, 0, 0);
		epoll_wait(queue, &event, 1, 10);
	}
	puts("40 times");
	return queue < 0;
}
"""


@pytest.mark.guest
def test_a_call_that_waits_for_no_time_is_no_point_to_wait_at(
    tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an executor's loop: it looks, and then it waits."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    (tmp_path / "looks.c").write_text(_LOOKS)
    subprocess.run(["gcc", "-O2", "-static", "-o", tmp_path / "looks", tmp_path / "looks.c"], check=True)
    text = (_EXAMPLE / "loop250.toml").read_text()
    head = text[: text.index('[[candidate]]\nname = "debian"\n')]
    program = '[[program]]\nname = "looks"\nbinary = "looks"\n'
    plan = '[[scale.demo.plan]]\ninstruments = ["cyclictest"]\nruns = 1\n'
    (tmp_path / "looks.toml").write_text(head + program + plan)
    done = rtqual("program", "tasks", tmp_path / "looks.toml", "--run-programs")
    assert "of 39 jobs" in done.stdout


_WARY = """
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { CALLS = 101, CYCLES = 50 };

static int says(const char *path, const char *what)
{
	static char text[65536];
	int fd = open(path, O_RDONLY);
	ssize_t got = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[got < 0 ? 0 : got] = 0;
	return strstr(text, what) != NULL;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	uint64_t took[CALLS];
	struct timespec at, now;
	int found = argc > 1 ? 32 : 0;

	(void)argv;
	mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, NULL);
	found |= 1 * !says("/proc/self/status", "TracerPid:\\t0\\n");
	found |= 2 * !says("/sys/kernel/tracing/current_tracer", "nop");
	found |= 4 * !says("/sys/kernel/tracing/events/enable", "0");
	found |= 8 * !!ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	clock_gettime(CLOCK_MONOTONIC, &at);
	puts("found,call,late_ns");
	for (int cycle = 0; cycle < CYCLES; cycle++) {
		at.tv_nsec += 1000000;
		at.tv_sec += at.tv_nsec / 1000000000;
		at.tv_nsec %= 1000000000;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
		clock_gettime(CLOCK_MONOTONIC, &now);
		for (int call = 0; call < CALLS; call++) {
			uint64_t began = __rdtsc();

			syscall(SYS_getppid);
			took[call] = __rdtsc() - began;
		}
		qsort(took, CALLS, sizeof(*took), by_size);
		found |= 16 * (took[CALLS / 2] > 2 * took[0]);
		printf("%d,%llu,%lld\\n", found, (unsigned long long)took[CALLS / 2],
			(now.tv_sec - at.tv_sec) * 1000000000LL + now.tv_nsec - at.tv_nsec);
	}
	return 0;
}
"""
_WARY_PROGRAM = """\
[[program]]
name = "wary"
binary = "wary"
[[program.task]]
name = "loop"
thread = "wary"
[[program.output]]
format = "csv"
series = { found = "found", call = "call", late = "late_ns" }

[[scale.demo.plan]]
instruments = ["program-wary"]
runs = 1
"""


def _wary(folder: Path, rtqual: Run) -> list[Record]:
    (folder / "wary.c").write_text(_WARY)
    subprocess.run(["gcc", "-O2", "-static", "-o", folder / "wary", folder / "wary.c"], check=True)
    text = (_EXAMPLE / "loop250.toml").read_text()
    (folder / "wary.toml").write_text(text[: text.index('[[candidate]]\nname = "debian"\n')] + _WARY_PROGRAM)
    rtqual("select", folder / "wary.toml", "--run-programs", "--out", folder / "out")
    return [read(path) for path in sorted((folder / "out" / "records").iterdir())]


@pytest.mark.guest
def test_a_program_that_looks_for_whoever_watches_it_finds_nobody(
    tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No tracer, no event of the kernel's that is noted, and no system call that takes longer. All that it measured
    stands in what it prints, so the run with nobody watching compares that too."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    records = _wary(tmp_path, rtqual)
    assert [(one.manifest.repeat, one.manifest.problems) for one in records] == [(0, []), (1, [])]
    for record in records:
        taken = {one.info.name: np.concatenate([*(one.ordered() or ())]) for one in record.series}
        assert len(taken["loop response"]) == 49
        assert taken["found"].tolist() == [0] * 50
        assert taken["call"].min() > 0


@pytest.mark.guest
def test_a_program_that_found_out_would_be_told_of(
    tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As one that the watching tells of itself, which it does not: an argument more."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    run = VirtualBoard.run

    def telling(board: VirtualBoard, job: Job, *, seed: int, timeout_s: float) -> JobOutcome:
        if job.watched:
            job = replace(job, measure=replace(job.measure, argv=(*job.measure.argv, "watched")))
        return run(board, job, seed=seed, timeout_s=timeout_s)

    monkeypatch.setattr(VirtualBoard, "run", telling)
    records = _wary(tmp_path, rtqual)
    said = "watching changed what the program did: its program.out differs when it runs unwatched"
    assert [(one.manifest.repeat, one.manifest.problems) for one in records] == [(0, []), (1, [said])]

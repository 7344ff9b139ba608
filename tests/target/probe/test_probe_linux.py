# SPDX-License-Identifier: MIT
"""The probe's Linux port on this machine: every family, under sanitizers too, and what it must not do or accept."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

import pytest
from elftools.elf.elffile import ELFFile

from rtqual.engine.initramfs.contents import guest_file
from rtqual.engine.instruments.probe.probe_output import Benchmark, ProbeOutput, Status, parse
from rtqual.parts.studies.catalogue import studies
from support.built import built
from support.probe_sources import FAMILIES, LINUX_ONLY, PROBE
from support.real_tools import need, needs_fifo

ROOT = Path(__file__).parents[3]
MOST_BYTES = 150 * 1024
SANITIZERS = ("asan", "tsan")
# What a measured thread may ask of the kernel: the mechanisms, to open and close one, and to look up its priority;
# nothing that allocates memory or prints.
MECHANISMS = {
    "clock_nanosleep", "futex", "sched_yield", "mq_timedsend", "mq_timedreceive", "read", "write", "sendto", "recvfrom",
    "timerfd_settime", "restart_syscall",
}  # fmt: skip
OPENING = {
    "loop": {"socket", "bind", "getsockname", "connect", "timerfd_create", "clone", "close", "rt_sigprocmask"},
    LINUX_ONLY: {"timer_settime", "rt_sigtimedwait"},
    "primitives": {"gettid", "open", "fcntl", "close"},  # the priority that the inversion's mutex lends, in /proc
}


@pytest.fixture(scope="session")
def probe() -> Path:
    return guest_file("rtqual-probe")


@pytest.fixture(scope="session")
def sanitized() -> Callable[[str], Path]:
    folder = built(PROBE / "linux", *(f"rtqual-probe-{name}" for name in SANITIZERS))
    return lambda name: folder / f"rtqual-probe-{name}"


def run(*command: str | Path, under: Sequence[str] = ()) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*under, *command], capture_output=True, text=True, timeout=60, check=False)


def result(*command: str | Path, under: Sequence[str] = ()) -> ProbeOutput:
    done = run(*command, under=under)
    assert (done.returncode, done.stderr) == (0, "")
    return parse(done.stdout, "stdout")


def without(*capabilities: str) -> list[str]:
    """Run as a user who lacks them, whoever runs the tests."""
    taken = ",".join(f"-{capability}" for capability in capabilities)
    return ["setpriv", "--bounding-set", taken, "--inh-caps", taken] if os.geteuid() == 0 else []


def medians(benchmarks: Sequence[Benchmark]) -> dict[str, float]:
    return {one.name: median(one.series[0].values) for one in benchmarks}


def test_the_list_has_every_source_of_the_battery() -> None:
    listed = (PROBE / "battery" / "sources.txt").read_text().split()
    assert sorted(listed) == sorted(["run.c", *(f"battery/{path.name}" for path in PROBE.glob("battery/*.c"))])


def test_no_source_of_the_battery_knows_a_system_or_a_library() -> None:
    for path in [*PROBE.glob("battery/*.[ch]"), PROBE / "run.c", PROBE / "battery.h"]:
        text = path.read_text()
        assert not re.search(r"#\s*include\s*<", text), path
        assert not re.search(r"#\s*(if|ifdef|elif)\b", text), path
        assert not re.search(
            r"\b(malloc|printf|float|double)\b\s*[\w(*]", re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        ), path


def test_the_static_probe_is_small(probe: Path) -> None:
    assert probe.stat().st_size <= MOST_BYTES
    with probe.open("rb") as file:
        elf = ELFFile(file)
        assert not [segment for segment in elf.iter_segments() if segment["p_type"] in ("PT_INTERP", "PT_DYNAMIC")]
        assert elf.get_section_by_name(".symtab") is None


@pytest.mark.guest
@needs_fifo
@pytest.mark.parametrize("family", [*FAMILIES, LINUX_ONLY])
@pytest.mark.parametrize("sanitizer", SANITIZERS)
def test_no_sanitizer_finds_a_fault(sanitized: Callable[[str], Path], sanitizer: str, family: str) -> None:
    output = result(sanitized(sanitizer), family, "iterations=3")
    assert {one.status for one in output.benchmarks} <= {Status.OK, Status.NOT_OFFERED}


@needs_fifo
@pytest.mark.parametrize("family", [*FAMILIES, LINUX_ONLY])
def test_a_family_gives_all_its_samples_without_a_fault(probe: Path, family: str, tmp_path: Path) -> None:
    out = tmp_path / "result"
    done = run(probe, family, "iterations=20", "seed=7", f"out={out}")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    output = parse(out.read_text(), "result")
    assert output.family == family
    assert output.facts["iterations"] == (20, "1")
    assert output.cycles_per_s > 10**6
    measured = [one for one in output.benchmarks if one.status == Status.OK]
    assert measured
    for one in measured:
        assert one.facts["page faults"] == (0, "1"), one.name
        for series in one.series:
            assert (len(series.values), series.overflows, series.lost) == (20, 0, 0), (one.name, series.name)
    assert {one.name for one in output.benchmarks} - {one.name for one in measured} <= {
        "loop by soft timer",
        *(f"memory {percent} %" for percent in (0, 25, 50, 90)),
    }


@needs_fifo
def test_more_samples_than_a_line_holds_or_a_batch_has_all_come(probe: Path) -> None:
    """Loops without pauses rest after 256 iterations; switches between equal threads come in batches of 256."""
    for one in result(probe, "primitives", "iterations=600", "interval_ns=100000").benchmarks:
        assert [len(series.values) for series in one.series if series.lost == 0] == [600] * len(one.series), one.name


def test_the_rows_of_the_freertos_study_have_its_names(probe: Path) -> None:
    (study,) = [study for study in studies() if study.key == "freertos"]
    rows = [str(row[0]) for row in study.tables[0].rows]
    assert len(rows) == 18
    listed = run(probe, "list").stdout
    assert [row for row in rows if f"\n  {row}\n" not in listed] == []


@needs_fifo
def test_costs_are_in_the_order_they_must_be(probe: Path) -> None:
    cost = medians(result(probe, "primitives", "iterations=100", "interval_ns=200000").benchmarks)
    assert cost["empty"] <= cost["cycle read"] <= cost["mq send"]
    assert cost["sem wait"] < cost["sem wait block"]
    assert cost["sem signal"] < cost["sem signaling with prio"] < cost["sem signal unblock"]
    assert cost["mutex acquisition"] < cost["mutex request block"]
    assert cost["mq receive"] < cost["mq receive block"]


@needs_fifo
def test_priority_inheritance_bounds_the_wait_by_the_critical_section(probe: Path) -> None:
    output = result(probe, "primitives", "iterations=50", "interval_ns=100000")
    inherits, does_not = (one for one in output.benchmarks if one.name.startswith("inversion"))
    section_ns, middle_ns = (inherits.facts[name][0] for name in ("critical section", "middle's work"))
    waits = medians([inherits, does_not])
    # What else this machine does only lengthens a wait; without inheritance each takes the middle's work at least.
    assert section_ns / 2 < waits["inversion with PI"]
    assert min(inherits.series[0].values) < section_ns + middle_ns / 2
    assert waits["inversion without PI"] > middle_ns
    high, low = 3, 1
    assert inherits.facts["priority in the section"] == (high, "1")
    assert does_not.facts["priority in the section"] == (low, "1")


@needs_fifo
def test_the_loop_keeps_the_order_of_its_stages(probe: Path) -> None:
    loop = result(probe, "loop", "iterations=20").benchmarks[0]
    starts = {series.name.removesuffix(" start"): series.values for series in loop.series if "start" in series.name}
    assert list(starts) == ["sensor", "estimator", "control", "actuator"]
    for cycle in zip(*starts.values(), strict=True):
        assert sorted(cycle) == list(cycle)
    assert loop.facts["estimator budget"] == (800_000, "ns")
    missed = sum(value > 4_000_000 for series in loop.series if series.name == "end to end" for value in series.values)
    assert loop.facts["deadline misses"] == (missed, "1")


@needs_fifo
def test_a_loop_that_takes_longer_than_its_interval_says_so(probe: Path) -> None:
    """An interval so short that waking four threads takes longer than it."""
    loop = result(probe, "loop", "iterations=50", "interval_ns=1000").benchmarks[0]
    assert loop.facts["deadline misses"][0] > 0
    assert loop.facts["skipped periods"][0] > 0


@needs_fifo
def test_a_path_that_the_kernel_lacks_is_not_offered(probe: Path) -> None:
    paths = {one.name: one for one in result(probe, "loop", "iterations=3").benchmarks}
    soft = paths.pop("loop by soft timer")
    assert {one.status for one in paths.values()} == {Status.OK}
    if "PREEMPT_RT" in platform.version():
        assert soft.status == Status.OK
    else:
        assert soft.status == Status.NOT_OFFERED
        assert soft.why.startswith("without PREEMPT_RT every timer")
        assert (soft.facts, soft.series) == ({}, [])


@needs_fifo
def test_on_one_cpu_nothing_streams_memory(probe: Path) -> None:
    cpu = min(os.sched_getaffinity(0))
    output = result(probe, "memory", "iterations=3", under=["taskset", "--cpu-list", str(cpu)])
    assert {(one.status, one.why) for one in output.benchmarks} == {
        (Status.NOT_OFFERED, "there is no other CPU to stream on")
    }


@needs_fifo
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed here: apt-get install strace")
@pytest.mark.parametrize("family", [*FAMILIES, LINUX_ONLY])
def test_measured_threads_ask_the_kernel_for_nothing_but_the_mechanism(
    probe: Path, family: str, tmp_path: Path
) -> None:
    """Counted from a thread's start, when it has taken its name, to its end."""
    log = tmp_path / "strace"
    done = run(probe, family, "iterations=4", "out=/dev/null", under=["strace", "-f", "-o", str(log)])
    # A thread that is watched stops at each system call and lets a lower one run meanwhile.
    assert done.returncode == 0 or "did not take turns" in done.stderr
    calls: dict[str, list[str]] = {}
    for thread, call, rest in re.findall(r"^(\d+) +(\w+)\((.*)", log.read_text(), re.MULTILINE):
        if call == "prctl" and '"lower"' in rest:  # and the one before it: no sample is taken while they count
            calls.popitem()
        elif call == "prctl":
            calls[thread] = []
        elif thread in calls:
            calls[thread].append(call)
            assert call != "write" or not rest.startswith(("1,", "2,")), rest
    assert calls
    allowed = MECHANISMS | OPENING.get(family, set()) | {"rt_sigprocmask", "exit"}  # the last two: to end
    assert {call for made in calls.values() for call in made} <= allowed
    if family == "wakeup":
        (made,) = calls.values()
        assert made.count("clock_nanosleep") == 4


@needs_fifo
@pytest.mark.skipif(platform.machine() != "x86_64", reason="steps x86-64 instructions")
def test_a_sample_takes_fewer_instructions_than_cyclictests(probe: Path, tmp_path: Path) -> None:
    """In user space, where the two differ: all in one period, and from the wake-up to the reading of the clock.

    The second is the C library's: musl's takes 52, the glibc of Debian 13 47.
    """
    need("cyclictest")
    stepper = tmp_path / "step_thread"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", stepper, ROOT / "tests/support/step_thread.c"], check=True)
    counts = []
    commands: list[list[str | Path]] = [
        [probe, "wakeup", "interval_ns=5000000", "out=/dev/null"],
        ["cyclictest", "-q", "-m", "-p80", "-i5000", "-t1"],
    ]
    for command in commands:
        done = run(stepper, "10", *command)
        assert done.returncode == 0, done.stderr
        # The least: while the kernel updates its clock, reading it takes another round.
        counts.append(tuple(map(min, zip(*(map(int, line.split()) for line in done.stdout.splitlines()), strict=True))))
    (ours, our_reading), (theirs, their_reading) = counts
    assert ours < theirs, counts
    assert our_reading < their_reading + 10, counts


def test_a_thread_without_its_priority_refuses(probe: Path) -> None:
    done = run(probe, "wakeup", "iterations=3", under=[*without("sys_nice"), "prlimit", "--rtprio=0:0"])
    assert done.returncode == 3
    assert done.stderr == (
        "rtqual-probe: wake-up: SCHED_FIFO priority 80 (be root, or raise RLIMIT_RTPRIO with ulimit -r): "
        "Operation not permitted\n"
    )
    for one in parse(done.stdout, "stdout").benchmarks:
        assert (one.status, one.facts, one.series) == (Status.DENIED, {}, [])


@needs_fifo
@pytest.mark.parametrize("family", ["wakeup", "periodic", "loop"])
def test_a_thread_that_sleeps_takes_next_to_nothing_of_the_cpu(probe: Path, family: str) -> None:
    """And a lower one gets the rest, but for what a busy host takes: one try in five will do."""
    for _ in range(5):
        asleep = result(probe, family, "iterations=3").benchmarks[-1]
        shares = {name: value for name, (value, _) in asleep.facts.items() if "share" in name}
        assert asleep.name == "asleep" and len(shares) == 2
        own = [value for name, value in shares.items() if name.startswith("own share")]
        if max(own) < 10:
            break
    assert max(own) < 10
    assert all(value > 10 for name, value in shares.items() if name.startswith("lower thread's share"))


def test_a_run_without_locked_memory_is_refused(probe: Path) -> None:
    done = run(probe, "wakeup", "iterations=3", under=[*without("ipc_lock"), "prlimit", "--memlock=65536:65536"])
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("rtqual-probe: locking memory (be root, or raise RLIMIT_MEMLOCK with ulimit -l): ")


@needs_fifo
def test_a_cpu_that_is_not_there_is_refused(probe: Path) -> None:
    done = run(probe, "wakeup", "iterations=3", "cpu=1023")
    assert (done.returncode, done.stderr) == (
        3,
        "rtqual-probe: wake-up: CPU 1023 is none of those that this process may use\n",
    )


@needs_fifo
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may take the network away")
def test_a_path_that_fails_ends_the_run_with_the_reason(probe: Path) -> None:
    done = run(probe, "loop", "iterations=3", under=["unshare", "--net"])
    assert done.returncode == 3
    network = next(one for one in parse(done.stdout, "stdout").benchmarks if one.name == "loop by network")
    assert network.status == Status.FAILED
    assert network.why.startswith("UDP on 127.0.0.1 (is the interface lo up?): ")
    assert done.stderr == f"rtqual-probe: loop by network: {network.why}\n"


@pytest.mark.guest
@needs_fifo
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed here: apt-get install strace")
def test_a_thread_that_fails_does_not_leave_the_others_waiting(probe: Path) -> None:
    """The fifth message is not sent, and its receiver would wait for ever."""
    inject = ["strace", "-f", "-o", "/dev/null", "-e", "inject=mq_timedsend:error=EBADF:when=5"]
    done = run(probe, "itc", "iterations=10", under=inject)
    assert done.returncode == 3
    assert re.fullmatch(r"rtqual-probe: sending a message: Bad file .*; thread row waits in vain\n", done.stderr)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["nothing"], "nothing is no family of benchmarks; `rtqual-probe list` names them"),
        (["wakeup", "iterations=0"], "iterations=0: a number from 1 to 10000000 is needed"),
        (["wakeup", "iterations=1e3"], "iterations=1e3: a number from 1 to 10000000 is needed"),
        (["wakeup", "iterations="], "iterations=: a number from 1 to 10000000 is needed"),
        (["wakeup", "iterations=99999999999999999999999999"],
         "iterations=99999999999999999999999999: a number from 1 to 10000000 is needed"),
        (["wakeup", "interval_ns=999"], "interval_ns=999: a number from 1000 to 60000000000 is needed"),
        (["wakeup", "cpu=-1"], "cpu=-1: a number from 0 to 1023 is needed"),
        (["wakeup", "priority=98"], "priority=98: a number from 3 to 97 is needed"),
        (["wakeup", "seed=4294967296"], "seed=4294967296: a number from 0 to 4294967295 is needed"),
        (["wakeup", "iterations"], "iterations is no option: options have the form key=value"),
        (["wakeup", "loops=3"],
         "loops is no option: there are iterations, interval_ns, cpu, priority, seed and out"),
        (["wakeup", "out=/nowhere/result"], "cannot write /nowhere/result: No such file or directory"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(probe: Path, arguments: list[str], complaint: str) -> None:
    done = run(probe, *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"rtqual-probe: {complaint}\n")


@needs_fifo
def test_a_result_that_cannot_be_written_is_an_error(probe: Path) -> None:
    done = run(probe, "wakeup", "iterations=3", "out=/dev/full")
    assert (done.returncode, done.stderr) == (3, "rtqual-probe: wakeup: writing the result: No space left on device\n")


def test_it_says_its_version_and_how_it_is_called(probe: Path) -> None:
    version = re.search(r"version: '([^']*)'", (ROOT / "meson.build").read_text())
    assert version
    assert run(probe, "--version").stdout == f"rtqual-probe {version[1]}\n"
    assert run(probe, "--help").stdout.startswith("rtqual-probe FAMILY [iterations=N]")
    called_without = run(probe)
    assert (called_without.returncode, called_without.stdout) == (2, "")
    assert called_without.stderr.startswith("rtqual-probe FAMILY")

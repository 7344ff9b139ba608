# SPDX-License-Identifier: MIT
"""What is measured is at rest after its boot, or its record says what still ran."""

import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.apt import fetch
from rtqual.base.architecture import AMD64
from rtqual.engine.analysis.figure.early import early_runs
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.module import build_modules
from rtqual.engine.candidates.ready import image_of, make_ready
from rtqual.engine.initramfs.contents import guest_file, guest_tools
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board import Command, JobOutcome, Machine, rest
from rtqual.protocols.record.schema import LATER_S, RESET
from support.analysis_records import record

MODULE = "rtqual-restless.ko"
NS_PER_S = 10**9
WINDOW_NS, LIMIT_NS = 10 * NS_PER_S, 60 * NS_PER_S  # of target/agent/init
# 50 ms are no multiple of its interval: each run meets all phases of what wakes up as often.
PARAMETERS = CyclictestParameters(interval=1_100_000, cycles=600)
RT, STOCK = "linux-image-rt-amd64", "linux-image-amd64"
SHORT_NS = 100_000  # no wake-up of an idle guest is as late
AT_REST = {"rest_ns": "20007448840", "rest_window_ns": "10000000000"}


def agent(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [guest_file("rtqual-agent"), "rest", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [("0", "1"), ("1", "x"), ("-1", "5"), ("1", "86400001"), ("1", "")])
def test_a_wait_of_no_such_length_is_refused_in_a_line(arguments: tuple[str, str]) -> None:
    done = agent(*arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (125, "", 1)


def test_a_process_that_never_rests_is_named_with_its_share() -> None:
    with subprocess.Popen(["sh", "-c", "while :; do :; done"]) as spinner:
        try:
            done = agent(100, 500)
        finally:
            spinner.kill()
    facts = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert (done.returncode, facts["unrest"]) == (0, "busy")
    assert int(facts["rest_busiest_ns"]) > int(facts["rest_window_ns"]) / 100
    assert re.fullmatch(r"\S.*, \d+\.\d % of a CPU", facts["rest_awaited"])


def test_processes_that_have_ended_are_seen() -> None:
    """Each spins for less than a window, and is gone at the next look."""
    if not Path("/proc/schedstat").exists():
        pytest.skip("this machine's kernel does not count what its threads spend (CONFIG_SCHEDSTATS)")
    spin = "i=0; while [ $i -lt 20000 ]; do i=$((i + 1)); done"
    with subprocess.Popen(["sh", "-c", f"while :; do sh -c '{spin}'; done"]) as spinner:
        try:
            facts = dict(line.split("=", 1) for line in agent(1500, 3000).stdout.splitlines())
        finally:
            spinner.kill()
    assert facts["unrest"] == "busy"
    assert int(facts["rest_busiest_ns"]) > int(facts["rest_window_ns"]) / 100


def test_a_limit_below_two_windows_is_no_rest() -> None:
    facts = dict(line.split("=", 1) for line in agent(50, 60).stdout.splitlines())
    assert "unrest" in facts


@pytest.mark.parametrize(
    ("told", "count"),
    [
        (AT_REST, 0),
        ({"rest_reset": "1"}, 0),
        ({}, 1),
        ({"rest_ns": "x"}, 1),
        ({**AT_REST, "unrest": "busy", "rest_awaited": "kworker/0:1, 3.0 % of a CPU"}, 1),
        ({**AT_REST, "unrest": "start", "rest_awaited": "the random generator"}, 1),
        ({**AT_REST, "unrest": "busy"}, 1),
    ],
)
def test_a_record_has_a_problem_unless_its_system_was_at_rest(told: dict[str, str], count: int) -> None:
    problems = rest.problems(told)
    assert len(problems) == count
    assert all(told.get("rest_awaited", "") in problem for problem in problems)
    assert all(("HW_RANDOM" in problem) == ("random generator" in problem) for problem in problems)


def restless(folder: Path, package: str, cpus: int, busy_s: int) -> Callable[[int], JobOutcome]:
    """Runs by their seeds beside the thread of restless_module.c, begun by the guest's first process."""
    fetched = fetch(package, kernel=True)
    source = (Path(__file__).parents[1] / "support/restless_module.c").read_bytes()
    sources = {"restless/Kbuild": b"obj-m += rtqual-restless.o\n", "restless/rtqual-restless.c": source}
    (module,) = build_modules(image_of("restless", fetched)[1], sources, "restless", (MODULE,))
    text, before = guest_file("init").read_text(), "rtqual-agent seed\n"
    assert text.count(before) == 1
    init = folder / "init"
    init.write_text(text.replace(before, f"{before}insmod /lib/rtqual/{MODULE} busy_s={busy_s}\n"))
    init.chmod(0o755)
    extra = {f"lib/rtqual/{MODULE}": module, "init": init}
    kernel = make_ready("", fetched, boot=(), tools=guest_tools(), architecture=AMD64, extra=extra)
    board = VirtualBoard(kernel, Machine(cpus=cpus), folder / "scratch", guests=folder / "guests")
    return lambda seed: board.run(CYCLICTEST.job(PARAMETERS, cpus=cpus, seed=seed), seed=seed, timeout_s=600)


CPUS = pytest.mark.parametrize("cpus", [1, 2])


@pytest.mark.full
@CPUS
def test_a_kernel_whose_thread_is_busy_for_a_minute_has_a_problem(tmp_path: Path, cpus: int) -> None:
    outcome = restless(tmp_path, RT, cpus, 60)(1)
    assert outcome.facts["unrest"] == rest.BUSY
    assert outcome.facts["rest_awaited"].startswith("restless, ")
    assert len(outcome.problems) == 1
    assert int(outcome.facts["rest_ns"]) <= LIMIT_NS


@pytest.mark.full
@CPUS
def test_a_kernel_whose_thread_is_busy_for_a_while_is_waited_for(tmp_path: Path, cpus: int) -> None:
    outcome = restless(tmp_path, RT, cpus, 12)(1)
    assert outcome.problems == ()
    assert outcome.facts["rest_awaited"].startswith("restless, ")
    assert 2 * WINDOW_NS + 12 * NS_PER_S < int(outcome.facts["rest_ns"]) < LIMIT_NS
    assert all(one.values.max() < SHORT_NS for one in CYCLICTEST.read(PARAMETERS, outcome, cpus=cpus).series)


@pytest.mark.full
@CPUS
def test_a_thread_that_wakes_up_for_ever_is_no_transient_and_is_measured(tmp_path: Path, cpus: int) -> None:
    """300 us each 50 ms. A stock kernel does not preempt it: each run has late samples, whenever it begins."""
    run = restless(tmp_path, STOCK, cpus, 0)
    outcomes = [run(seed) for seed in (1, 2, 3, 4)]
    for outcome in outcomes:
        assert outcome.problems == ()
        assert outcome.facts["rest_busiest"] == "restless"
        assert abs(int(outcome.facts["rest_busiest_ns"]) / WINDOW_NS - 0.006) < 0.001
        assert int(outcome.facts["rest_ns"]) < 3 * WINDOW_NS
    series = [CYCLICTEST.read(PARAMETERS, outcome, cpus=cpus).series for outcome in outcomes]
    assert all(max(one.values.max() for one in run) > SHORT_NS for run in series)
    records = [
        record(some, load="none", seed=seed, facts=dict(outcome.facts))
        for seed, (some, outcome) in enumerate(zip(series, outcomes, strict=True), 1)
    ]
    assert [LATER_S in one.manifest.provenance.facts for one in records] == [False, True, False, True]
    assert list(early_runs(records)) == []


@pytest.mark.full
def test_runs_of_a_guest_that_did_not_wait_are_told_by_those_that_begin_later(tmp_path: Path) -> None:
    """Debian's 6.12 tests its ciphers while it is measured at once: 300 us, and 8 to 10 us two seconds later."""
    text, wait = guest_file("init").read_text(), "rtqual-agent rest 10000 60000 > /run/rest"
    assert text.count(wait) == 1
    init = tmp_path / "init"
    init.write_text(text.replace(wait, f"echo {RESET}=1 > /run/rest"))
    init.chmod(0o755)
    package = fetch("linux-image-6.12-amd64", kernel=True)
    kernel = make_ready("", package, boot=(), tools=guest_tools(), architecture=AMD64, extra={"init": init})
    board = VirtualBoard(kernel, Machine(), tmp_path / "scratch", guests=tmp_path / "guests")
    job = CYCLICTEST.job(PARAMETERS, cpus=1, seed=1)
    records = []
    for seed, delay_s in ((1, 0), (2, 2)):
        outcome = board.run(replace(job, setup=(Command(("sleep", str(delay_s))),)), seed=1, timeout_s=300)
        measured = CYCLICTEST.read(PARAMETERS, outcome, cpus=1)
        facts = {LATER_S: str(delay_s)} if delay_s else {}
        records.append(record(measured.series, load="none", seed=seed, facts=facts))
    assert len(list(early_runs(records))) == 1
    assert list(early_runs([records[1], records[1]])) == []

# SPDX-License-Identifier: MIT
"""The longest sections that the plugin finds are those that the kernel's own tracers name, in a run of their own.

The kernel is built with irqsoff, preemptoff and timerlat: half an hour (`make test-manual`).
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.board import Command
from rtqual.record.store import Store, read
from rtqual.stage.explain import Asked, Explained, _Run, explain
from support.command import Run

MISSION = """\
[mission]
name = "tracers"
title = "A kernel with its latency tracers"
purpose = "What holds interrupts or preemption off for longest?"
duration = "1 min"
needs = ["realtime"]

[[candidate]]
name = "traced"
title = "Linux 6.12 with PREEMPT_RT and tracers"
[candidate.tailor]
needs = ["virtual-board"]

[candidate.tailor.require]
FTRACE = "y"
FUNCTION_TRACER = "y"
IRQSOFF_TRACER = "y"
PREEMPT_TRACER = "y"
OSNOISE_TRACER = "y"
TIMERLAT_TRACER = "y"
KALLSYMS = "y"
KALLSYMS_ALL = "y"

[parameters.cyclictest]
cycles = 1000

[[scale.demo.plan]]
instruments = ["cyclictest"]
loads = ["none", "hackbench"]
runs = 1
"""
_AT = "/sys/kernel/tracing"
_BEGIN = f"mount -t tracefs none {_AT}; cd {_AT}; echo 0 > options/function-trace; echo {{}} > current_tracer"
# The tracer keeps the longest section; taken away every 20 ms, it gives the longest of each such time.
_KEPT = (
    f"cd {_AT}; while :; do echo 0 > tracing_max_latency; sleep 0.02; "
    "grep -E 'latency:|=> (started|ended)' trace; done > /run/result/file.sections"
)
_SECTION = re.compile(r"latency: (\d+) us.*\n.*started at: (\S+).*\n.*ended at: +(\S+)")
LONGEST = 5


@pytest.fixture(scope="module")
def loaded(rtqual: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of its run under hackbench."""
    folder = tmp_path_factory.mktemp("tracers")
    (folder / "tracers.toml").write_text(MISSION)
    done = rtqual("select", folder / "tracers.toml", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return next(path for path in Store(folder / "out/records").paths() if read(path).inputs.load == "hackbench")


@pytest.fixture(scope="module")
def watched(loaded: Path) -> Explained:
    (told,) = explain({loaded: Asked(worst=1)}, sections=8)
    return told


def traced(record: Path, tracer: str, folder: Path) -> dict[str, int]:
    """Where the longest sections begin by the kernel's own tracer -> us, the longest first."""
    run = _Run(record, read(record), folder, print)
    begin = Command(("sh", "-c", _BEGIN.format(tracer)))
    job = replace(run.job, setup=(*run.job.setup, begin), loads=(*run.job.loads, Command(("sh", "-c", _KEPT), fifo=60)))
    found = _SECTION.findall(run._outcome(run._board(run.machine), job).files["sections"])
    longest: dict[str, int] = {}
    for us, began, ended in sorted(found, key=lambda one: -int(one[0])):
        print(tracer, us, began, ended)
        longest.setdefault(began.partition("+")[0], int(us))
    return dict(list(longest.items())[:LONGEST])


@pytest.mark.manual
@pytest.mark.parametrize(("tracer", "kind"), [("irqsoff", "interrupts off"), ("preemptoff", "preemption off")])
def test_the_longest_sections_are_those_that_the_kernels_tracer_names(
    loaded: Path, watched: Explained, tmp_path: Path, tracer: str, kind: str
) -> None:
    of_plugin = [one for one in watched.longest if one.section.kind == kind]
    for one in of_plugin:
        print(kind, one.section.duration_ns, one.section.thread, one.chain)
    of_tracer = traced(loaded, tracer, tmp_path)
    assert len(of_tracer) == LONGEST
    named = [function for function in of_tracer if any(function in one.chain for one in of_plugin)]
    assert len(named) >= LONGEST, (of_tracer, [one.chain for one in of_plugin])

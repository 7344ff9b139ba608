# SPDX-License-Identifier: MIT
"""The longest sections that the plugin finds are those that the kernel's own tracers name, in a run of their own.

The kernel is built with irqsoff, preemptoff and timerlat: half an hour (`make test-manual`).
"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.parts.explain import sections
from rtqual.parts.explain.context import slices
from rtqual.parts.explain.stage import _Run
from rtqual.parts.explain.windows import apart, places, window
from rtqual.protocols.board import Command
from rtqual.protocols.record.store import Store, read
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
    "grep -E 'latency:|=> ' trace; done > /run/result/file.sections"
)
_SECTION = re.compile(r"latency: (\d+) us.*\n.*started at: (\S+).*\n.*ended at: +(\S+)")
LONGEST, LOOKED_AT = 5, 100
# The tracer is called after the entry that switches interrupts off, and before the return that switches them on.
_ENTRY, _RETURN = "irqentry_enter", {"asm_common_interrupt": "native_irq_return_iret"}


@pytest.fixture(scope="module")
def loaded(rtqual: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The record of its run under hackbench."""
    folder = tmp_path_factory.mktemp("tracers")
    (folder / "tracers.toml").write_text(MISSION)
    done = rtqual("select", folder / "tracers.toml", "--out", folder / "out")
    assert done.returncode == 0, done.stderr
    return next(path for path in Store(folder / "out/records").paths() if read(path).inputs.load == "hackbench")


def of_plugin(record: Path, folder: Path) -> dict[str, dict[tuple[str, str], int]]:
    """By kind: where a section begins and ends -> its longest in ns. All samples are the record's, or it fails; which
    reading is which sample is not asked: this kernel is up so soon that it corrects its clock's rate meanwhile."""
    run = _Run(record, read(record), folder, print)
    symbols = run.symbols()
    events = run._watched(symbols, ())
    read_ns = [ns for _, ns, thread in events.readings() if thread.name == "cyclictest"]
    late = sections.longest(events, read_ns[0], read_ns[-1], LOOKED_AT)
    theirs = [window(events, one.begin_ns, one.end_ns) for one in late]
    windows = apart(theirs)
    closer = run._watched(symbols, windows)
    found: dict[str, dict[tuple[str, str], int]] = {}
    for one, there in zip(late, theirs, strict=True):
        began, ended = (symbols.named(word) for word in (one.off_word, one.on_word))
        if began == "preempt_count_add":  # called by the function that the tracer names
            parts = slices(closer, run.processor, symbols, *places(closer, there, windows))
            chain = next(part.chain for part in parts if one.begin_ns <= part.begin_ns < one.end_ns)
            began = next((name for name in reversed(chain) if name != "preempt_count_add"), "")
        found.setdefault(one.kind, {}).setdefault((began, ended), one.duration_ns)
    return found


def of_tracer(record: Path, tracer: str, folder: Path) -> dict[tuple[str, str], int]:
    """Where the longest sections begin and end by the kernel's own tracer -> us, the longest first."""
    run = _Run(record, read(record), folder, print)
    begin = Command(("sh", "-c", _BEGIN.format(tracer)))
    job = replace(run.job, setup=(*run.job.setup, begin), loads=(*run.job.loads, Command(("sh", "-c", _KEPT), fifo=60)))
    told = _SECTION.findall(run.outcome(run.board(run.machine), job).files["sections"])
    longest: dict[tuple[str, str], int] = {}
    for us, began, ended in sorted(told, key=lambda one: -int(one[0])):
        longest.setdefault((began, ended), int(us))
    return longest


@pytest.mark.manual
def test_the_longest_sections_are_those_that_the_kernels_tracers_name(loaded: Path, tmp_path: Path) -> None:
    plugin = of_plugin(loaded, tmp_path)
    irqs = list(of_tracer(loaded, "irqsoff", tmp_path).items())[:LONGEST]
    preempt = of_tracer(loaded, "preemptoff", tmp_path)
    print(plugin, irqs, preempt, sep="\n")
    assert len(irqs) == LONGEST
    for (began, ended), us in irqs:
        there = {
            pair: ns for pair, ns in plugin["interrupts off"].items()
            if pair[1] in (ended, _RETURN.get(ended)) and (pair[0] == began or (began == _ENTRY and "asm_" in pair[0]))
        }  # fmt: skip
        assert there and abs(max(there.values()) / 1000 - us) < 0.3 * us, (began, ended, us, there)
    # What the tracer names beyond these is shorter than the longest that the plugin looked at.
    begun = {began for began, _ in plugin["preemption off"]}
    least_us = min(plugin["preemption off"].values()) / 1000
    starts = {began for (began, _), us in preempt.items() if us > least_us}
    assert len(starts) >= 3 and starts <= begun, (starts, begun)

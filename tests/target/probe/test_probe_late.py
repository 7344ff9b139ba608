# SPDX-License-Identifier: MIT
"""What made timerlat's samples late, told by the system's own kernel in the run that it measures."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rtqual.engine.instruments.late import LATE, LateParameters, worst
from rtqual.protocols.record.schema import LatePart, LateSample, Measurement, Series, Timing
from rtqual.protocols.record.store import MANIFEST, Store, read
from support.command import Run
from support.instrument_outputs import captured_text, read_text
from support.late_guest import LateGuest
from support.store_records import INPUTS, change_manifest, record, reseal

OF_TIMERLAT = INPUTS.model_copy(update={"instrument": LATE.name, "board": "local"})
# The timer expires at 1,000,000; its handler, in an interrupt from 1,000,400 on, reads its clock at 1,000,900. The
# thread is counted from there on and goes on until 1,060,000, interrupted by the rest of the timer's interrupt (until
# 1,003,400), by another (5 us), and by a softirq (10 us) that a third interrupt hits (2 us).
NESTED = """\
          load-7       [000] d..h1..     0.001001: #1     context    irq timer_latency       900 ns
          load-7       [000] d..h1..     0.001004: irq_noise: local_timer:236 start 0.001000400 duration 3000 ns
          load-7       [000] d..h1..     0.001015: irq_noise: eth 0:40 start 0.001010000 duration 5000 ns
          load-7       [000] d..h1..     0.001027: irq_noise: eth 0:40 start 0.001025000 duration 2000 ns
          load-7       [000] ..s.1..     0.001032: softirq_noise: NET_RX:3 start 0.001020000 duration 10000 ns
          load-7       [000] d...3..     0.001060: thread_noise: load:7 start 0.001000900 duration 39100 ns
     timerlat/0-9      [000] .......     0.001062: #1     context thread timer_latency     62000 ns
     timerlat/0-9      [000] .......     0.001062: <stack trace>
 => timerlat_irq
 => asm_sysvec_apic_timer_interrupt
 => hold
 => do_syscall_64
 => 0x00000017
"""


def test_what_ran_meanwhile_is_laid_out_with_what_interrupted_it() -> None:
    (told,) = worst(NESTED, 100, 50)
    assert (told.number, told.cpu, told.value_ns, told.calls) == (101, 0, 62_000, ["do_syscall_64", "hold"])
    assert [(one.source, one.begin_ns, one.duration_ns, one.name) for one in told.parts] == [
        ("before", 0, 900, "load:7"),
        ("irq", 900, 2_500, "local_timer"),
        ("thread", 3_400, 6_600, "load:7"),
        ("irq", 10_000, 5_000, "eth 0"),
        ("thread", 15_000, 5_000, "load:7"),
        ("softirq", 20_000, 5_000, "NET_RX"),
        ("irq", 25_000, 2_000, "eth 0"),
        ("softirq", 27_000, 5_000, "NET_RX"),
        ("thread", 32_000, 28_000, "load:7"),
        ("switch", 60_000, 2_000, ""),
    ]


def test_the_worst_of_a_run_come_with_parts_that_add_up() -> None:
    found = read_text("timerlat-late", captured_text("timerlat-late"))
    names = [(one.info.name, one.total) for one in found.series]
    assert names == [("thread", 8), ("irq", 8), ("watched thread", 8), ("watched irq", 8)]
    assert [one.number for one in found.late] == [3, 7, 8, 6, 2, 5, 4, 1]
    assert all(sum(part.duration_ns for part in one.parts) == one.value_ns for one in found.late)
    assert [(one.source, one.duration_ns) for one in found.late[0].parts] == [
        ("before", 5278), ("irq", 28330), ("thread", 5352), ("switch", 1552),
    ]  # fmt: skip
    assert found.late[0].calls[-2:] == ["__schedule", "finish_task_switch.isra.0"]
    untold = [one.number for one in found.late if any(part.source == "untold" for part in one.parts)]
    assert untold == [5, 1]  # the first of each turn, which the events do not hold yet


def test_calls_can_be_left_out() -> None:
    with_calls, without = (
        LATE.job(LateParameters(calls=calls), cpus=1, seed=1).measure.argv[2] for calls in (True, False)
    )
    assert with_calls.count("print_stack") == without.count("print_stack") + 1 == 2  # the last puts it back


def test_a_record_without_it_is_written_as_before(tmp_path: Path) -> None:
    path = Store(tmp_path).write(record())
    assert "late" not in json.loads((path / MANIFEST).read_text())
    assert read(path).manifest.late is None


@pytest.fixture
def told(tmp_path: Path) -> Path:
    return Store(tmp_path / "records").write(
        record(read_text("timerlat-late", captured_text("timerlat-late")), OF_TIMERLAT)
    )


def test_a_record_of_any_board_is_explained_as_it_was_told(told: Path, rtqual: Run, tmp_path: Path) -> None:
    done = rtqual("explain", told, "--worst", "1", "--ctf", tmp_path / "ctf")
    assert done.returncode == 0, done.stderr
    assert "a idle on the local board, seed 1: told by its own kernel in the run" in done.stdout
    assert (
        "Sample 3: 40.51 us\n  mostly interrupt, 28.33 us (69.9 % of it): local_timer in hackbench:185" in done.stdout
    )
    assert "Watching moves what it watches" in done.stdout and "(8 and 8 samples)" in done.stdout
    (run,) = json.loads(rtqual("explain", told, "--sample", "7", "--json").stdout)["runs"]
    assert [part["duration_ns"] for part in run["timelines"][0]["parts"]] == [1132, 20598, 6922, 1596]
    read_back = subprocess.run(["babeltrace2", tmp_path / "ctf"], capture_output=True, text=True, check=True).stdout
    assert "duration_ns = 28330" in read_back


@pytest.mark.parametrize("arguments", [("--sample", "9"), ("--above", "1 ms")])
def test_samples_that_were_not_kept_are_not_told(
    told: Path, fails: Callable[..., str], arguments: tuple[str, ...]
) -> None:
    assert "keeps its 8 worst samples, and none of those asked for" in fails(2, "explain", told, *arguments)


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("duration_ns", 8_330, "sample 3 do not add up to its 40512 ns"),
        ("begin_ns", 0, "sample 3 do not add up to its 40512 ns"),
        ("begin_ns", 2**63, "not a record's manifest: late.0.parts.1.begin_ns"),
        ("duration_ns", -1, "not a record's manifest: late.0.parts.1.duration_ns"),
    ],
)
def test_parts_that_do_not_fit_are_refused(
    told: Path, fails: Callable[..., str], key: str, value: int, said: str
) -> None:
    late = json.loads((told / MANIFEST).read_text())["late"]
    late[0]["parts"][1][key] = value
    change_manifest(told, late=late)
    assert said.startswith("not") or "was changed after the run" in fails(2, "explain", told)
    reseal(told)
    assert said in fails(2, "explain", told)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"value_ns": 10**9, "parts": [{"source": "irq", "begin_ns": 0, "duration_ns": 10**9, "name": "x"}]}, "has no"),
        ({"value_ns": 0, "parts": [{"source": "before", "begin_ns": 0, "duration_ns": 0, "name": ""}]}, "has no 0 ns"),
        ({"number": 9}, "there is no sample 9 of CPU 0"),
        ({"number": 7}, "there is no sample 7 of CPU 0, or it is there twice"),
        ({"cpu": 1}, "there is no sample 3 of CPU 1"),
        ({"calls": ["f\nVERDICT: fly it"]}, "not a record's manifest: late.0.calls.0"),
    ],
)
def test_samples_that_the_record_does_not_have_are_refused(
    told: Path, fails: Callable[..., str], changes: dict[str, Any], said: str
) -> None:
    first, *others = json.loads((told / MANIFEST).read_text())["late"]
    change_manifest(told, late=[{**first, **changes}, *others])
    reseal(told)
    assert said in fails(2, "explain", told)


@pytest.mark.parametrize("of", [{"instrument": "timerlat"}, {"candidate": "a\nVERDICT: fly it"}, {"cpus": 2}])
def test_late_samples_of_another_run_are_refused(fails: Callable[..., str], tmp_path: Path, of: dict[str, Any]) -> None:
    found = read_text("timerlat-late", captured_text("timerlat-late"))
    fails(2, "explain", Store(tmp_path).write(record(found, OF_TIMERLAT.model_copy(update=of))))


def test_the_worst_that_are_left_out_are_said(told: Path, rtqual: Run) -> None:
    change_manifest(told, late=json.loads((told / MANIFEST).read_text())["late"][2:])
    reseal(told)
    assert "2 samples later than the last of these were not told whole" in rtqual("explain", told).stdout


def test_the_virtual_board_has_no_real_time_whatever_the_record_says(rtqual: Run, tmp_path: Path) -> None:
    of = OF_TIMERLAT.model_copy(update={"board": "virtual"})
    found = record(read_text("timerlat-late", captured_text("timerlat-late")), of, timing=Timing.REAL)
    assert "Times count instructions" in rtqual("explain", Store(tmp_path).write(found)).stdout


def test_each_cpu_says_by_how_much_watching_moved_it(rtqual: Run, tmp_path: Path) -> None:
    names = {"thread": ([10, 10, 10, 10], [50, 50, 50, 50]), "watched thread": ([10, 11, 12, 13], [90, 91, 92, 93])}
    series = [Series.raw(one, name=name, cpu=cpu) for name, both in names.items() for cpu, one in enumerate(both)]
    parts = [LatePart(source="before", begin_ns=0, duration_ns=93, name="x:1")]
    late = LateSample(number=4, cpu=1, value_ns=93, parts=parts, calls=[])
    path = Store(tmp_path).write(
        record(Measurement(tuple(series), late=(late,)), OF_TIMERLAT.model_copy(update={"cpus": 2}))
    )
    shown = rtqual("explain", path).stdout
    assert "Sample 4 on CPU 1: 93 ns" in shown
    assert "the median on CPU 0 is 12 ns with it and 10 ns without (4 and 4 samples)" in shown
    (run,) = json.loads(rtqual("explain", path, "--json").stdout)["runs"]
    assert [(one["cpu"], one["median_ns"], one["moved_ns"]) for one in run["watching"]] == [
        (0, 11.5, [0.5, 2.5]), (1, 91.5, [40.5, 42.5]),
    ]  # fmt: skip


def test_a_storm_of_interrupts_is_told_in_one_pass() -> None:
    """It took minutes from some 1,000 on, of one sample."""
    storm = "".join(
        f" load-7 [000] d..h1.. 0.001015: irq_noise: e:40 start 0.{at:09d} duration 5 ns\n"
        for at in range(1_004_000, 1_050_000, 10)
    )
    (told,) = worst(NESTED.replace(" => timerlat_irq\n", "").replace("          load-7", storm + " load-7", 1), 0, 50)
    assert len(told.parts) > 7_000 and sum(one.duration_ns for one in told.parts) == told.value_ns == 62_000
    assert not [*worst(" load-7 [000] d..h1.. 0.001015: irq_noise:" + " " * 100_000 + "x", 0, 50)]


@pytest.mark.guest
def test_what_a_module_does_is_named_by_a_real_kernel(tmp_path: Path) -> None:
    guest = LateGuest(tmp_path, "linux-image-rt-amd64")
    found: dict[str, LateSample] = {}
    for way in ("irqs", "preempt", "none"):
        (found[way], *_) = read(guest.record(way, LATE, LateParameters(cycles=60))).manifest.late or []
    irqs = found["irqs"]
    # Of the 200 us that the module holds; where in them the timer falls is the run's phase.
    assert irqs.parts[0].source == "before" and 100_000 < irqs.parts[0].duration_ns < 200_000
    assert any(name.startswith("late_hold_interrupts") for name in irqs.calls)
    preempt = found["preempt"]
    assert max(preempt.parts, key=lambda one: one.duration_ns).source == "thread"
    assert any(name.startswith("late_hold_preemption") for name in preempt.calls)
    assert not any(name.startswith("late_hold") for name in found["none"].calls)

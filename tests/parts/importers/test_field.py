# SPDX-License-Identifier: MIT
"""Results as people have them (tests/data/field, tests/data/import): each gives the figures worked out by hand."""

from pathlib import Path
from typing import Any

import pytest

from rtqual.base.errors import BadInput
from rtqual.base.units import format_value
from rtqual.parts.importers.records import Circumstances, Imported, import_files
from rtqual.parts.importers.words import as_dict, lines

FIELD = Path(__file__).parents[2] / "data" / "field"
IMPORT = Path(__file__).parents[2] / "data" / "import"

Run = tuple[str, str, list[tuple[str, int | None, int | None, float | None, float | None, float | None]]]
# file -> of each run its candidate, its instrument, and of each series name, CPU, samples, min, avg and max in ns
US, MS = 1e3, 1e6
EXPECTED: dict[str, list[Run]] = {
    "cyclictest-after-uname.txt": [("c", "cyclictest", [("latency", None, 10_000, 37 * US, 47 * US, 70 * US)])],
    "cyclictest-default-priority.txt": [("c", "cyclictest", [("latency", None, 10_000, 18 * US, 28 * US, 211 * US)])],
    "cyclictest-next-command.txt": [("c", "cyclictest", [("latency", None, 10_000, 37 * US, 47 * US, 70 * US)])],
    "cyclictest-no-dma-latency.txt": [("c", "cyclictest", [("latency", None, 100_000, 2 * US, 5 * US, 61 * US)])],
    "cyclictest-policy-other.txt": [("c", "cyclictest", [("latency", None, 299_848, 5 * US, 11 * US, 21_205 * US)])],
    "cyclictest-two-blanks.txt": [
        (
            "c",
            "cyclictest",
            [("latency", 0, 100_000, 5 * US, 7 * US, 18 * US), ("latency", 1, 66_667, 4 * US, 7 * US, 21 * US)],
        )
    ],
    "cyclictest-two-kernels.txt": [
        (
            "c (realtime)",
            "cyclictest",
            [("latency", 0, 500_000, 6 * US, 16 * US, 306 * US), ("latency", 1, 499_990, 6 * US, 16 * US, 342 * US)],
        ),
        (
            "c (default)",
            "cyclictest",
            [
                ("latency", 0, 500_000, 4 * US, 13 * US, 8_380 * US),
                ("latency", 1, 499_991, 4 * US, 13 * US, 8_408 * US),
            ],
        ),
    ],
    "cyclictest-overflow.json": [
        (
            "c",
            "cyclictest",
            [
                ("latency", 0, 299_989, 25 * US, 63.37 * US, 3_030 * US),
                ("latency", 1, 299_990, 20 * US, 20 * US, 20 * US),
            ],
        )
    ],
    "hackbench-fedora-prompt.txt": [("c", "hackbench", [("time", None, 1, 1_234 * MS, 1_234 * MS, 1_234 * MS)])],
    "hackbench-sockets-and-pipes.txt": [
        ("c", "hackbench (transport sockets)", [("time", None, 2, 8_108 * MS, 8_155 * MS, 8_202 * MS)]),
        ("c", "hackbench (transport pipes)", [("time", None, 2, 3_822 * MS, 3_866.5 * MS, 3_911 * MS)]),
    ],
    "histogram-as-table.csv": [
        (
            "c",
            "cyclictest",
            [
                ("latency", 0, 100_000, 2 * US, 3.41008 * US, 8 * US),
                ("latency", 1, 100_000, 3 * US, 3.49013 * US, 8 * US),
            ],
        )
    ],
    "histogram-footer-first.txt": [("c", "cyclictest", [("latency", None, 100_000, 7 * US, 10 * US, 27 * US)])],
    "osadl-rt-dataset.json": [
        (
            "c",
            "cyclictest",
            [("latency", 0, 100_000, 2 * US, 2.10629 * US, 38 * US), ("latency", 1, 100_000, 2 * US, None, None)],
        )
    ],
    "rtla-fedora-prompt.txt": [
        ("c", "rtla-timerlat", [("thread", 0, 10_001, 1 * US, 2 * US, 9 * US), ("irq", 0, 10_001, 0, 0, 2 * US)])
    ],
    "rtla-user-thread-empty.txt": [
        (
            "c",
            "rtla-timerlat",
            [
                ("thread", 0, 2_000, 2 * US, 2 * US, 9 * US),
                ("thread", 1, 2_000, 2 * US, 3 * US, 9 * US),
                ("irq", 0, 2_000, 1 * US, 1 * US, 2 * US),
                ("irq", 1, 2_000, 1 * US, 1 * US, 2 * US),
                ("user", 1, 2_000, 2 * US, 3 * US, 9 * US),
            ],
        )
    ],
    "rtla-user-threads.txt": [
        (
            "c",
            "rtla-timerlat",
            [
                ("thread", 1, 10_000, 1 * US, 1 * US, 3 * US),
                ("thread", 2, 10_000, 1 * US, 1 * US, 3 * US),
                ("irq", 1, 10_001, 0, 0, 2 * US),
                ("irq", 2, 10_000, 0, 0, 2 * US),
                ("user", 1, 10_001, 2 * US, 2 * US, 19 * US),
                ("user", 2, 10_000, 2 * US, 2 * US, 19 * US),
            ],
        )
    ],
    "stress-ng-without-online.yaml": [("c", "stress-ng-cpu", [])],
    "sysbench-0.4-repeated.txt": [
        ("c", "sysbench-oltp", [("latency", None, 100_000, 6.31 * MS, 38.38 * MS, 280.08 * MS)])
    ],
    "sysbench-0.4-threads.txt": [
        ("c", "sysbench-threads", [("latency", None, 10_000, 0.35 * MS, 3.12 * MS, 26.58 * MS)])
    ],
    "sysbench-1.1-memory.txt": [("c", "sysbench-memory", [("latency", None, 262_144, 0, 0.01 * MS, 9.11 * MS)])],
    "sysbench-no-events.txt": [("c", "sysbench-memory", [])],
    "xenomai-latency.txt": [("c", "latency-user", [("latency", None, None, 4_374, 5_850, 49_833)])],
}
# The same of formats that people have beside those; figures of public results, reduced (tests/data/import/README.md).
FORMATS: dict[str, list[Run]] = {
    "xenomai-latency.txt": [("c", "latency-user", [("latency", None, None, 6_874, 8_708, 28_333)])],
    "xenomai-klatency.txt": [("c", "latency-kernel", [("latency", None, None, -4_250, -817.333, 5_167)])],
    "rtai-latency.txt": [("c", "latency", [("latency", None, None, -1_571, 1_614.5, 9_704)])],
    "latmus-plot.txt": [("c", "latmus-user", [("latency", None, 100, 2_936, 2_948, 3_035)])],
    "stress-ng-cyclic.txt": [("c", "stress-ng-cyclic", [("latency", None, 10_000, 2_688, 23_829.70, 5_701_735)])],
    "stress-ng-cyclic-bins.txt": [("c", "stress-ng-cyclic", [("latency", None, 200, 8_426, 8_692.04, 12_214)])],
    "ptsematest.txt": [
        (
            "c",
            "ptsematest",
            [("latency", 0, 1_000_000, 1 * US, 2 * US, 11 * US), ("latency", 1, 811_035, 1 * US, 2 * US, 13 * US)],
        )
    ],
    "pmqtest.txt": [("c", "pmqtest", [("latency", 3, 99_996, 98 * US, 183 * US, 1_676 * US)])],
    "irqsoff.txt": [("c", "tracer-irqsoff", [("longest", 0, None, None, None, 253 * US)])],
    "wakeup-rt-quoted.txt": [("c", "tracer-wakeup_rt", [("longest", 0, None, None, None, 2_000 * US)])],
    "hwlatdetect.txt": [("c", "hwlatdetect", [("gap", None, 60, None, None, 19 * US)])],
    "hwlatdetect-below.txt": [("c", "hwlatdetect", [])],
    "timerlat-trace.txt": [
        (
            "c",
            "timerlat",
            [
                ("thread", 0, 2, 3_070, 7_385, 11_700),
                ("thread", 1, 1, 9_820, 9_820, 9_820),
                ("irq", 0, 2, 769, 850.5, 932),
                ("irq", 1, 1, 2_833, 2_833, 2_833),
            ],
        )
    ],
    "rtla-timerlat-top.txt": [
        (
            "c",
            "rtla-timerlat",
            [
                ("thread", 0, 10_080, 2 * US, 9 * US, 24 * US),
                ("thread", 1, 10_080, 2 * US, 9 * US, 22 * US),
                ("irq", 0, 10_080, 0, 1 * US, 12 * US),
                ("irq", 1, 10_080, 0, 1 * US, 8 * US),
            ],
        )
    ],
    "oslat.txt": [
        (
            "c",
            "oslat",
            [("gap", 1, 183_005_034, 1 * US, 1 * US, 6 * US), ("gap", 2, 183_004_976, 1 * US, 1 * US, 2 * US)],
        )
    ],
    "sysjitter.txt": [
        ("c", "sysjitter", [("gap", 0, 10_240, 210, 1_302, 18_999), ("gap", 1, 9_981, 211, 1_290, 17_100)])
    ],
    "perf-sched-latency.txt": [
        (
            "c",
            "perf-sched-latency",
            [("ps:20861", None, 12, None, 283 * US, 2.774 * MS), ("cat:(2)", None, 4, None, 1.064 * MS, 2.148 * MS)],
        )
    ],
    "thread-metric.txt": [
        ("c", "thread-metric-preemptive-scheduling", [("loops a period", None, 2, 5_942_389, 5_942_395, 5_942_401)])
    ],
    "cyclicdeadline.txt": [
        (
            "c",
            "cyclicdeadline",
            [("latency", 0, 1_000, 2 * US, 5 * US, 19 * US), ("latency", 1, 1_000, 2 * US, 5 * US, 24 * US)],
        )
    ],
    "zephyr-latency.txt": [("c", "zephyr-latency_measure", [])],
    "ptsematest.json": [("c", "ptsematest", [("latency", 1, 50, 1 * US, 263.7 * US, 3_995 * US)])],
    "signaltest.json": [
        (
            "c",
            "signaltest",
            [
                ("latency", 0, 50, 39 * US, 406.16 * US, 7_990 * US),
                ("latency", 1, 50, 37 * US, 1_392.76 * US, 18_060 * US),
            ],
        )
    ],
    "rtosbench.txt": [
        ("c", "rtosbench-round-robin-context-switch-results", [("time", None, None, 493, 593, 3_627)]),
        ("c", "rtosbench-sem-wait-block", [("time", None, None, 654, 1_015, 45_142)]),
        ("c", "rtosbench-sem-signal-unblock", [("time", None, None, 814, 938, 4_572)]),
    ],
}


def imported(path: Path, folder: Path, *candidates: str) -> list[Imported]:
    return import_files([path], folder / "out", Circumstances(candidates or ("c",)))


def runs(found: list[Imported]) -> list[Run]:
    told: list[Any] = [as_dict(one) for one in found]
    keys = ("name", "cpu", "samples", "min", "avg", "max")
    return [
        (one["candidate"], one["instrument"], [tuple(series[key] for key in keys) for series in one["series"]])
        for one in told
    ]


@pytest.mark.parametrize(("folder", "file"), [*((FIELD, f) for f in EXPECTED), *((IMPORT, f) for f in FORMATS)])
def test_the_figures_are_those_worked_out_by_hand(folder: Path, file: str, tmp_path: Path) -> None:
    expected = (EXPECTED if folder is FIELD else FORMATS)[file]
    for ours, theirs in zip(runs(imported(folder / file, tmp_path)), expected, strict=True):
        assert ours[:2] == theirs[:2]
        for a, b in zip(ours[2], theirs[2], strict=True):
            assert a[:3] == b[:3]
            for ours_ns, theirs_ns in zip(a[3:], b[3:], strict=True):
                assert ours_ns == (None if theirs_ns is None else pytest.approx(theirs_ns, rel=1e-9, abs=1e-3))


def test_every_field_result_is_tried() -> None:
    files = {path.name for path in FIELD.iterdir() if not path.name.startswith(("lint-", "board-"))} - {"README.md"}
    assert files == set(EXPECTED)


@pytest.mark.parametrize(
    ("file", "doubts"),
    [
        ("cyclictest-after-uname.txt", 0),
        ("cyclictest-next-command.txt", 0),
        ("cyclictest-default-priority.txt", 1),  # its priority is not the one asked for
        ("cyclictest-no-dma-latency.txt", 1),  # idle states were not held off
        ("cyclictest-policy-other.txt", 1),  # no real-time priority
        ("cyclictest-two-kernels.txt", 0),
        ("histogram-footer-first.txt", 0),
        ("histogram-as-table.csv", 0),
        ("osadl-rt-dataset.json", 0),
        ("rtla-user-thread-empty.txt", 0),
        ("sysbench-no-events.txt", 1),
        ("sysbench-1.1-memory.txt", 0),
        ("stress-ng-without-online.yaml", 0),
    ],
)
def test_only_what_is_doubtful_is_doubted(file: str, doubts: int, tmp_path: Path) -> None:
    for one in imported(FIELD / file, tmp_path):
        assert len(one.record.manifest.problems) == doubts, one.record.manifest.problems


def test_the_kernel_and_the_machine_stand_above_a_run(tmp_path: Path) -> None:
    (one,) = imported(FIELD / "cyclictest-after-uname.txt", tmp_path)
    provenance = one.record.manifest.provenance
    assert provenance.kernel == "6.6.31-rt31-v8 #1 SMP PREEMPT_RT Thu May 30 10:00:00 UTC 2024"
    assert provenance.facts["machine"] == "aarch64"
    assert not any("kernel" in text or "machine" in text for text in one.found.reading.untold)


def test_cpus_parameters_and_scalars_of_the_field_results(tmp_path: Path) -> None:
    (stress,) = imported(FIELD / "stress-ng-without-online.yaml", tmp_path)
    assert stress.record.inputs.cpus == 4
    (memory,) = imported(FIELD / "sysbench-1.1-memory.txt", tmp_path)
    scalars = memory.record.manifest.scalars
    assert scalars["operations_per_s"].value == 935_856.69 and scalars["total_time"].value == pytest.approx(0.2801e9)
    (cobalt,) = imported(FIELD / "xenomai-latency.txt", tmp_path)
    assert cobalt.record.inputs.parameters == {"interval": 1_000_000, "priority": 99}
    assert cobalt.record.manifest.scalars["overruns"].value == 0
    (osadl,) = imported(FIELD / "osadl-rt-dataset.json", tmp_path)
    second = osadl.record.series[1].info
    assert (second.overflow, second.overflow_from) == (2, 40_000)
    assert (osadl.record.inputs.load, osadl.record.inputs.board) == ("idle", "rack.example.org")
    assert osadl.record.manifest.provenance.kernel == "5.15.49-rt47"
    assert "CONFIG_PREEMPT_RT=y" in osadl.record.manifest.provenance.facts["configuration"]
    (switches,) = imported(IMPORT / "zephyr-latency.txt", tmp_path)
    assert switches.record.manifest.scalars["isr.resume.interrupted.thread.kernel"].value == 3_033


def test_what_is_printed_is_what_the_record_holds(tmp_path: Path) -> None:
    for file in EXPECTED:
        for one in imported(FIELD / file, tmp_path):
            told = "\n".join(lines([one]))
            held = sum(int(n) for *_, n, _, _, _ in runs([one])[0][2] if n)
            assert f"{held:,} samples" in told or not held
            for series in one.record.series:
                if series.info.overflow:
                    limit = format_value(series.info.overflow_from or 0, "ns")
                    assert f"of {series.info.overflow:,} it is known only" in told and limit in told
                if largest := series.info.reported.get("max"):
                    assert format_value(largest, "ns") in told


def test_the_systems_of_a_file_are_named_by_its_user_or_its_headings(tmp_path: Path) -> None:
    file = FIELD / "cyclictest-two-kernels.txt"
    assert [one.record.inputs.candidate for one in imported(file, tmp_path, "rt", "stock")] == ["rt", "stock"]
    with pytest.raises(BadInput, match="3 candidates for 2 runs under 2 headings"):
        imported(file, tmp_path, "a", "b", "d")


def field_text(name: str) -> str:
    return (FIELD / name).read_text()


QUIET = "T: 0 (  901) P:80 I:10000 C:  10000 Min:     37 Act:   44 Avg:   47 Max:      70\n"
LATER = "T: 0 (  955) P:80 I:10000 C:  10000 Min:     12 Act:   14 Avg:   17 Max:      23\n"


@pytest.mark.parametrize(
    ("between", "kernel"),
    [
        ("5.15.0", "5.15.0"),
        ("## Kernel 6.1", None),  # another than the one above, but which is not told whole
        ("linux v5.15-rt, patched", None),
        ("mainline 6.1.21", None),
        ("after 2.5 hours", "5.15.55-rt48"),
        ("again, with 5.15.55-rt48", "5.15.55-rt48"),
    ],
)
def test_a_kernel_holds_until_another_is_spoken_of(between: str, kernel: str | None, tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text(f"Kernel: 5.15.55-rt48\n{QUIET}\n{between}\n{LATER}")
    kernels = [one.record.manifest.provenance.kernel for one in imported(path, tmp_path)]
    assert kernels == ["5.15.55-rt48", kernel]


@pytest.mark.parametrize(
    ("line", "doubts"),
    [
        ("WARN: stat /dev/cpu_dma_latency failed: No such file or directory", 1),
        ("WARNING: cpu_dma_latency could not be set", 1),
        ("open /dev/cpu_dma_latency: Keine Berechtigung", 1),
        ("# /dev/cpu_dma_latency set to 0us", 0),
        ("I set cpu_dma_latency to 0 by hand", 0),
    ],
)
def test_idle_states_that_were_not_held_off_are_doubted(line: str, doubts: int, tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text(f"$ cyclictest -q -p80 -i10000 -l10000\n{line}\n{QUIET}")
    (one,) = imported(path, tmp_path)
    assert len(one.record.manifest.problems) == doubts, one.record.manifest.problems


@pytest.mark.parametrize(
    ("text", "doubts"),
    [
        ("could not load a driver\n$ {c}\n{q}$ {c}\n{l}", [0, 0]),  # before any command
        ("$ modprobe x\nmodprobe: FATAL: no module\n$ {c}\n{q}$ {c}\n{l}", [1, 0]),  # what the first run needed
        ("$ {c}\n{q}Killed\n$ {c}\n{l}", [1, 0]),
        ("$ {c}\n{q}$ {c}\nmlockall failed\n{l}", [0, 1]),
        ("{q}Killed\n{l}", [1, 1]),  # nothing tells of which
        ("Killed\n{q}{l}", [1, 1]),
        ("$ {c}\n{q}$ {c}\n{l}$ {c}\nmlockall failed\n", [0, 1]),  # of a run without figures: the last is doubted
    ],
)
def test_a_failure_doubts_the_run_beside_it(text: str, doubts: list[int], tmp_path: Path) -> None:
    path = tmp_path / "file.txt"
    path.write_text(text.format(c="cyclictest -q -p80 -i10000 -l10000", q=QUIET, l=LATER))
    assert [len(one.record.manifest.problems) for one in imported(path, tmp_path)] == doubts


@pytest.mark.parametrize(
    "above",
    [
        "pi@raspberrypi ~ $ uname -a\nLinux raspberrypi 6.1.21-rt8-v8+ #1 SMP PREEMPT_RT Mon Apr 3 2023 aarch64 "
        "GNU/Linux\n",
        "[root@host-1 build]# sudo cyclictest -q -p80 -i10000 -l10000\n",
        "root@Board:/home/Me# cyclictest -q -p80 -i10000 -l10000\n",
        "(venv) me@host:~/x$ sudo ./cyclictest -q -p80 -i10000 -l10000\n",
        "bash-5.1# cyclictest -q -p80 -i10000 -l10000\n",
        "/ # cyclictest -q -p80 -i10000 -l10000\n",
        "14:02:11 up 3 days,  2:01,  1 user,  load average: 0.00, 0.01, 0.05\n",
        "Model name:          Cortex-A72\nCPU(s):              4\n",
        "Tested on 2024-03-02 with 4 cameras attached\n",
    ],
)
def test_what_people_paste_above_a_run_does_not_refuse_it(above: str, tmp_path: Path) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text(above + QUIET)
    (one,) = imported(path, tmp_path)
    assert one.record.series[0].info.reported["max"] == 70_000
    assert one.record.manifest.problems == []


@pytest.mark.parametrize(
    "stamp",
    [
        "2023-06-23T12:43:23.1234567Z ", "[2024-05-01 12:00:00] ", "May  1 12:00:00 board test[12]: ",
        "[   12.345678] ", "> ", "12:00:00 ", "cyclictest-1  | ", "2023-06-23T12:43:23Z [   12.345678] ",
    ],
)  # fmt: skip
@pytest.mark.parametrize("file", ["histogram-footer-first.txt", "cyclictest-policy-other.txt", "xenomai-latency.txt"])
def test_a_log_that_puts_something_before_every_line(file: str, stamp: str, tmp_path: Path) -> None:
    path = tmp_path / "logged.txt"
    path.write_text("".join(f"{stamp}{line}\n" for line in field_text(file).splitlines()))
    assert runs(imported(path, tmp_path)) == runs(imported(FIELD / file, tmp_path))


def test_runs_before_and_after_are_never_one_system(tmp_path: Path) -> None:
    path = tmp_path / "patch.txt"
    for first, second, names in (
        ("Before:\n", "After the patch:\n", ["c (Before)", "c (After the patch)"]),
        ("", "With the fix applied (v2)\n", ["c", "c (With the fix applied (v2))"]),
        ("$ uname -r\n6.1.0-rt5\n", "$ uname -r\n6.6.1\n", ["c (6.1.0-rt5)", "c (6.6.1)"]),
    ):
        path.write_text(first + QUIET + "\n" + second + LATER)
        assert [one.record.inputs.candidate for one in imported(path, tmp_path)] == names
    path.write_text(QUIET + LATER)  # nothing stands between: two runs of one system
    assert [one.record.inputs.candidate for one in imported(path, tmp_path)] == ["c", "c"]


def test_a_line_inside_figures_that_nobody_understands_refuses(tmp_path: Path) -> None:
    path = tmp_path / "inside.txt"
    text = field_text("histogram-footer-first.txt")
    path.write_text(text.replace("000012 001801\n", "000012 001801\n7 samples lost\n"))
    with pytest.raises(BadInput, match="'7 samples lost' is damaged"):
        imported(path, tmp_path)
    path.write_text("took 3 hours\n" + text)
    (one,) = imported(path, tmp_path)
    assert one.found.reading.account and one.found.reading.account.beside() == (
        "line 1 is not understood, and not used: 'took 3 hours'",
    )


def test_a_folder_is_read_whole_and_names_what_it_measured(tmp_path: Path) -> None:
    folder = tmp_path / "lab"
    for number in range(3):
        (folder / f"rack{number}").mkdir(parents=True)
        text = field_text("osadl-rt-dataset.json").replace("rack.example.org", f"rack{number}.example.org")
        (folder / f"rack{number}" / "data.json").write_text(text)
    found = import_files([folder], tmp_path / "out", Circumstances())
    assert [one.record.inputs.board for one in found] == [f"rack{number}.example.org" for number in range(3)]
    assert {one.record.inputs.candidate for one in found} == {"5.15.49-rt47"}
    path = tmp_path / "nameless.txt"
    path.write_text(QUIET)
    with pytest.raises(BadInput, match="--candidate"):
        import_files([path], tmp_path / "out", Circumstances())

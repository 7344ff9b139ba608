# SPDX-License-Identifier: MIT
"""What measuring tools printed in public threads and documents (tests/data/public): the figures that stand in them."""

from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.importers.detect import formats
from rtqual.parts.importers.records import Circumstances, Imported, find_runs, import_files
from rtqual.parts.importers.words import as_dict

PUBLIC = Path(__file__).parents[2] / "data" / "public"
US, MS, N = 1e3, 1e6, None
# file -> of each run its instrument, the number of its series, and the first one's CPU, samples, min, avg and max in ns
Run = tuple[str, int, tuple[int | None, int | None, float | None, float | None, float | None] | None]
EXPECTED: dict[str, list[Run]] = {
    "cyclicdeadline-break.txt": [("cyclicdeadline", 4, (0, 36_218, 1 * US, 6 * US, 33 * US))],
    "cyclicdeadline-verbose.txt": [("cyclicdeadline", 4, (0, 60_001, 1 * US, 2 * US, 33 * US))],
    "cyclictest-machinekit-mksocfpga.txt": [("cyclictest", 1, (N, 10_000, 18 * US, 28 * US, 211 * US))],
    "cyclictest-raspberrypi-2244.txt": [("cyclictest", 1, (N, 100_000, 8 * US, 11 * US, 28 * US))],
    "cyclictest-stress-ng-271.txt": [("cyclictest", 1, (7, 349_868, 4 * US, 5 * US, 35 * US))],
    "hackbench-riscv-threads.txt": [("hackbench", 1, (N, 1, 1_215 * MS, 1_215 * MS, 1_215 * MS))],
    "hwlatdetect-archwiki.txt": [("hwlatdetect", 1, (N, 3, 18 * US, 19 * US, 21 * US))],
    "hwlatdetect-e3-tools.txt": [("hwlatdetect", 0, N), ("hwlatdetect", 1, (N, 1, 11 * US, 11 * US, 11 * US))],
    "hwlatdetect-imac.txt": [("hwlatdetect", 1, (N, 1, 13 * US, 13 * US, 13 * US))],
    "hwlatdetect-openshift-good.txt": [("hwlatdetect", 0, N)],
    "hwlatdetect-oscar.txt": [("hwlatdetect", 1, (N, 8, 1 * US, 26.375 * US, 48 * US))],
    "latmus-evl-tqmxe39.txt": [("latmus-user", 1, (N, 71_598, 205, 3_097, 25_510))],
    "latmus-space-ai.txt": [("latmus-user", 1, (N, 88_763_340, 2_179, 4_042, 20_997))],
    "oslat-container.txt": [("oslat", 7, (5, 426_839_052, 1 * US, 1 * US, 14 * US))],
    "oslat-kubevirt.txt": [("oslat", 2, (1, 582_741_767, 1 * US, 2.001 * US, 27 * US))],
    "osnoise-martins3.txt": [("osnoise", 10, (0, 1, 5_311 * US, 5_311 * US, 5_311 * US))],
    "osnoise-rt-indented.txt": [("osnoise", 2, (0, 1, 234 * US, 234 * US, 234 * US))],
    "perf-sched-latency-make.txt": [("perf-sched-latency", 3, (N, 6, N, 17.541 * MS, 29.702 * MS))],
    "perf-sched-latency-man-page.txt": [("perf-sched-latency", 5, (N, 66, N, 0.524 * MS, 1.069 * MS))],
    "perf-sched-latency-notes.txt": [("perf-sched-latency", 4, (N, 4, N, 0.037 * MS, 0.126 * MS))],
    "perf-sched-timehist-man-page.txt": [("perf-sched-timehist", 1, (N, 2, 0, 0, 0))],
    "perf-sched-timehist-short.txt": [("perf-sched-timehist", 2, (N, 2, 0, 0, 0))],
    "pmqtest-eight-cpus.txt": [("pmqtest", 4, (0, 153_695, 1 * US, 5 * US, 18 * US))],
    "pmqtest-riscv-timeout.txt": [("pmqtest", 4, (2, 999_998, 49 * US, 240 * US, 6_578 * US))],
    "ptsematest-four-cpus.txt": [("ptsematest", 4, (0, 1_000_000, 1 * US, 2 * US, 11 * US))],
    "ptsematest-riscv.json": [("ptsematest", 2, (0, 74_895, 28 * US, 43.36 * US, 2_269 * US))],
    "ptsematest-riscv.txt": [("ptsematest", 4, (0, 74_885, 28 * US, 43 * US, 2_269 * US))],
    "rt-app-tutorial.log": [("rt-app", 4, (N, 8, 263 * US, 264.5 * US, 266 * US))],
    "rt-app-with-cpu.log": [("rt-app", 4, (N, 4, 0, 115 * US, 210 * US))],
    "rtai-makertaikernel.txt": [("latency", 1, (N, N, 60, 130.2, 1_040))],
    "rtai-readme-oneshot.txt": [("latency", 1, (N, N, -35_125, -10_702.5, 24_400))],
    "rtla-osnoise-hist-stop.txt": [("rtla-osnoise", 2, (0, 25, 1 * US, 3.68 * US, 15 * US))],
    "rtla-timerlat-top-5.17.txt": [("rtla-timerlat", 10, (19, 58_633, 2 * US, 9 * US, 23 * US))],
    "rtla-timerlat-top-quiet.txt": [("rtla-timerlat", 8, (1, 12_322, 3 * US, 9 * US, 31 * US))],
    "sigwaittest-four-cpus.txt": [("sigwaittest", 4, (0, 1_000_000, 1 * US, 3 * US, 30 * US))],
    "stress-ng-271.txt": [("stress-ng-cyclic", 1, (N, 10_000, 2_603, 3_826.39, 2_073_993))],
    "stress-ng-preempt-auto.txt": [("stress-ng-cyclic", 1, (N, 10_000, 2_688, 23_829.70, 5_701_735))],
    "stress-ng-two-policies.txt": [("stress-ng-cyclic", 1, (N, 10_000, 2_413, 9_834.56, 3_145_065))],
    "svsematest-four-cpus.txt": [("rt-tests-pair", 4, (0, 1_000_000, 1 * US, 2 * US, 12 * US))],
    "sysbench-1.1-cpu-ec2.txt": [("sysbench-cpu", 1, (N, 1_141, 8.76 * MS, 8.77 * MS, 8.78 * MS))],
    "sysbench-1.1-fileio.txt": [("sysbench-fileio", 1, (N, 50_908, 0, 1.18 * MS, 613.99 * MS))],
    "sysbench-1.1-two-cpu-runs.txt": [
        ("sysbench-cpu", 1, (N, 3_420, 1.68 * MS, 2.92 * MS, 3.47 * MS)),
        ("sysbench-cpu", 1, (N, 4_052, 1.68 * MS, 2.47 * MS, 3.49 * MS)),
    ],
    "sysjitter-amd-one-blank.txt": [("sysjitter", 4, (0, 10_001, 1_333, 1_424, 40_613))],
    "sysjitter-onload.txt": [("sysjitter", 4, (0, 10_001, 1_333, 1_424, 40_613))],
    "thread-metric-cooperative.txt": [
        ("thread-metric-cooperative-scheduling", 1, (N, 1, 1_225_613, 1_225_613, 1_225_613))
    ],
    "thread-metric-h753zi.txt": [
        ("thread-metric-basic-single-thread-processing", 1, (N, 3, 123_731, 371_711 / 3, 123_992))
    ],
    "thread-metric-threadx-glue.txt": [
        ("thread-metric-basic-single-thread-processing", 1, (N, 1, 252_879, 252_879, 252_879))
    ],
    "timerlat-documentation.txt": [("timerlat", 4, (0, 2, 3_070, 7_385, 11_700))],
    "timerlat-m68k-quoted.txt": [("timerlat", 2, (0, 3, 401_472, 1_217_920 / 3, 409_280))],
    "timerlat-with-events.txt": [("timerlat", 3, (3, 1, 4_310, 4_310, 4_310))],
    "tracer-2.6.14-rt.txt": [("tracer-preemption", 1, (0, N, N, N, 1_468 * US))],
    "tracer-2.6.33-head.txt": [("tracer-irqsoff", 1, (1, N, N, N, 34_380 * US))],
    "tracer-3.8-documentation.txt": [("tracer-irqsoff", 1, (2, N, N, N, 259 * US))],
    "tracer-chromebook-quoted.txt": [("tracer-preemptirqsoff", 1, (1, N, N, N, 7_813 * US))],
    "tracer-mglru-mail.txt": [("tracer-preemptirqsoff", 1, (128, N, N, N, 10_382_682 * US))],
    "xenomai-masterarbeit-loaded.txt": [("latency-user", 1, (N, N, 577, 2_428, 5_926_355))],
    "xenomai-rtxi-60.txt": [("latency-user", 1, (N, N, 173, 12_835 / 6, 4_036))],
    "xenomai-sama5d3-negative.txt": [("latency-user", 1, (N, N, -1_576, -243, 15_030))],
    "zephyr-2.3.txt": [("zephyr-latency_measure", 0, N)],
    "zephyr-2.6.txt": [("zephyr-latency_measure", 0, N)],
    "zephyr-3.5.txt": [("zephyr-latency_measure", 0, N)],
    "cyclictest-hackmd-shiang.txt": [
        ("cyclictest", 1, (1, 100_000, 7 * US, 19 * US, 113 * US)),
        ("cyclictest", 1, (1, 100_000, 12 * US, 27 * US, 1_020 * US)),
    ],
    "cyclictest-hypriot.txt": [("cyclictest", 1, (0, 9_914_286, 14 * US, 16 * US, 76 * US))],
    "cyclictest-jetson-two-kernels.txt": [
        ("cyclictest", 4, (0, 73_055, 7 * US, 15 * US, 151 * US)),
        ("cyclictest", 3, (0, 18_697, 4 * US, 8 * US, 116 * US)),
    ],
    "cyclictest-machinekit-j1900.txt": [
        ("cyclictest", 1, (N, 10_000, 9 * US, 15 * US, 34 * US)),
        ("cyclictest", 1, (N, 10_000, 9 * US, 21 * US, 129 * US)),
    ],
    "cyclictest-oscomp.txt": [
        ("cyclictest", 1, (N, 999, 5 * US, 17 * US, 1_053 * US)),
        ("cyclictest", 3, (0, 999, 4 * US, 22 * US, 1_698 * US)),
        ("cyclictest", 1, (N, 989, 5 * US, 33 * US, 3_509 * US)),
        ("cyclictest", 3, (0, 964, 4 * US, 71 * US, 4_421 * US)),
    ],
    "cyclictest-starlingx.txt": [
        ("cyclictest", 2, (0, 100_000, 5 * US, 14 * US, 39_242 * US)),
        ("cyclictest", 3, (0, 7_027, 1 * US, 1 * US, 11 * US)),
    ],
    "histogram-rt-civcode.csv": [("cyclictest", 4, (0, 4_999_745, 2 * US, 20_779_550e3 / 4_999_745, 11 * US))],
    "histogram-rt-linux-experiment.csv": [("cyclictest", 4, (0, 156_548, 6 * US, 1_126_169e3 / 156_548, 12 * US))],
    "hwlat-trace-doc.txt": [("hwlat", 3, (1, 2, 12 * US, 13 * US, 14 * US))],
    "hwlat-trace-mdev.txt": [("hwlat", 2, (0, 5, 40 * US, 40.6 * US, 41 * US))],
    "hwlatdetect-edge-demo.txt": [("hwlatdetect", 0, N)],
    "hwlatdetect-ovirt.txt": [("hwlatdetect", 1, (N, 60, N, N, 19 * US))],
    "osadl-imx93-cyclictest.json": [("cyclictest", 2, (0, 50_000, 4 * US, 4.91106 * US, 24 * US))],
    "osadl-r0s8.json": [("cyclictest", 3, (0, 100_000_000, 2 * US, N, 410 * US))],
    "oslat-0.1.0.txt": [("oslat", 8, (2, 93_068_541_124, 1 * US, 93_068_541_356e3 / 93_068_541_124, 6 * US))],
    "osnoise-top-dl-server.txt": [("rtla-osnoise", 8, (2, 599, N, N, 2 * US))],
    "rteval-report-fedora.txt": [("cyclictest", 2, (0, 59_476, 3 * US, 7 * US, 1_887 * US))],
    "rteval-report-seco-c40.txt": [("cyclictest", 8, (0, 6_005_785, 2 * US, 5_122.748, 77 * US))],
    "rtla-top-all-overflowed.txt": [("rtla-timerlat", 4, (1, 43_200_096, 2 * US, 6 * US, 12 * US))],
    "rtla-top-dashes.txt": [("rtla-timerlat", 3, (2, N, 161 * US, 161 * US, 161 * US))],
    "rtla-top-tuned-719.txt": [("rtla-timerlat", 10, (0, 5_823, 3 * US, 7 * US, 1_035 * US))],
    "stress-ng-cut-percentiles.txt": [
        ("stress-ng-cyclic", 1, (N, 10_000, 2_541, 19_973.46, 2_751_830)),
        ("stress-ng-cyclic", 1, (N, 10_000, 2_570, 14_169.08, 2_234_939)),
    ],
    "sysjitter2.txt": [("oslat", 8, (2, 26_110_432, 1 * US, 1 * US, 1 * US))],
    "xenomai-klatency-beaglebone.txt": [("latency-kernel", 1, (N, N, -837, 4_033, 10_999))],
    "cyclictest-annotated.txt": [("cyclictest", 1, (N, 172_550, 1 * US, 6 * US, 463 * US))],
    "cyclictest-dmtimer-commit.txt": [
        ("cyclictest", 2, (0, 800_368, 0, 22 * US, 128 * US)),
        ("cyclictest", 2, (0, 759_599, 0, 22 * US, 108 * US)),
    ],
    "cyclictest-five-kernels.eml": [
        ("cyclictest", 2, (0, 773_124, 1 * US, 3 * US, 53_381 * US)),
        ("cyclictest", 2, (0, 824_721, 1 * US, 3 * US, 4_619 * US)),
        ("cyclictest", 2, (0, 785_036, 1 * US, 2 * US, 1_771 * US)),
    ],
    "cyclictest-lava-log.txt": [("cyclictest", 2, (0, 540_000, 4 * US, 18 * US, 217 * US))],
    "cyclictest-oscomp-reference.txt": [
        ("cyclictest", 1, (N, 1_000, 1 * US, 1 * US, 8 * US)),
        ("cyclictest", 4, (0, 1_000, 1 * US, 1 * US, 8 * US)),
        ("cyclictest", 1, (N, 1_000, 2 * US, 2 * US, 14 * US)),
        ("cyclictest", 4, (0, 1_000, 1 * US, 2 * US, 23 * US)),
    ],
    "cyclictest-rpi-readme.txt": [("cyclictest", 1, (N, 16_114, 11 * US, 66 * US, 459 * US))],
    "hackbench-quoted-printable.eml": [("hackbench", 1, (N, 1, 396 * MS, 396 * MS, 396 * MS))],
    "hackbench-wrapped-before-after.txt": [
        ("hackbench", 1, (N, 2, 4_401 * MS, 4_435.5 * MS, 4_470 * MS)),
        ("hackbench", 1, (N, 1, 3_782 * MS, 3_782 * MS, 3_782 * MS)),
    ],
    "hackbench-wrapped-perf-bench.txt": [("hackbench", 1, (N, 1, 2_953 * MS, 2_953 * MS, 2_953 * MS))],
    "histogram-vm-prefix.txt": [("cyclictest", 1, (N, 5, 1 * US, 2 * US, 500 * US))],
    "latmus-evl-docs-user.txt": [("latmus-user", 1, (1, N, 1_182, 3_943 / 3, 3_899))],
    "rtla-hist-user-mail.txt": [("rtla-timerlat", 9, (1, 600_001, 1 * US, 1 * US, 16 * US))],
    "rtla-top-user-dl-server.txt": [
        ("rtla-timerlat", 9, (0, 6_143_559, 1 * US, 3 * US, 98 * US)),
        ("rtla-timerlat", 6, (0, 579_147, 1 * US, 52 * US, 61_095 * US)),
    ],
    "stress-ng-kernel-log.txt": [("stress-ng-sysfs", 0, N)],
    "stress-ng-lkp-close.txt": [("stress-ng-close", 0, N)],
    "stress-ng-mail-two-kernels.txt": [("stress-ng-msg", 0, N), ("stress-ng-msg", 0, N)],
    "sysbench-0.5-tail.txt": [("sysbench", 1, (N, 495_402, 1.36 * MS, 1.65 * MS, 15.83 * MS))],
    "sysbench-1.0-fileio-interim.txt": [("sysbench-fileio", 1, (N, 19_074, 0.03 * MS, 2.08 * MS, 184.93 * MS))],
    "sysbench-1.0-quoted-select.txt": [("sysbench-oltp", 1, (N, 11_651, 0.68 * MS, 41.21 * MS, 666.53 * MS))],
    "tracer-2.6.15-route-cache.txt": [("tracer-preemption", 1, (0, N, N, N, 17_286 * US))],
    "tracer-irqsoff-two-kernels.eml": [
        ("tracer-irqsoff", 1, (0, N, N, N, 279_663 * US)),
        ("tracer-irqsoff", 1, (0, N, N, N, 2_477 * US)),
    ],
    "xenomai-bbai-readme.txt": [("latency-user", 1, (N, N, 4_374, 6_187, 49_833))],
    "xenomai-orocos-rst.txt": [("latency-user", 1, (N, N, 88, 463.25, 2_297))],
}
REFUSED = {
    "stress-ng-ubuntu-hdd.txt": ":5: 'stress-ng: info: [107071] cyclic: sched SCHED_DEADLINE: 1...' is damaged",
    "osnoise-top-wrapped.eml": ":18: '0 #4 4000000 37712 99.05720 10998' is damaged",  # a mail cut a figure in two
}
# What is doubted, and why it is right to: interrupted, of another priority, overrun, reduced.
DOUBTED = {
    "cyclicdeadline-break.txt", "cyclictest-annotated.txt", "cyclictest-rpi-readme.txt", "latmus-evl-docs-user.txt",
    "xenomai-orocos-rst.txt", "cyclictest-oscomp-reference.txt", "cyclictest-hackmd-shiang.txt",
    "cyclictest-hypriot.txt",
    "cyclictest-machinekit-j1900.txt", "cyclictest-machinekit-mksocfpga.txt", "cyclictest-oscomp.txt",
    "hwlatdetect-archwiki.txt", "osadl-imx93-cyclictest.json", "rteval-report-fedora.txt",
    "ptsematest-riscv.json", "ptsematest-riscv.txt", "xenomai-masterarbeit-loaded.txt", "xenomai-rtxi-60.txt",
}  # fmt: skip


def imported(file: str, folder: Path) -> list[Imported]:
    return import_files([PUBLIC / file], folder / "out", Circumstances(("c",)))


def test_every_file_is_tried() -> None:
    assert {path.name for path in PUBLIC.iterdir()} == {*EXPECTED, *REFUSED, "README.md"}


@pytest.mark.parametrize("file", EXPECTED)
def test_the_figures_are_those_that_stand_in_it(file: str, tmp_path: Path) -> None:
    found = imported(file, tmp_path)
    for one, (instrument, number, first) in zip(found, EXPECTED[file], strict=True):
        told = as_dict(one)
        assert told["instrument"] == instrument
        series = told["series"]
        assert isinstance(series, list) and len(series) == number
        if first:
            assert [series[0][key] for key in ("cpu", "samples")] == list(first[:2])
            for ours, theirs in zip((series[0][key] for key in ("min", "avg", "max")), first[2:], strict=True):
                assert ours == (None if theirs is None else pytest.approx(theirs, rel=1e-9, abs=1e-3))
    doubted = any(one.record.manifest.problems for one in found)
    assert doubted == (file in DOUBTED), [one.record.manifest.problems for one in found]


@pytest.mark.parametrize("file", REFUSED)
def test_what_cannot_be_read_says_where(file: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as refusal:
        imported(file, tmp_path)
    assert REFUSED[file] in str(refusal.value)


def test_each_new_format_has_two_of_strangers_or_none_are_known() -> None:
    counts = dict.fromkeys(formats(), 0)
    for file in EXPECTED:
        counts[find_runs(PUBLIC / file, None, Circumstances("c"))[0].format.name] += 1
    few = {name for name, count in counts.items() if count < 2}
    elsewhere = {  # older formats, in test_field.py and test_import.py
        *("parquet", "csv", "rteval", "stress-ng", "jitterdebugger", "cyclictest-json", "cyclictest-verbose"),
    }
    one_or_none = {
        "probe",  # our own
        "rtosbench",  # no output of it was found
        "rt-tests-json",  # one
    }
    assert few == elsewhere | one_or_none


def test_many_threads_have_few_problems(tmp_path: Path) -> None:
    (one,) = imported("ptsematest-riscv.json", tmp_path)
    assert one.record.manifest.problems == ["2 of 2 threads without a real-time priority"]


def test_a_failure_doubts_the_run_that_it_stands_beside(tmp_path: Path) -> None:
    runs = [one.record.manifest.problems for one in imported("cyclictest-oscomp-reference.txt", tmp_path)]
    assert runs[:3] == [[], [], []]  # hackbench was ended below the fourth
    assert [problem.split(":")[0] for problem in runs[3]] == ["line 31 reports a failure", "line 32 reports a failure"]


def test_a_mail_is_made_plain_and_its_lines_keep_their_numbers(tmp_path: Path) -> None:
    found = imported("cyclictest-five-kernels.eml", tmp_path)
    assert [one.record.inputs.candidate for one in found] == [
        "c (6.12.0-rc5)",
        "c (6.6.58-stable)",
        "c (6.9.12-stable)",
    ]
    facts = found[0].record.manifest.provenance.facts
    assert (
        facts["beside the figures"] == "line 29 is not understood, and not used: 'Ok, size mondo spikes begin at v6.10'"
    )
    assert "4 a mail's head" in facts["lines"]


def test_what_somebody_wrote_behind_a_line_is_told(tmp_path: Path) -> None:
    (close,) = imported("stress-ng-lkp-close.txt", tmp_path)
    assert close.record.manifest.scalars["bogo_ops"].value == 1_568_702
    assert "line 7 has a note: '<--- (1)'" in close.record.manifest.provenance.facts["beside the figures"]


def test_threads_that_a_file_leaves_out_follow_from_their_share(tmp_path: Path) -> None:
    (tail,) = imported("sysbench-0.5-tail.txt", tmp_path)
    assert tail.record.inputs.parameters == {"threads": 16}
    assert "16 threads: its events" in tail.record.manifest.provenance.facts["assumed"]


def test_facts_beside_the_figures(tmp_path: Path) -> None:
    (latmus,) = imported("latmus-evl-tqmxe39.txt", tmp_path)
    assert latmus.record.inputs.parameters == {"interval": 1_000_000, "priority": 90}
    assert str(latmus.record.manifest.provenance.kernel).startswith("5.5.0-rc7+")
    (fileio,) = imported("sysbench-1.1-fileio.txt", tmp_path)
    assert fileio.record.manifest.provenance.kernel is None  # its host is named "linux"
    (container,) = imported("oslat-container.txt", tmp_path)
    assert "4.18.0-240.22.1.rt7.77.el8_3.x86_64" in str(container.record.manifest.provenance.kernel_cmdline)
    (zephyr,) = imported("zephyr-3.5.txt", tmp_path)
    assert zephyr.record.manifest.provenance.kernel == "Zephyr OS build v3.5.0-rc1-139-gdab69aeed11d"
    scalars = zephyr.record.manifest.scalars
    assert len(scalars) == 9 and scalars["Switch from ISR to another thread (kernel)"].value == 4_616
    (rtai,) = imported("rtai-readme-oneshot.txt", tmp_path)
    assert rtai.record.inputs.parameters == {"interval": 1_000_000}


def test_a_dataset_tells_by_its_maxima_whether_samples_overflowed(tmp_path: Path) -> None:
    (rack,) = imported("osadl-r0s8.json", tmp_path)
    series = [info.overflow for info in rack.record.manifest.series]
    assert series == [213, 0, 0]  # the second core's maximum lies in its bins: its thread ended 211 samples earlier
    (board,) = imported("osadl-imx93-cyclictest.json", tmp_path)
    assert board.record.manifest.problems == ["its command line asks for 100000 cycles, no thread took more than 50000"]


def test_a_report_of_rteval_names_its_system(tmp_path: Path) -> None:
    (edge,) = imported("rteval-report-seco-c40.txt", tmp_path)
    provenance = edge.record.manifest.provenance
    assert provenance.kernel == "5.14.0-70.26.1.rt21.98.el9_0.x86_64"
    assert str(provenance.kernel_cmdline).startswith("BOOT_IMAGE=(hd1,gpt2)")
    assert edge.record.inputs.parameters == {"interval": 100_000, "priority": 95}
    assert edge.record.inputs.load == "rteval+kcompile+hackbench"

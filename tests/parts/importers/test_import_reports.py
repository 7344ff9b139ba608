# SPDX-License-Identifier: MIT
"""rteval's printed report, traces of hwlat, OSADL's maxima, the first oslat: what is refused, what is doubted."""

import json
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from support.import_files import read, read_one, text_of, written

PUBLIC = Path(__file__).parents[2] / "data" / "public"


def refused(folder: Path, text: str, format_name: str) -> str:
    with pytest.raises(BadInput) as refusal:
        read(written(folder, text), format_name=format_name)
    return str(refusal.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text + text, "a second report"),
        (lambda text: text.replace("core 1 ", "core 0 "), "a core a second time"),
        (lambda text: text.replace("Min:               2us", "Max:               2us", 2), "'Max' a second time"),
        (lambda text: text.replace("Mean:              5.901237900107148us\n", ""), "of each core"),
        (
            lambda text: text.replace("Mean:              5.901237900107148us\n", "Mean:              nan\n"),
            "is damaged",
        ),
        (lambda text: text.replace("CPU core", "CPU kern"), "is damaged"),
        (lambda text: text.split("CPU core")[0], "of each core"),
    ],
)
def test_a_report_that_is_damaged_is_refused(change, says: str, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    assert says in refused(tmp_path, change(text_of("rteval-report.txt")), "rteval-report")


def test_a_report_whose_figures_contradict_each_other_is_doubted(tmp_path: Path) -> None:
    text = text_of("rteval-report.txt")
    swapped = text.replace("Max:               40us", "Max:               1us")
    assert read_one(written(tmp_path, swapped)).measurement.problems == (
        "core 1: its minimum, average and maximum are not in order",
    )
    missing = text.replace("12011520", "12011521")
    assert "cores are missing" in read_one(written(tmp_path, missing)).measurement.problems[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# tracer: hwlat\n", "no sample"),
        ("  <...>-1 [001] d... 1.000000: #1 inner/outer(us):\n", "was cut off"),
        ("  <...>-1 [001] d... 1.000000: #1 inner/outer(us):\nsomething else\n", ":2: not the rest of the sample"),
        ("  <...>-1 [001] d... 1.000000: #1 inner/outer(us): 1x/2 ts:1.000000002\n", "not the rest|was cut off"),
        ("  <...>-1 [001] d... 1.000000: #1 inner/outer(us): -1/2 ts:1.000000002\n", "was cut off"),
    ],
)
def test_a_trace_of_hwlat_that_is_damaged_is_refused(text: str, says: str, tmp_path: Path) -> None:
    message = refused(tmp_path, text, "hwlat-trace")
    assert any(word in message for word in says.split("|"))


def test_a_trace_of_hwlat_without_a_sample_of_its_numbers_is_doubted(tmp_path: Path) -> None:
    lines = [line for line in text_of("hwlat-trace.txt").splitlines(keepends=True) if ": #3 " not in line]
    reading = read_one(written(tmp_path, "".join(lines)))
    assert reading.measurement.problems == ("samples are missing, or are of two runs: their numbers do not follow",)
    assert reading.measurement.scalars["gaps beside an NMI"].value == 1


def test_maxima_of_a_dataset_are_checked(tmp_path: Path) -> None:
    whole = json.loads((PUBLIC / "osadl-r0s8.json").read_text())
    whole["latency"]["maxima"].pop()
    assert "2 maxima of 3 cores" in refused(tmp_path, json.dumps(whole), "osadl")
    whole["latency"]["maxima"] = [410, 290, 289]
    del whole["condition"]["cycles"]
    problems = read_one(written(tmp_path, json.dumps(whole))).measurement.problems
    assert "core 0: its maximum is 410, the histogram ends at" in problems[0]
    assert any(problem.startswith("core 1: its maximum is 290, but its histogram ends at") for problem in problems)


def test_the_first_oslat_is_refused_without_its_last_lines(tmp_path: Path) -> None:
    text = (PUBLIC / "sysjitter2.txt").read_text()
    assert "'Maximum'" in refused(tmp_path, text.split("maxlat")[0], "oslat")
    assert "has 7 figures for 8 CPUs" in refused(tmp_path, text.replace("1 1 3 3 1 1 3 3", "1 1 3 3 1 1 3"), "oslat")
    overflowed = text.replace("032 (us):    0", "032 (us):    2").replace("maxlat:    1", "maxlat:    40")
    info = read_one(written(tmp_path, overflowed)).measurement.series[0].info
    assert (info.overflow, info.overflow_from, info.reported["max"]) == (2, 32_000, 40_000)

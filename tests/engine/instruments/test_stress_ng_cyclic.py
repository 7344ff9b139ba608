# SPDX-License-Identifier: MIT
"""stress-ng's wake-ups: what is read of its real output, and what is refused."""

import re

import pytest

from rtqual.base.errors import RunFailed
from rtqual.protocols.record.schema import SeriesKind
from support.instrument_outputs import captured_text, read_text

NAME = "stress-ng-cyclic"


def test_its_bins_and_its_own_figures_are_kept() -> None:
    (series,) = read_text(NAME, captured_text(NAME)).series
    assert (series.info.kind, series.info.cpu, series.total, series.info.overflow) == (SeriesKind.BINNED, 0, 200, 0)
    assert dict(zip(series.values.tolist(), series.counts.tolist(), strict=True)) == {
        8_500: 178, 9_500: 20, 11_500: 1, 12_500: 1,
    }  # fmt: skip
    assert series.info.reported == {
        "min": 8426, "avg": 8692.04, "max": 12_214, "std": 473.08,
        "p50": 8538, "p90": 9570, "p99": 11_036, "p99.9": 12_214, "p99.99": 12_214,
    }  # fmt: skip


def test_samples_beyond_the_bins_are_counted() -> None:
    text = captured_text(NAME).replace("first 13 buckets", "first 12 buckets")
    late = re.sub(r".* 12000 +1\n", "", text)
    measurement = read_text(NAME, late)
    (series,) = measurement.series
    assert (series.info.overflow, series.info.overflow_from, series.total) == (1, 12_000, 200)
    assert measurement.problems == ()
    contradicts = read_text(NAME, late.replace("max: 12214", "max: 11999"))
    assert contradicts.problems == ("1 samples are in no bin, but the maximum is 11999 ns",)


def test_too_few_samples_are_told() -> None:
    assert read_text(NAME, captured_text(NAME), cycles=201).problems == ("stress-ng took 200 samples instead of 201",)


@pytest.mark.parametrize("part", ["sched SCHED_FIFO", "buckets", "mean:", "min:", "std.dev.", " 90.00%", " 99.90%"])
def test_a_missing_part_is_no_result(part: str) -> None:
    kept = "\n".join(line for line in captured_text(NAME).splitlines() if part not in line)
    with pytest.raises(RunFailed, match="printed no"):
        read_text(NAME, kept)


def test_more_samples_in_the_bins_than_were_taken_are_no_result() -> None:
    with pytest.raises(RunFailed, match="do not hold its 100 samples"):
        read_text(NAME, captured_text(NAME).replace("200 samples", "100 samples"))

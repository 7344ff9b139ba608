# SPDX-License-Identifier: MIT
"""Xenomai's latency and libevl's latmus: what is read of their real output, how gravity is told, what is refused."""

from dataclasses import replace

import pytest

from rtqual.base.errors import RunFailed
from rtqual.parts.xenomai.gravity import FILE
from rtqual.protocols.board import JobOutcome
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.record.schema import Measurement, SeriesKind
from support.instrument_outputs import CAPTURED, captured_text, outcome_of, read

LATENCY = (100, 3530, 3906)  # samples, the least and the largest
LATMUS = (100, 2936, 2948, 3035)  # samples; least, average and largest of whole seconds
CONFIGURED = {"latency-user": "gravity: irq=0 kernel=2000 user=2000\n", "latmus-user": "0i 2000k 3000u\n"}


def with_gravity(name: str, gravity: str, outcome: JobOutcome | None = None) -> JobOutcome:
    outcome = outcome or outcome_of(name, captured_text(name))
    return replace(outcome, files={**outcome.files, FILE: gravity})


def configured(name: str, outcome: JobOutcome) -> Measurement:
    return read(name, outcome, gravity="configured")


def test_latency_counts_every_sample_in_1_ns() -> None:
    measurement = read("latency-user", outcome_of("latency-user", captured_text("latency-user")))
    (series,) = measurement.series
    assert (series.info.name, series.info.kind, series.info.cpu) == ("latency", SeriesKind.HISTOGRAM, 0)
    assert (series.total, int(series.values[0]), int(series.values[-1])) == LATENCY
    assert {name: one.value for name, one in measurement.scalars.items()} == {
        "overruns": 0, "mode switches": 0, "gravity, irq": 0, "gravity, kernel": 0, "gravity, user": 0,
    }  # fmt: skip
    assert measurement.problems == ()


def test_latmus_counts_in_bins_and_tells_extremes_in_1_ns() -> None:
    measurement = read("latmus-user", outcome_of("latmus-user", captured_text("latmus-user")))
    (series,) = measurement.series
    assert (series.info.name, series.info.kind, series.total) == ("latency", SeriesKind.BINNED, LATMUS[0])
    assert series.info.reported == dict(zip(("min", "avg", "max"), LATMUS[1:], strict=True))
    assert measurement.problems == ()


@pytest.mark.parametrize("name", CONFIGURED)
def test_latencies_less_gravity_are_of_another_name(name: str) -> None:
    measurement = configured(name, with_gravity(name, CONFIGURED[name]))
    assert [one.info.name for one in measurement.series] == ["latency less gravity"]
    assert measurement.scalars["gravity, kernel"].value == 2_000


@pytest.mark.parametrize("name", CONFIGURED)
def test_a_core_that_kept_its_gravity_measured_nothing_raw(name: str) -> None:
    with pytest.raises(RunFailed, match="the core kept its gravity"):
        read(name, with_gravity(name, CONFIGURED[name]))
    with pytest.raises(RunFailed, match="the core's gravity is not known"):
        read(name, with_gravity(name, "gravity: none\n"))


def test_negative_latencies_are_in_no_bin() -> None:
    name = "latency-user"
    text = captured_text(name)
    line = next(one for one in text.splitlines() if one.startswith("RTS|"))
    early = text.replace(line, "RTS|     -0.116|     -0.007|      0.117|       0|     0|    00:00:01/00:00:01")
    (series,) = configured(name, with_gravity(name, CONFIGURED[name], outcome_of(name, early))).series
    assert (series.info.kind, series.total) == (SeriesKind.SUMMARY, 0)
    assert (series.info.reported["min"], series.info.reported["max"]) == (-116, 117)


def test_latmus_is_asked_for_all_its_samples_whatever_their_sign() -> None:
    name = "latmus-user"
    early = captured_text(name).replace("min latency: 2.936", "min latency: -0.064")
    outcome = with_gravity(name, CONFIGURED[name], outcome_of(name, early))
    outcome = replace(outcome, files={**outcome.files, "latmus.txt": early})
    measurement = configured(name, outcome)
    assert (measurement.series[0].info.kind, measurement.problems) == (SeriesKind.SUMMARY, ())
    assert read(name, outcome, gravity="configured", seconds=3).problems == ("latmus took 100 samples of 150",)


def test_a_task_without_its_priority_decides_nothing() -> None:
    name = "latency-user"
    measurement = read(name, outcome_of(name, captured_text(name)), priority=81)
    assert measurement.problems[0].startswith("0 of 1 measuring threads seen at fifo 81")


def test_a_histogram_that_contradicts_the_tools_own_figures_is_told() -> None:
    name = "latency-user"
    low, high = LATENCY[1:]
    text = captured_text(name)
    for us, told in ((f"{low / 1000 - 0.1:.3f}", True), (f"{low / 1000 - 0.001:.3f}", False)):
        less = text.replace(f"RTS|      {low / 1000:.3f}", f"RTS|      {us}")
        assert ["has not its own extremes" in one for one in read(name, outcome_of(name, less)).problems] == [
            True
        ] * told
    late = f"HSD|    avg| {high + 50} -{high + 51} |        1\n---|--param|----range-|--samples\nHSD|    max|"
    cut_off = text.replace("---|--param|----range-|--samples\nHSD|    max|", late)
    assert read(name, outcome_of(name, cut_off)).problems == ()  # in the second that the end cut off
    assert "took" in read(name, outcome_of(name, captured_text(name)), seconds=3).problems[0]


@pytest.mark.parametrize(
    ("name", "program", "place"),
    [
        ("probe-alchemy-itc", "rtqual-probe-xenomai", "/proc/xenomai/clock/coreclk"),
        ("probe-evl-itc", "rtqual-probe-evl", "/sys/devices/virtual/clock/monotonic/gravity"),
    ],
)
def test_the_probe_over_a_core_sets_and_tells_its_gravity(name: str, program: str, place: str) -> None:
    instrument = all_instruments()[name]
    job = instrument.job(instrument.parameters(), cpus=1, seed=1)
    assert job.measure.argv[:2] == (program, "itc") and job.version == (program, "--version")
    (setup,) = job.setup
    assert setup.argv[-1] == f"echo 0i 0k 0u > {place} && cat {place} > {FILE}"
    assert FILE in job.collect


@pytest.mark.parametrize(
    ("name", "part", "told"),
    [("latency-user", "RTS|", "printed no sum"), ("latmus-user", "# sample count", "wrote no 'sample count'")],
)
def test_a_missing_part_is_no_result(name: str, part: str, told: str) -> None:
    kept = "\n".join(line for line in captured_text(name).splitlines() if not line.startswith(part))
    with pytest.raises(RunFailed, match=told):
        read(name, outcome_of(name, kept))


def test_every_instrument_of_a_core_says_so() -> None:
    of = {one.name.rpartition("-")[0]: one.core for one in all_instruments().values() if one.core}
    assert of == {"latency": "cobalt", "latmus": "evl", "probe-alchemy": "cobalt", "probe-evl": "evl"}
    assert set(CAPTURED) >= CONFIGURED.keys()

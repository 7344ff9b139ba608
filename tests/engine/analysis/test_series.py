# SPDX-License-Identifier: MIT
"""A requirement on an instrument with several series holds for all of them, or for those that it names."""

import pytest
from pydantic import ValidationError

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.verdict.model import Gate, Outcome
from rtqual.engine.mission.model import Criterion
from rtqual.protocols.record.schema import Record, Scalar, Series
from support.analysis_records import mission, record

SLEEP, FUTEX = "loop by sleep: end to end", "loop by futex: end to end"
ASKED = {"name": "loop", "instrument": "probe-loop", "load": "hackbench", "statistic": "max", "at_most": "100 us"}


def runs(number: int = 10, *, misses: int = 2, **counts: int) -> list[Record]:
    """Never late by sleep, `misses` times late by futex in a run."""
    return [
        record(
            [
                Series.raw([9_000 + (7 * i + seed) % 900 for i in range(300)], name=SLEEP),
                Series.raw(
                    [9_000 + (7 * i + seed) % 900 for i in range(300 - misses)] + [200_000] * misses, name=FUTEX
                ),
            ],
            instrument="probe-loop",
            seed=seed,
            scalars={name: Scalar(value=value, unit="1") for name, value in counts.items()},
        )
        for seed in range(1, number + 1)
    ]


def gate(records: list[Record], **asked: object) -> Gate:
    requirement = {key: value for key, value in {**ASKED, **asked}.items() if value is not None}
    (verdict,) = analyse(mission(["rt"], requirements=[requirement], runs=10), "demo", records, {}).verdicts
    return verdict.standings[0].gates[0]


def test_it_holds_for_all_series_and_the_worst_is_told() -> None:
    found = gate(runs())
    assert (found.outcome, found.misses) == (Outcome.NOT_MET, 20)
    assert found.measured and found.measured.value == 200_000
    assert found.reason.startswith(FUTEX)
    assert gate(runs(misses=0)).outcome == Outcome.MET


@pytest.mark.parametrize(
    ("series", "outcome"),
    [(SLEEP, Outcome.MET), (FUTEX, Outcome.NOT_MET), ("loop by *", Outcome.NOT_MET), ("loop by s*", Outcome.MET)],
)
def test_a_name_or_a_pattern_picks_them(series: str, outcome: Outcome) -> None:
    assert gate(runs(), series=series).outcome == outcome


def test_a_series_that_is_not_there_is_undecided_and_those_there_are_told() -> None:
    found = gate(runs(), series="loop by magic")
    assert found.outcome == Outcome.UNDECIDED
    assert SLEEP in found.reason and FUTEX in found.reason


def test_a_quantile_is_judged_in_every_series_with_its_interval() -> None:
    found = gate(runs(misses=40), statistic="p90")
    assert found.outcome == Outcome.NOT_MET
    assert found.reason.startswith(FUTEX)


@pytest.mark.parametrize("number", [1, 3, 10])
def test_a_count_above_its_limit_is_broken_however_few_the_runs(number: int) -> None:
    records = runs(number, missed=0)
    late = records[0].manifest.model_copy(update={"scalars": {"missed": Scalar(value=16, unit="1")}})
    broken = [Record(late, records[0].series), *records[1:]]
    asked = {"statistic": None, "scalar": "missed", "at_most": 0}
    assert gate(broken, **asked).outcome == Outcome.NOT_MET
    assert gate(records, **asked).outcome != Outcome.NOT_MET
    assert gate(broken, **{**asked, "at_most": 16}).outcome != Outcome.NOT_MET
    assert gate(broken, **{**asked, "at_most": 15}).outcome == Outcome.NOT_MET


def test_a_least_value_below_its_limit_is_broken_however_few_the_runs() -> None:
    assert gate(runs(1), statistic="min", at_most=None, at_least="10 us").outcome == Outcome.NOT_MET


def test_a_criterion_ranks_by_one_series() -> None:
    asked = {"name": "c", "instrument": "probe-loop", "statistic": "p99", "weight": 1.0}
    assert Criterion.model_validate({**asked, "series": FUTEX}).series == FUTEX
    with pytest.raises(ValidationError, match="whole name"):
        Criterion.model_validate({**asked, "series": "loop by *"})

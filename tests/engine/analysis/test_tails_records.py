# SPDX-License-Identifier: MIT
"""Tails of records, and limits that were never passed."""

import numpy as np
import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.tails.model import Tails, Why
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Record, Scalar, Series, Timing
from support.analysis_records import record
from support.tail_records import HOUR, S, asking, field, made, refused
from support.tail_samples import INTERVAL_NS, Source, given, stream


def tails_of(records: list[Record], asked: Mission | None = None) -> Tails:
    (found,) = analyse(asked or asking(), "demo", records, {}).tails.values()
    return found


def test_the_mission_says_for_how_long() -> None:
    source = Source("exponential", samples=200_000)
    (found,) = tails_of(field(source.draw(1))).threads
    assert made(found).level.horizon_ns == HOUR
    assert found.observed is not None
    assert (found.observed.cpu, found.observed.runs, found.observed.exposure_ns) == (0, 2, 40 * S)


def test_each_thread_has_a_tail_of_its_own() -> None:
    quick, slow = Source("exponential", samples=100_000), Source("exponential", samples=100_000, scale=9_000)
    series = [Series.raw(one.draw(1), name="latency", cpu=cpu) for cpu, one in enumerate((quick, slow))]
    records = [record(series, board="local", timing=Timing.REAL, cpus=2, parameters={"interval": INTERVAL_NS})]
    first, second = tails_of(records, asking("30 min")).threads
    assert made(first).level.at.high < made(second).level.at.low


@pytest.mark.parametrize("timing", [one for one in Timing if one != Timing.REAL])
def test_virtual_time_is_never_extrapolated(timing: Timing) -> None:
    records = field(Source("exponential").draw(1), board="virtual", timing=timing)
    found = tails_of(records)
    (only,) = found.threads
    assert (refused(only).why, refused(only).instead, found.exceedances) == (Why.CLOCK, None, ())


def test_records_with_problems_are_not_extrapolated() -> None:
    (only,) = tails_of(field(Source("exponential").draw(1), problems=["samples were lost"])).threads
    assert refused(only).why == Why.PROBLEMS
    assert "samples were lost" in refused(only).reason


@pytest.mark.parametrize("stated", [{}, {"interval": None}])
def test_without_an_interval_there_is_no_time(stated: dict[str, int]) -> None:
    (only,) = tails_of(field(Source("exponential").draw(1), parameters=stated)).threads
    assert refused(only).why == Why.NO_INTERVAL


def test_what_is_not_taken_at_an_interval_has_no_tail() -> None:
    records = field(Source("exponential").draw(1), instrument="hackbench", parameters={})
    assert analyse(asking(), "demo", records, {}).tails == {}


def test_a_wake_up_later_than_a_period_took_several() -> None:
    samples = np.full(2_000, 5_000)
    samples[7] = 10 * INTERVAL_NS + 1
    assert stream(samples).exposure_ns == (2_000 + 10) * INTERVAL_NS


def test_the_step_that_a_record_states_is_used() -> None:
    samples = Source("exponential", step=1_000).draw(1)
    (plain,) = tails_of(field(samples)).threads
    (stated,) = tails_of(field(samples, scalars={"resolution": Scalar(value=1_000, unit="ns")})).threads
    assert given(plain) == given(stated)


# --- a limit that was never passed ------------------------------------------------------------------------------------


def test_no_exceedance_has_an_exact_bound() -> None:
    """Independent samples: 1 - 0.05^(1/n), about 3/n."""
    samples = Source("uniform", samples=100_000).draw(1)
    (bound,) = tails_of(field(samples)).exceedances
    assert (bound.exceeding, bound.samples, bound.limit) == (0, 100_000, 100_000)
    assert bound.effective == pytest.approx(100_000, rel=0.1)
    assert bound.bound == pytest.approx(1 - 0.05 ** (1 / (bound.effective or 1)), rel=1e-9)
    assert bound.once_in_ns == pytest.approx(INTERVAL_NS / bound.bound)


def test_samples_that_come_in_clusters_bound_less() -> None:
    (loose,) = tails_of(field(Source("uniform", alone=0.1).draw(1))).exceedances
    (tight,) = tails_of(field(Source("uniform").draw(1))).exceedances
    assert loose.effective is not None and tight.effective is not None
    assert loose.effective < 0.4 * tight.effective
    assert loose.bound > 2.5 * tight.bound


def test_without_the_order_samples_are_taken_for_independent_and_it_is_said() -> None:
    counts = {5_000 + i: 100 for i in range(100)}
    records = [
        record(Series.counted(counts, name="latency"), board="local", timing=Timing.REAL,
               parameters={"interval": INTERVAL_NS}, seed=seed)
        for seed in (1, 2)
    ]  # fmt: skip
    (bound,) = tails_of(records).exceedances
    assert bound.effective is None
    assert bound.bound == pytest.approx(1 - 0.05 ** (1 / 20_000))


def test_passed_limits_are_counted() -> None:
    samples = Source("uniform", samples=50_000).draw(1)
    samples[[5, 500, 5_000]] = 150_000
    (bound,) = tails_of(field(samples)).exceedances
    assert bound.exceeding == 3
    assert 3 / 50_000 < bound.bound < 9 / 50_000

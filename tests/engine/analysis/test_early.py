# SPDX-License-Identifier: MIT
"""Runs that began at once beside those that began later: the end of a boot is found, chance is not."""

from collections.abc import Sequence

import numpy as np
import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.figure.comparable import unlike
from rtqual.engine.analysis.figure.early import early_runs, rested
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.engine.analysis.regression.origin import check_comparable
from rtqual.protocols.record.schema import LATER_S, WAITED_NS, Record, Series, Timing
from support.analysis_records import record

RESTED = {WAITED_NS: "20000000000"}
US = 1_000


def runs(early_us: Sequence[Sequence[float]], late_us: Sequence[Sequence[float]], load: str = "none") -> list[Record]:
    """Of cyclictest: the samples of each run, whose order is not known."""
    return [
        record(counted(samples), load=load, seed=seed, facts=RESTED | ({LATER_S: "10"} if late else {}))
        for seed, (late, samples) in enumerate(
            [*((False, one) for one in early_us), *((True, one) for one in late_us)], start=1
        )
    ]


def counted(samples_us: Sequence[float]) -> Series:
    counts: dict[int, int] = {}
    for sample in samples_us:
        counts[round(sample * US)] = counts.get(round(sample * US), 0) + 1
    return Series.counted(counts, name="latency")


def quiet(seed: int, largest_us: float = 10) -> list[float]:
    return [*np.random.default_rng(seed).uniform(6, 8, 99), largest_us]


def test_one_run_of_each_tells_the_self_tests_of_6_12() -> None:
    """294 us, 111 in the mean, at once; 10 and 7 later."""
    self_tested = [*[300.0] * 37, *[7.0] * 63]
    assert len(list(early_runs(runs([self_tested], [quiet(1)])))) == 1


def test_five_runs_of_each_tell_a_maximum_that_only_early_runs_have() -> None:
    """28 us at once and 16 later, and the same mean."""
    early, late = ([quiet(seed, us) for seed in range(5)] for us in (28, 16))
    assert len(list(early_runs(runs(early, late)))) == 1
    assert list(early_runs(runs(early[:3], late[:3]))) == []  # 1 in 20 by chance
    assert list(early_runs(runs(late, early))) == []  # a later run that is worse is no boot's end
    assert list(early_runs(runs([*early[:4], quiet(9, 17)], late))) == []


def test_loaded_runs_are_told_apart_by_their_means_alone() -> None:
    early, late = ([quiet(seed, us) for seed in range(5)] for us in (211, 126))
    slow = [[sample + 2 for sample in one] for one in early]
    assert list(early_runs(runs(early, late, "hackbench"))) == []
    assert len(list(early_runs(runs(slow, late, "hackbench")))) == 1


@pytest.mark.parametrize("load", ["none", "hackbench"])
def test_chance_is_not_told(load: str) -> None:
    """500 campaigns of ten runs whose maxima have a tail as hackbench's."""
    drawn = np.random.default_rng(1)
    for number in range(500):
        every = [[*drawn.normal(8, 0.2, 9), 9 + drawn.pareto(1.2)] for _ in range(10)]
        assert list(early_runs(runs(every[:5], every[5:], load))) == [], number


def test_samples_in_their_order_that_fall_in_every_run_are_told() -> None:
    falling = [Series.raw([*[9_000] * 40, *[7_000] * 80], name="latency") for _ in range(8)]
    level = [Series.raw([9_000, 7_000] * 60, name="latency")] * 8
    assert len(list(early_runs([record(one, seed=seed) for seed, one in enumerate(falling)]))) == 1
    assert list(early_runs([record(one, seed=seed) for seed, one in enumerate(falling[:7])])) == []
    assert list(early_runs([record(one, seed=seed) for seed, one in enumerate([*falling[:7], level[0]])])) == []
    real = [record(one, seed=seed, timing=Timing.REAL) for seed, one in enumerate(falling)]
    assert list(early_runs(real)) == []


def test_the_cpus_of_a_run_are_one_run() -> None:
    cpus = [Series.raw([*[9_000] * 40, *[7_000] * 80], name="latency", cpu=cpu) for cpu in range(4)]
    assert list(early_runs([record(cpus, seed=seed) for seed in range(1, 8)])) == []
    assert len(list(early_runs([record(cpus, seed=seed) for seed in range(1, 9)]))) == 1


@pytest.mark.parametrize(("late_us", "told"), [(9, 0), (8, 1)])
def test_what_falls_alike_in_runs_that_begin_later_is_no_boot(late_us: int, told: int) -> None:
    """As an offset that a program's clock takes out, or its first jobs."""
    falling = [
        record(
            Series.raw([*[first_us * US] * 40, *[7 * US] * 80], name="offset"),
            seed=seed,
            facts=RESTED | ({LATER_S: "10"} if late else {}),
        )
        for seed, (late, first_us) in enumerate([(False, 9), (True, late_us)] * 4, start=1)
    ]
    assert len(list(early_runs(falling))) == told


def test_a_mean_on_the_other_side_of_zero_is_not_half_as_much_again() -> None:
    """Of two runs' offsets one is the larger."""
    assert list(early_runs(runs([[0.5] * 9], [[-0.1] * 9]))) == []
    assert list(early_runs(runs([[-0.1] * 9], [[-0.5] * 9]))) == []


def test_samples_beyond_a_histogram_count_as_the_tool_printed_them() -> None:
    """41,769 us, 143 in the mean: arm64's 6.12."""
    beyond = Series.counted(
        {8_000: 999}, name="latency", overflow=1, overflow_from=1_000_000,
        reported={"min": 8_000, "avg": 143_000, "max": 41_769_000},
    )  # fmt: skip
    early = record(beyond, load="none", seed=1, facts=RESTED)
    late = record(counted(quiet(2)), load="none", seed=2, facts=RESTED | {LATER_S: "10"})
    assert len(list(early_runs([early, late]))) == 1


def test_a_group_with_early_runs_is_refused() -> None:
    (group,) = groups(runs([[300.0] * 100], [quiet(1)])).items()
    assert len(measure(*group).summary.problems) == 1


def booted(facts: dict[str, str]) -> Record:
    made = record(counted(quiet(1)), facts=facts)
    inputs = made.inputs.model_copy(update={"artefacts": {"initramfs": "x"}})
    return Record(made.manifest.model_copy(update={"inputs": inputs}), made.series)


def test_records_from_before_the_wait_are_not_compared_with_those_since() -> None:
    before, since, image = booted({}), booted(RESTED), record(counted(quiet(1)))
    assert [rested([one]) for one in (before, since, image)] == [False, True, None]
    old, new, other = (groups([one]) for one in (before, since, image))
    of_old, of_new, of_other = (measure(*next(iter(some.items()))).summary for some in (old, new, other))
    assert unlike(of_old, of_new)
    assert not unlike(of_new, of_new)
    assert not unlike(of_old, of_other)
    with pytest.raises(BadInput, match="old"):
        check_comparable(old, new, ("old", "new"))
    with pytest.raises(BadInput, match="old"):
        check_comparable(new, old, ("new", "old"))
    check_comparable(new, new, ("a", "b"))

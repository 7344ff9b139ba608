# SPDX-License-Identifier: MIT
"""The regression gate on runs that repeat to the sample: what fails, what passes, what is missing or new."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.regression.course import Course
from rtqual.engine.analysis.regression.direction import better, statistic_of
from rtqual.engine.analysis.regression.regressions import Side, regressions
from rtqual.engine.mission import Better
from rtqual.protocols.record.schema import Record, Scalar, Series
from support.analysis_records import WAKE_UP, mission, record, wakeups
from support.gate_records import BASE, courses, judged, runs, scalars


def with_inputs(records: Sequence[Record], **update: object) -> list[Record]:
    return [
        replace(one, manifest=one.manifest.model_copy(update={"inputs": one.inputs.model_copy(update=update)}))
        for one in records
    ]


# --- deterministic: seed against seed


def test_equal_records_pass() -> None:
    found = judged(BASE, BASE)
    assert not found.failed
    assert set(courses(found).values()) == {Course.SAME}
    assert {"avg", "p50", "p99", "max"} <= set(courses(found))


def test_one_nanosecond_on_one_seed_is_a_regression_and_the_reverse_is_shown_as_better() -> None:
    worse = wakeups("rt", [12_000 + 10 * seed + (seed == 9) for seed in range(10)])
    found = judged(BASE, worse)
    assert found.failed
    assert {one.figure for one in found.of(Course.WORSE)} == {"avg", "max"}
    assert next(one for one in found.figures if one.figure == "max").reason == "on 1 of 10 seeds"
    back = judged(worse, BASE)
    assert not back.failed
    assert {one.figure for one in back.of(Course.BETTER)} == {"avg", "max"}


def test_a_seed_that_got_worse_does_not_hide_behind_one_that_got_better() -> None:
    now = wakeups("rt", [11_000, *(12_000 + 10 * seed for seed in range(1, 9)), 12_080])
    worse = wakeups("rt", [11_000, 12_011, *(12_000 + 10 * seed for seed in range(2, 10))])
    assert not judged(BASE, now).failed
    (one,) = [one for one in judged(BASE, worse).of(Course.WORSE) if one.figure == "max"]
    assert one.reason == "on 1 of 10 seeds: 12.01 us to 12.01 us on seed 1"
    assert one.before.value == one.after.value == 12_090


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 10**6), min_size=3, max_size=40), min_size=1, max_size=4),
    st.integers(0, 3),
    st.integers(0, 39),
    st.integers(1, 10**5),
)
def test_later_samples_fail_and_earlier_ones_pass(samples: list[list[int]], run: int, sample: int, by_ns: int) -> None:
    """Whatever else a run holds: one sample that came later is a regression, one that came earlier never."""
    later = [list(one) for one in samples]
    place = later[run % len(later)]
    place[sample % len(place)] += by_ns
    forth, back = judged(runs(samples), runs(later)), judged(runs(later), runs(samples))
    assert courses(forth)["avg"] == Course.WORSE
    assert forth.failed
    assert not back.failed
    assert courses(back)["avg"] == Course.BETTER
    assert Course.BETTER not in courses(forth).values()


def test_a_faster_best_case_widens_the_range_and_is_no_regression_unless_the_mission_asks_for_the_range() -> None:
    before, after = runs([[5_000, 9_000, 9_000]]), runs([[4_000, 9_000, 9_000]])
    assert not judged(before, after).failed
    criterion = {
        "name": "range",
        "instrument": "cyclictest",
        "load": "hackbench",
        "statistic": "max-min",
        "weight": 1.0,
    }
    asked = mission(criteria=[criterion])
    found = regressions(Side("BASE", before), Side("NOW", after, mission=asked))
    assert [one.figure for one in found.of(Course.WORSE)] == ["max-min"]


@pytest.mark.parametrize(
    ("name", "unit", "way"),
    [
        ("p99", "ns", Better.LOWER), ("memory_used", "B", Better.LOWER), ("events_per_s", "1/s", Better.HIGHER),
        ("read", "MiB/s", Better.HIGHER), ("ram_total", "B", Better.HIGHER), ("skipped_periods", "1", Better.LOWER),
        ("events", "1", None), ("thread 2 median run max", "ns", Better.LOWER), ("std", "1/s", Better.LOWER),
    ],
)  # fmt: skip
def test_which_way_is_better(name: str, unit: str, way: Better | None) -> None:
    assert better(name, unit) == way


def test_the_statistic_in_a_name_is_the_longest_that_fits() -> None:
    assert [statistic_of(one) for one in ("max", "thread 2 max", "x median run max", "maximum", "climax")] == [
        "max", "max", "median run max", "", "",
    ]  # fmt: skip


def test_a_rate_is_worse_when_it_falls_and_a_number_without_a_direction_is_only_shown() -> None:
    before = scalars({"rate": Scalar(value=100, unit="1/s"), "events": Scalar(value=7, unit="1")})
    after = scalars({"rate": Scalar(value=99, unit="1/s"), "events": Scalar(value=6, unit="1")})
    assert courses(judged(before, after)) == {"rate": Course.WORSE, "events": Course.CHANGED}
    assert courses(judged(after, before)) == {"rate": Course.BETTER, "events": Course.CHANGED}
    assert not judged(after, before).failed


def test_the_mission_says_which_way_is_better_before_the_unit_does() -> None:
    before = scalars({"events": Scalar(value=7, unit="1")})
    after = scalars({"events": Scalar(value=6, unit="1")})
    criterion = {"name": "c", "instrument": "cyclictest", "load": "hackbench", "scalar": "events", "weight": 1.0}
    for way, course in (("higher", Course.WORSE), ("lower", Course.BETTER)):
        asked = mission(criteria=[{**criterion, "better": way}])
        assert courses(regressions(Side("a", before), Side("b", after, mission=asked))) == {"events": course}


def test_a_tolerance_is_a_part_of_the_figure() -> None:
    before, after = runs([[1_000, 1_000]]), runs([[1_000, 1_100]])
    assert judged(before, after, tolerance=0.09).failed
    found = judged(before, after, tolerance=0.1)
    assert not found.failed
    assert {one.reason for one in found.figures if one.figure == "max"} == {"worse, but within the tolerance"}


def test_only_what_the_mission_names_is_judged_when_asked_to() -> None:
    before, after = runs([[1_000, 2_000]]), runs([[1_500, 2_000]])
    named = mission(requirements=[WAKE_UP])
    sides = Side("BASE", before, mission=named), Side("NOW", after, mission=named)
    assert regressions(*sides).failed
    found = regressions(*sides, mission_only=True)
    assert courses(found) == {"max": Course.SAME}
    with pytest.raises(BadInput, match="--mission-only needs"):
        judged(before, after, mission_only=True)


def test_what_lies_in_an_overflow_is_only_a_lower_end() -> None:
    def overflown(overflow: int, largest: int) -> list[Record]:
        return [
            record(Series.counted({500: 10, largest: 1}, name="latency", overflow=overflow, overflow_from=1_000))
        ]  # fmt: skip

    assert courses(judged(overflown(0, 900), overflown(1, 900)))["max"] == Course.WORSE
    assert courses(judged(overflown(1, 900), overflown(0, 900)))["max"] == Course.BETTER
    assert courses(judged(overflown(1, 900), overflown(2, 900)))["max"] == Course.UNDECIDED


# --- what is missing, new, refused


def test_a_missing_cell_fails_and_is_named_with_its_reason() -> None:
    idle = wakeups("rt", [11_000] * 10, load="none")
    found = regressions(Side("BASE", [*BASE, *idle]), Side("NOW", BASE, failures={}))
    assert found.failed
    (one,) = found.lost
    assert one.what == "rt: cyclictest idle, virtual board, 1 CPU"
    group = one.group
    (one,) = regressions(Side("a", [*BASE, *idle]), Side("b", BASE, failures={group: "the guest died"})).lost
    assert one.reason == "the guest died"
    back = judged(BASE, [*BASE, *idle])
    assert not back.failed
    assert back.added == (one.what,)


def test_a_missing_seed_or_figure_of_deterministic_runs_fails() -> None:
    (one,) = judged(BASE, BASE[:-2]).lost
    assert one.what == "seeds 8 and 9 of rt: cyclictest under hackbench, virtual board, 1 CPU"
    assert judged(BASE[:-1], BASE).added == ("seed 9 of rt: cyclictest under hackbench, virtual board, 1 CPU",)
    figures = {"a": Scalar(value=1, unit="1/s"), "b": Scalar(value=1, unit="1/s")}
    (one,) = judged(scalars(figures), scalars({"a": figures["a"]})).lost
    assert one.what.startswith("b of rt: cyclictest")


def test_runs_that_are_refused_now_are_missing_and_a_refused_baseline_is_not_judged() -> None:
    refused = wakeups("rt", [12_000 + 10 * seed for seed in range(10)], problems=["2 samples were lost"])
    found = judged(BASE, refused)
    assert found.failed
    assert "2 samples were lost" in found.lost[0].reason
    back = judged(refused, BASE)
    assert set(courses(back).values()) == {Course.UNDECIDED}
    assert not back.failed
    assert judged(refused, BASE, strict=True).failed


# --- what cannot be compared, and which inputs changed


def test_other_parameters_are_not_comparable() -> None:
    one, other = (wakeups("rt", [12_000] * 3, parameters={"cycles": cycles, "priority": 80}) for cycles in (100, 200))
    with pytest.raises(BadInput, match=r"cyclictest under hackbench.*parameter cycles is 100 in BASE and 200 in NOW"):
        judged(one, other)


def test_other_command_lines_are_not_comparable() -> None:
    one, other = (with_inputs(BASE, job={"loads": [load], "measure": "x"}) for load in ("hackbench", "hackbench -g 9"))
    with pytest.raises(BadInput, match=r"what ran differs \(loads\)"):
        judged(one, other)
    imported = with_inputs(BASE, job={"imported_sha256": "00"})
    assert not judged(imported, with_inputs(BASE, job={"imported_sha256": "11"})).failed


def test_several_measurements_of_a_cell_on_one_side_are_refused() -> None:
    mixed = [*with_inputs(BASE[:5], artefacts={"kernel": "old"}), *with_inputs(BASE[5:], artefacts={"kernel": "new"})]
    for sides in ((mixed, BASE), (BASE, mixed)):
        with pytest.raises(BadInput, match="several measurements of rt: cyclictest"):
            judged(*sides)


def test_nothing_in_common_is_bad_input() -> None:
    with pytest.raises(BadInput, match="nothing to compare"):
        judged(BASE, wakeups("stock", [12_000] * 10))


def test_inputs_that_changed_are_named_by_what_differs() -> None:
    before = with_inputs(
        BASE, artefacts={"kernel": "a" * 64, "kernel parameters": "quiet preempt=full", "qemu": "7.2", "gone": "x"}
    )
    after = with_inputs(
        BASE, artefacts={"kernel": "b" * 64, "kernel parameters": "quiet preempt=none", "qemu": "7.2", "come": "y"}
    )
    assert {(one.what, one.before, one.after) for one in judged(before, after).inputs} == {
        ("kernel", "a" * 12, "b" * 12), ("kernel parameters", "preempt=full", "preempt=none"), ("gone", "x", "-"),
        ("come", "-", "y"),
    }  # fmt: skip


def test_equal_inputs_that_gave_other_samples_are_told() -> None:
    found = judged(BASE, wakeups("rt", [12_000 + 10 * seed - (seed == 4) for seed in range(10)]))
    assert any("equal inputs gave other samples on seed 4" in note for note in found.notes)

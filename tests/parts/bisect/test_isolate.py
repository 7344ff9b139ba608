# SPDX-License-Identifier: MIT
"""Which of many changes moves something: the acting ones are found, in as many trials as are foretold."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.parts.bisect.isolate import at_most, halved, isolate, turning


def beginning(number: int) -> frozenset[int]:
    return frozenset(range(number))


class Counted:
    """A trial that counts how often it is asked."""

    def __init__(self, moves: Callable[[frozenset[int]], bool | None]) -> None:
        self.moves, self.asked = moves, list[frozenset[int]]()

    def __call__(self, some: frozenset[int]) -> bool | None:
        self.asked.append(some)
        return self.moves(some)


@settings(max_examples=15)
@given(st.integers(1, 60).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=1))))
def test_those_that_act_together_are_found_and_nothing_else(case: tuple[int, set[int]]) -> None:
    number, acting = case
    trial = Counted(lambda some: acting <= some)
    found = isolate(number, trial)
    assert {*found.changes} == acting and found.rest_moves is False
    assert len(trial.asked) == len({*trial.asked}), "no kernel is measured twice"
    one, more = at_most(number)
    assert len(trial.asked) <= one + (len(acting) - 1) * more


@settings(max_examples=15)
@given(st.integers(2, 60).flatmap(lambda n: st.tuples(st.just(n), st.sets(st.integers(0, n - 1), min_size=2))))
def test_one_of_several_that_act_alone_is_found_and_the_rest_is_told(case: tuple[int, set[int]]) -> None:
    number, acting = case
    found = isolate(number, lambda some: bool(acting & some))
    assert len(found.changes) == 1 and {*found.changes} <= acting
    assert found.rest_moves is True


def test_what_only_seemed_to_act_is_left_out() -> None:
    """0 to 2 move alone, but 1 without 2 holds it back: 2 is found first, then 0, and 2 is not needed."""
    found = isolate(3, lambda some: 0 in some and (1 not in some or 2 in some))
    assert found.changes == (0,)


def test_changes_that_cannot_be_judged_apart_stay_together() -> None:
    """No kernel with the first 3, 4 or 5 of the changes can be built."""
    found = isolate(8, lambda some: None if some in (beginning(3), beginning(4), beginning(5)) else {4} <= some)
    assert found.acting == ((2, 3, 4, 5),)
    assert isolate(8, lambda _: None).acting == (tuple(range(8)),)


@pytest.mark.parametrize("number", [1, 2, 3, 100])
def test_the_first_of_a_chain_is_found_by_halving(number: int) -> None:
    def found(first: int) -> tuple[tuple[int, int], int]:
        asked: list[int] = []

        def moves(at: int) -> bool:
            asked.append(at)
            return at >= first

        return turning(0, number, moves), len(asked)

    for first in range(1, number + 1):
        between, trials = found(first)
        assert between == (first - 1, first) and trials <= halved(number)

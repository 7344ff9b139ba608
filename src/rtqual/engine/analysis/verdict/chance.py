# SPDX-License-Identifier: MIT
"""Whether a candidate is out by more than what chance does to one of two that are equal.

A limit on a largest sample, or a count that must be none, is broken by one sample: by luck too. Of other limits
intervals tell candidates apart.
"""

import math
from collections.abc import Sequence

from rtqual.engine.analysis.figure.asked import TAIL
from rtqual.engine.analysis.figure.model import Figure
from rtqual.engine.analysis.figure.pool import Pool
from rtqual.engine.analysis.verdict.model import Gate, Outcome
from rtqual.engine.mission import Requirement


def in_runs(requirement: Requirement, name: str, reading: Figure, pool: Pool | None) -> tuple[int, int] | None:
    """In how many runs, and of how many, a limit was broken that one sample breaks; None of other limits.

    Of a count only its mean and its largest are known, so at least in so many.
    """
    if not requirement.at_most:
        return None
    limit = requirement.limit.value
    if name == "max" and pool is not None:
        return int((pool.highs > limit).sum()), pool.runs
    if limit or reading.largest_count is None:
        return None
    return math.ceil(reading.value * reading.runs / reading.largest_count) if reading.largest_count else 0, reading.runs


def surely_out(gates: Sequence[Gate], beside: Sequence[Gate]) -> bool:
    """Whether the candidate of `gates` is out beside another one by more than chance.

    So many of its runs broke a limit that no run of the other one did, that of equal candidates all of them fall on
    this side in 2.5 % of cases at most (R. Fisher's exact test).
    """
    own = {gate.requirement: gate for gate in beside}
    failed = [gate for gate in gates if gate.seen == Outcome.NOT_MET]
    return any(not _by_chance(gate, own.get(gate.requirement)) for gate in failed)


def _by_chance(gate: Gate, beside: Gate | None) -> bool:
    if beside is None or not gate.in_runs or not beside.in_runs:
        return False
    (broken, runs), (_, kept) = gate.in_runs, beside.in_runs
    return broken > 0 and math.comb(runs, broken) / math.comb(runs + kept, broken) > TAIL

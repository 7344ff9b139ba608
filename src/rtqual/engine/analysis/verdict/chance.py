# SPDX-License-Identifier: MIT
"""Whether a candidate is out by more than what chance does to one of two that are equal.

A limit on a largest sample or on a count is broken by one sample or one run, and one run hangs: by luck too. Of other
limits intervals tell candidates apart.
"""

import math
from collections.abc import Sequence

from rtqual.engine.analysis.figure.asked import TAIL
from rtqual.engine.analysis.figure.intervals import FloatArray
from rtqual.engine.analysis.figure.pool import Pool
from rtqual.engine.analysis.verdict.model import Gate, Outcome
from rtqual.engine.mission import Requirement


def in_runs(
    requirement: Requirement, name: str, pool: Pool | None, counts: FloatArray | None
) -> tuple[int, int] | None:
    """In how many runs, and of how many, a limit was broken that one run breaks; None of other limits.

    `counts`: of each run, of what counts something. Of a range, the fewest runs that it hangs on.
    """
    limit, at_most = requirement.limit.value, requirement.at_most is not None
    if counts is not None:
        return (int((counts > limit).sum()), len(counts)) if at_most else None
    if pool is None or not requirement.statistic:
        return None
    if name == "min" and not at_most:
        return int((pool.lows < limit).sum()), pool.runs
    beyond = {
        "max": (pool.highs > limit,),
        "max-min": (pool.highs - pool.lows.min() > limit, pool.highs.max() - pool.lows > limit),
        "(max-min)/max": (
            pool.highs - pool.lows.min() > limit * pool.highs,
            pool.highs.max() - pool.lows > limit * pool.highs.max(),
        ),
    }.get(name)
    return (int(min(each.sum() for each in beyond)), pool.runs) if beyond and at_most else None


def surely_out(gates: Sequence[Gate], beside: Sequence[Gate]) -> bool:
    """Whether the candidate of `gates` is out beside another one by more than chance.

    So many of its runs broke a limit that no run of the other one did, that of equal candidates all of them fall on
    this side in 2.5 % of cases at most (R. Fisher's exact test).
    """
    own = {gate.requirement: gate for gate in beside}
    failed = [gate for gate in gates if gate.seen == Outcome.NOT_MET]
    return any(not _by_chance(gate, own.get(gate.requirement)) for gate in failed)


def _by_chance(gate: Gate, beside: Gate | None) -> bool:
    """Of a candidate without such a gate, as of a hang, as many runs are there: fewer would leave it undecided."""
    if not gate.in_runs:
        return False
    broken, runs = gate.in_runs
    kept = runs
    if beside is not None:
        kept = beside.in_runs[1] if beside.in_runs else beside.measured.runs if beside.measured else runs
    return broken > 0 and math.comb(runs, broken) / math.comb(runs + kept, broken) > TAIL

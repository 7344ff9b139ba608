# SPDX-License-Identifier: MIT
"""Whether what a campaign with runs = "auto" claims holds, though it looked more than once before it stopped.

Made-up campaigns look as real ones do, and stop by the same rule. Where two candidates are equal and the limit lies at
their true figure, whatever tells them apart, or says that the limit is kept or broken, is wrong; where they differ, and
the limit can be kept, the contrary is.
`python tests/engine/analysis/test_looks_coverage.py 2000` prints the table of docs/verification/statistics.md.
"""

import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from engine.analysis.test_coverage import latencies
from rtqual.engine.analysis.difference.compare import compare
from rtqual.engine.analysis.difference.model import Comparison, Relation
from rtqual.engine.analysis.difference.statement import margins_of
from rtqual.engine.analysis.figure.asked import fraction
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.figure.summary import Measured, measure
from rtqual.engine.analysis.verdict.judge import judge
from rtqual.engine.analysis.verdict.model import Outcome
from rtqual.engine.mission import Mission, Plan, Scale
from rtqual.protocols.record.schema import Record, Series
from support.analysis_records import mission, record

LOOKS = (10, 20, 40, 80)
SAMPLES = 300
KINDS = ("skewed", "heavy", "bursts", "microseconds")
STATISTIC = "p90"
FASTER, ROOM = 0.65, 1.5  # in the campaigns that can be decided: b's figure and the limit, in parts of a's


@cache
def truth(kind: str) -> float:
    samples = np.sort(latencies(kind, np.random.default_rng(2024), 12_000, SAMPLES), axis=None)
    return float(samples[-(-len(samples) * fraction(STATISTIC) // 1) - 1])


@cache
def asking(limit_ns: int) -> Mission:
    asked = {"name": "late", "instrument": "cyclictest", "load": "hackbench", "statistic": STATISTIC}
    text = mission(["a", "b"], requirements=[{**asked, "at_most": f"{limit_ns} ns", "margin": "1 ns"}])
    plan = Plan(instruments=("cyclictest",), loads=("hackbench",), runs="auto", most_runs=LOOKS[-1])
    return text.model_copy(update={"scales": {"demo": Scale(plan=(plan,))}})


def drawn(kind: str, rng: np.random.Generator, candidate: str, factor: float) -> list[Record]:
    every = np.rint(latencies(kind, rng, LOOKS[-1], SAMPLES) * factor).astype(np.int64)
    return [record(Series.raw(run, name="latency"), candidate=candidate, seed=n + 1) for n, run in enumerate(every)]


def ended(asked: Mission, records: Mapping[str, list[Record]], looks: int) -> tuple[int, Measured, Comparison, Outcome]:
    """A campaign as it ends, at the first look with nothing undecided or at the limit: its runs; of a the figures and
    the gate; and a beside b."""
    for look in LOOKS:
        groups = [Group("cyclictest", "hackbench", "virtual", 1, name) for name in records]
        measured = [measure(group, records[group.candidate][:look], looks) for group in groups]
        (comparison,) = compare(measured, (STATISTIC,), margins_of(asked.requirements))
        (verdict,) = judge(asked, "demo", measured, (comparison,), (), configs={}, failures={})
        if not verdict.undecided:
            break
    (gate,) = next(one.gates for one in verdict.standings if one.candidate == "a")
    return look, measured[0], comparison, gate.seen


@dataclass(frozen=True)
class Tally:
    """Of so many campaigns, how many..."""

    campaigns: int
    apart: int  # say that a is smaller, or that two equal candidates differ
    judged: int  # say that a breaks its limit, or which side of its true figure lies on
    held: int  # end with an interval of a that holds the truth
    runs: float  # a campaign, on average

    def __add__(self, other: "Tally") -> "Tally":
        both = self.campaigns + other.campaigns
        runs = (self.runs * self.campaigns + other.runs * other.campaigns) / both
        return Tally(both, self.apart + other.apart, self.judged + other.judged, self.held + other.held, runs)


def tally(kind: str, campaigns: int, seed: int = 0, *, equal: bool = True, looks: int = len(LOOKS)) -> Tally:
    true, apart, judged, held, runs = truth(kind), 0, 0, 0, 0
    asked = asking(round(true if equal else ROOM * true))
    for number in range(campaigns):
        rng = np.random.default_rng([11, seed, number])
        records = {name: drawn(kind, rng, name, 1 if equal or name == "a" else FASTER) for name in "ab"}
        last, a, comparison, gate = ended(asked, records, looks)
        interval = a.summary.figures[STATISTIC].interval
        said = comparison.relation
        apart += said != Relation.UNDECIDED if equal else said == Relation.LESS
        judged += gate in ((Outcome.MET, Outcome.NOT_MET) if equal else (Outcome.NOT_MET,))
        held += interval is not None and interval.low <= true <= interval.high
        runs += last
    return Tally(campaigns, apart, judged, held, runs / campaigns)


@pytest.mark.full
def test_what_a_campaign_claims_holds_whenever_it_stops() -> None:
    """5 % may be wrong; of 100 campaigns 12 would be three standard errors more."""
    kind = "skewed"
    one = tally(kind, 100)
    assert max(one.apart, one.judged, one.campaigns - one.held) < 12
    assert one.runs > 0.9 * LOOKS[-1]
    other = tally(kind, 60, equal=False)
    assert max(other.apart, other.judged, other.campaigns - other.held) < 9
    assert other.runs < 0.8 * LOOKS[-1]


@pytest.mark.guest
def test_a_look_more_makes_every_interval_wider() -> None:
    of = drawn("skewed", np.random.default_rng(1), "a", 1)[:10]
    once, often = (measure(Group("cyclictest", "hackbench", "virtual", 1, "a"), of, looks).summary for looks in (1, 4))
    pairs = [(one.interval, often.figures[name].interval) for name, one in once.figures.items()]
    known = [(a, b) for a, b in pairs if a is not None and b is not None]
    assert len(known) > 4
    assert all(b.low <= a.low and a.high <= b.high and (a.low, a.high) != (b.low, b.high) for a, b in known)


def _part(work: tuple[str, int, int, bool, int]) -> Tally:
    kind, campaigns, seed, equal, looks = work
    return tally(kind, campaigns, seed, equal=equal, looks=looks)


def _cells(one: Tally, other: Tally) -> list[str]:
    """In percent; in brackets without the correction."""
    parts = [(of.apart, of.judged, of.held) for of in (one, other)]
    pairs = zip(*parts, strict=True)
    return [f"{100 * a / one.campaigns:.1f} ({100 * b / other.campaigns:.1f})" for a, b in pairs]


if __name__ == "__main__":
    parts = 2
    with ProcessPoolExecutor(parts) as workers:
        for shape in KINDS:
            for same in (True, False):
                found = []
                for corrected in (len(LOOKS), 1):
                    work = [(shape, int(sys.argv[1]) // parts, seed, same, corrected) for seed in range(parts)]
                    first, second = workers.map(_part, work)
                    found.append(first + second)
                runs = f"{found[0].runs:.0f} ({found[1].runs:.0f})"
                print("|", " | ".join([shape, "equal" if same else "apart", *_cells(*found), runs]), "|", flush=True)

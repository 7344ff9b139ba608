# SPDX-License-Identifier: MIT
"""Whether intervals hold what they promise: how often 95 % intervals of made-up campaigns hold the true figure.

Samples within a run are autocorrelated; runs differ in place and scale by 30 %. An interval with an open end holds
whatever lies beyond it, so how often an end is open is counted too. `python test_coverage.py 2000` writes the
tables of docs/verification/statistics.md (PYTHONPATH=tests).
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from math import isinf

import numpy as np
import numpy.typing as npt
import pytest
from scipy import signal, special

from rtqual.engine.analysis.difference.compare import compare_pair
from rtqual.engine.analysis.difference.shift import shift_function
from rtqual.engine.analysis.figure.asked import QUANTILES, RUNS_FOR_STD, UPPER_SHARE, fraction
from rtqual.engine.analysis.figure.cells import Cells
from rtqual.engine.analysis.figure.model import Figure, Group, Interval
from rtqual.engine.analysis.figure.summary import SHIFTED, Measured, measure
from rtqual.engine.analysis.verdict.score import score_table
from rtqual.engine.mission import Better, Criterion
from rtqual.protocols.record.schema import Record, Scalar, Series
from support.analysis_records import record
from support.doc_tables import put

Samples = npt.NDArray[np.int64]
TRUE_RUNS = 12_000  # the truth is off by 3 % of what ten runs are
ENOUGH = 200  # intervals to count a coverage from; some far quantiles have one in few campaigns only
EXPECTED = (
    *(f"p{percent}" for percent in ("5", "10", "25", "50", "75", "90", "95")), "avg", "p95-avg", "(p95-avg)/p95", "std",
    "median run max", "median run max-min", "upper run max", "rate", "lead of the score",
    *(f"{what} of {name}" for what in ("difference", "ratio") for name in ("p50", "avg", "median run max", "rate")),
)  # fmt: skip
CRITERIA = tuple(
    Criterion(name=name, instrument="cyclictest", load="hackbench", weight=weight, **figure)  # type: ignore[arg-type]
    for name, weight, figure in (
        ("range", 3.0, {"statistic": "max-min"}),
        ("jitter", 2.0, {"statistic": "p95-avg"}),
        ("speed", 1.0, {"statistic": "avg"}),
        ("rate", 1.0, {"scalar": "rate", "better": "higher"}),
    )
)


def latencies(kind: str, rng: np.random.Generator, runs: int, n: int) -> Samples:
    """(runs, n) samples in nanoseconds, each with the one before it correlated by 0.7 ("sticky": 0.95)."""
    if kind == "constant":
        return np.full((runs, n), 7_440)
    follow = 0.95 if kind == "sticky" else 0.7
    noise = rng.normal(size=(runs, n))
    noise[:, 0] /= np.sqrt(1 - follow**2)  # so that the first is like the others
    normal = signal.lfilter([np.sqrt(1 - follow**2)], [1, -follow], noise)
    place, scale = rng.lognormal(-0.045, 0.3, (2, runs, 1))
    if kind == "heavy":  # Pareto's (Lomax) tail: no fourth moment
        return np.rint(1_000 * place + 3_000 * scale * (special.ndtr(-normal) ** (-1 / 3) - 1)).astype(np.int64)
    if kind == "bursts":  # one sample in twenty comes 20 us later; how many, varies from run to run
        late = normal > special.ndtri(1 - np.minimum(0.05 * rng.lognormal(-0.125, 0.5, (runs, 1)), 0.5))
        body = 4_000 * place + 500 * scale * np.exp(0.5 * rng.normal(size=(runs, n)))
        return np.rint(body + late * 20_000 * scale).astype(np.int64)
    found = 4_000 * place + 2_000 * scale * np.exp(0.6 * normal)
    if kind == "microseconds":
        return (found // 1_000).astype(np.int64) * 1_000
    return np.rint(found).astype(np.int64)


@dataclass(frozen=True)
class Trial:
    """One kind of campaign: candidate a of that kind beside b, which is like it but a quarter faster."""

    kind: str
    runs: int
    n: int = 300
    beside: int = 0  # runs of b; 0: as many

    def draw(self, rng: np.random.Generator, candidate: str, runs: int) -> tuple[Samples, npt.NDArray[np.float64]]:
        """Samples, and a rate that the tool itself prints, one a run."""
        found = latencies(self.kind, rng, runs, self.n)
        rates = rng.lognormal(5.0, 0.0 if self.kind == "constant" else 0.3, runs)
        if candidate == "b":
            found, rates = found * 3 // 4, rates * 1.2
            if self.kind == "microseconds":
                found = found // 1_000 * 1_000
        return found, rates


TRIALS = (
    Trial("skewed", 10),
    Trial("skewed", 20),
    Trial("skewed", 30),
    Trial("heavy", 10),
    Trial("heavy", 20),
    Trial("bursts", 10),
    Trial("bursts", 20),
    Trial("microseconds", 10),
    Trial("sticky", 10, n=1_500),
    Trial("constant", 10, n=50),
)
UNEQUAL = (Trial("skewed", 10, beside=40), Trial("bursts", 10, beside=40))


def campaign(trial: Trial, rng: np.random.Generator, candidate: str) -> Measured:
    runs = trial.runs if candidate == "a" else trial.beside or trial.runs
    samples, rates = trial.draw(rng, candidate, runs)
    manifest = record(candidate=candidate).manifest
    records = [
        Record(
            manifest.model_copy(update={"scalars": {"rate": Scalar(value=float(rate), unit="1/s")}}),
            (Series.raw(run, name="latency"),),
        )
        for run, rate in zip(samples, rates, strict=True)
    ]
    return measure(Group("cyclictest", "hackbench", "virtual", 1, candidate), records)


def truth(trial: Trial) -> dict[str, dict[str, float]]:
    """Every figure of each candidate, from so many runs that it is as good as known."""
    return _truth(replace(trial, runs=0, beside=0))  # the same, however many runs a campaign has


@cache
def _truth(trial: Trial) -> dict[str, dict[str, float]]:
    rng = np.random.default_rng(2024)
    return {candidate: _true_figures(trial, rng, candidate) for candidate in "ab"}


def _true_figures(trial: Trial, rng: np.random.Generator, candidate: str) -> dict[str, float]:
    samples, rates = trial.draw(rng, candidate, 40 if trial.kind == "constant" else TRUE_RUNS)
    low, high = samples.min(axis=1), samples.max(axis=1)
    every = np.sort(samples, axis=None)
    names = dict.fromkeys([*QUANTILES, *SHIFTED])
    ranks = {name: -(-len(every) * fraction(name).numerator // fraction(name).denominator) for name in names}
    found = {name: float(every[rank - 1]) for name, rank in ranks.items()}
    average, p95 = float(every.mean()), found["p95"]
    return found | {
        "avg": average,
        "std": float(every.std()),
        "p95-avg": p95 - average,
        "(p95-avg)/p95": (p95 - average) / p95,
        "median run max": float(np.median(high)),
        "median run max-min": float(np.median(high - low)),
        "upper run max": float(np.quantile(high, float(UPPER_SHARE))),
        "upper run max-min": float(np.quantile(high - low, float(UPPER_SHARE))),
        "rate": float(rates.mean()),
    }


def intervals(a: Measured, b: Measured) -> dict[str, Interval | None]:
    """Every interval that rtqual prints of two candidates; None where it gives none."""
    found: dict[str, Figure] = {**a.summary.figures, **a.quantiles}
    both = compare_pair(a, b, tuple(name for name in a.summary.figures if name != "rate"))
    found |= {f"difference of {one.statistic}": one.difference for one in both}
    found |= {f"ratio of {one.statistic}": one.ratio for one in both if one.ratio}
    shift = shift_function(a, b, {})
    if shift is not None:
        found |= {f"difference of {name}": one for name, one in shift.differences.items()}
    pair = score_table(CRITERIA, _cells(a, b), ("b", "a"))
    lead = pair.lead("b", "a") if pair.criteria == CRITERIA else None  # of fewer criteria it is another lead
    return {name: one.interval for name, one in found.items()} | {"lead of the score": lead[1] if lead else None}


def _cells(a: Measured, b: Measured) -> Cells:
    return Cells("virtual", ("a", "b"), {one.group: one for one in (a, b)}, {}, frozenset())


def expected(trial: Trial, name: str) -> float:
    of = truth(trial)
    if name == "lead of the score":
        # The weighted geometric mean of how many times better b is; less than the step of 1 ns is no difference.
        figures = ("median run max-min", "p95-avg", "avg", "rate")
        a, b = (np.maximum([abs(of[one][figure]) for figure in figures], 1.0) for one in "ab")
        better = np.where([one.better == Better.HIGHER for one in CRITERIA], b / a, a / b)
        return float(np.exp(np.average(np.log(better), weights=[one.weight for one in CRITERIA])))
    what, _, statistic = name.rpartition(" of ")
    values_of: Mapping[str, Callable[[float, float], float]] = {
        "": lambda a, _: a,
        "difference": lambda a, b: a - b,
        "ratio": lambda a, b: a / b,
    }
    return values_of[what](of["a"][statistic], of["b"][statistic])


@dataclass
class Tally:
    given: Counter[str]
    held: Counter[str]
    opened: Counter[str]

    def coverage(self, name: str) -> float:
        return self.held[name] / self.given[name]


def tally(trial: Trial, replicates: int, seed: int = 0) -> Tally:
    found = Tally(Counter(), Counter(), Counter())
    for number in range(replicates):
        rng = np.random.default_rng([seed, number])
        for name, one in intervals(campaign(trial, rng, "a"), campaign(trial, rng, "b")).items():
            if one is not None:
                # What lies on an end up to rounding is held.
                allowed = 1e-9 * abs(expected(trial, name))
                found.given[name] += 1
                found.held[name] += one.low - allowed <= expected(trial, name) <= one.high + allowed
                found.opened[name] += isinf(one.low) or isinf(one.high)
    return found


def _part(work: tuple[Trial, int, int]) -> Tally:
    return tally(*work)


def in_parallel(trials: tuple[Trial, ...], replicates: int) -> dict[Trial, Tally]:
    parts = 4
    work = [(trial, replicates // parts, seed) for trial in trials for seed in range(1, parts + 1)]
    found = {trial: Tally(Counter(), Counter(), Counter()) for trial in trials}
    for trial in trials:
        truth(trial)  # known to the workers, which are forks
    with ProcessPoolExecutor(2) as workers:
        for (trial, _, _), one in zip(work, workers.map(_part, work), strict=True):
            whole = found[trial]
            found[trial] = Tally(whole.given + one.given, whole.held + one.held, whole.opened + one.opened)
    return found


@pytest.mark.full
def test_every_interval_holds_what_it_promises() -> None:
    """2,000 campaigns of each kind: three to four minutes on two cores."""
    for trial, one in in_parallel(TRIALS, 2_000).items():
        assert one.given["avg"] == 2_000, trial
        missing = {name for name in EXPECTED if one.given[name] < ENOUGH}
        assert missing <= ({"std"} if trial.runs < RUNS_FOR_STD else set()), trial
        short = {name: one.coverage(name) for name, given in one.given.items() if given >= ENOUGH}
        assert {name: held for name, held in short.items() if held < 0.94} == {}, trial


@pytest.mark.guest
@pytest.mark.parametrize("trial", [Trial("skewed", 10), Trial("heavy", 20, n=100)], ids=lambda trial: trial.kind)
def test_intervals_hold_in_a_few_campaigns(trial: Trial) -> None:
    """A method that covers 80 %, as many do with so few runs, would fail: 120 of 150 lie six standard errors off."""
    one = tally(trial, 150)
    assert one.given["avg"] == 150
    assert {name: held for name, held in one.held.items() if held < 0.88 * one.given[name]} == {}


@pytest.mark.guest
def test_the_trial_can_fail() -> None:
    """Intervals that take the samples as independent hold far less often than they promise."""
    trial = Trial("skewed", 10)
    held = 0
    for number in range(60):
        samples, _ = trial.draw(np.random.default_rng([3, number]), "a", trial.runs)
        half = 1.96 * samples.std() / np.sqrt(samples.size)
        held += abs(samples.mean() - truth(trial)["a"]["avg"]) <= half
    assert held < 0.6 * 60


def _cell(one: Tally, names: list[str]) -> str:
    """The lowest coverage of these, and how often an end of that interval is open, in percent."""
    known = [name for name in names if one.given[name] >= ENOUGH]
    if not known:
        return "-"
    name = min(known, key=one.coverage)
    opened = 100 * one.opened[name] / one.given[name]
    return f"{100 * one.coverage(name):.1f}" + (f" ({opened:.0f})" if opened >= 1 else "")


def table(found: Mapping[Trial, Tally]) -> Iterator[str]:
    yield _line(["interval of", *map(_title, found)])
    yield "|---" * (len(found) + 1) + "|"
    names = list(dict.fromkeys(name for one in found.values() for name in one.given))
    if any(one.beside for one in found):
        names = [name for name in names if " of " in name]
    quantiles = sorted((name for name in names if name[1:].replace(".", "").isdigit()), key=fraction)
    rows = {name: [name] for name in [*quantiles, *names] if " of " not in name}
    for what, row in (
        ("difference", "differences, the lowest"),
        ("ratio", "ratios, the lowest"),
        ("lead", "lead of the score"),
    ):
        rows[row] = [name for name in names if name.startswith(f"{what} of ")]
    for row, of in rows.items():
        yield _line([row, *(_cell(one, of) for one in found.values())])


def _title(trial: Trial) -> str:
    return f"{trial.kind}, {trial.runs}{f' and {trial.beside}' if trial.beside else ''}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    for name, trials in (("coverage", TRIALS), ("unequal numbers", UNEQUAL)):
        put("verification/statistics.md", name, table(in_parallel(trials, int(sys.argv[1]))))

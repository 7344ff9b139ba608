# SPDX-License-Identifier: MIT
"""Runs and criteria made up for verdicts, and how they are judged."""

from collections.abc import Mapping, Sequence

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.verdict.model import Standing, Verdict
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Record
from support.analysis_records import RT_CONFIG, STOCK_CONFIG, maxima, wakeups

CONFIGS = {"rt": RT_CONFIG, "stock": STOCK_CONFIG}
RANGE = {
    "name": "range",
    "instrument": "cyclictest",
    "load": "hackbench",
    "statistic": "max-min",
    "weight": 1.0,
}


def judged(
    one: Mission,
    records: Sequence[Record],
    *,
    configs: Mapping[str, str | None] = CONFIGS,
    failures: Mapping[Group, str] | None = None,
) -> Verdict:
    (verdict,) = analyse(one, "demo", records, configs, failures).verdicts
    return verdict


def standing(verdict: Verdict, candidate: str) -> Standing:
    return next(one for one in verdict.standings if one.candidate == candidate)


RT = wakeups("rt", maxima(11_000, 15_000))
STOCK = wakeups("stock", maxima(150_000, 434_000))

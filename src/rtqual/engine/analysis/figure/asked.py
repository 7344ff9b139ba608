# SPDX-License-Identifier: MIT
"""What a mission asks for, and the runs and samples that a figure takes; nothing here looks at samples."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from rtqual.engine.mission import Criterion, Mission, Requirement

Asked: TypeAlias = "Requirement | Criterion"

USUAL = ("p50", "p99", "max")  # of samples, whatever is asked

LEVEL = 0.95
TAIL = (1 - LEVEL) / 2
RUNS_FOR_INTERVAL = 10  # fewer do not show how runs vary
RUNS_FOR_STD = 20  # its squares vary more: from 10 runs 92 to 94 %
RUNS_FOR_MEDIAN = 6  # the least for which [smallest, largest] holds the median with 95 %: 1 - 2 * 0.5**6
RUNS_TO_JUDGE = RUNS_FOR_MEDIAN
NONE_SEEN = -math.log(TAIL)  # where so many are expected, none may be drawn, with 2.5 %
AGAIN = 2  # each further look at a folder's runs has so many times less error than the one before
MOST_LOOKS = 30  # from then on as little as that: 1 less of it is no float any more, and their sum is nothing
# So many times the runs that would decide it now decide it at a further look, whose intervals are wider.
RUNS_AGAIN = (NormalDist().inv_cdf(1 - TAIL / AGAIN) / NormalDist().inv_cdf(1 - TAIL)) ** 2


def tail(looks: int) -> float:
    """What each end of an interval may miss, so that 95 % hold though a campaign may stop at any of so many looks.

    Bonferroni's correction: at every look the interval is one of 100 % - 5 % / looks, so all of them hold together.
    """
    return TAIL / looks


def fraction(quantile: str) -> Fraction:
    """'p99.9' -> 999/1000."""
    return Fraction(quantile.removeprefix("p")) / 100


QUANTILES: Mapping[str, Fraction] = {
    name: fraction(name) for name in ("p50", "p90", "p95", "p99", "p99.9", "p99.99", "p99.999")
}
# What an extreme of the samples enters; none has an honest interval (see why_no_interval in summary.py).
# The median does not see what fewer than half of the runs do, so beside it stands what nine of ten runs stay below.
UPPER = {"median run max": "upper run max", "median run max-min": "upper run max-min"}
UPPER_SHARE = Fraction(9, 10)
OF_RUNS = (*UPPER, *UPPER.values())
EXTREMES = frozenset({"min", "max", "max-min", "(max-min)/max"})


def samples_needed(statistic: str) -> int:
    """The least samples that let a statistic be given."""
    if statistic in ("p95-avg", "(p95-avg)/p95"):
        return samples_needed("p95")
    if statistic.startswith("p"):
        return math.ceil(1 / (1 - fraction(statistic)))
    return 2 if statistic == "std" else 1


def usual_cpus(runs: Iterable[tuple[int, int]]) -> int:
    """Of (CPUs, runs): the number of CPUs that most runs had, the smaller where they are as many."""
    total: Counter[int] = Counter()
    for cpus, of_these in runs:
        total[cpus] += of_these
    return min(total, key=lambda cpus: (-total[cpus], cpus), default=1)


def asked_of(missions: Iterable["Mission"]) -> list[Asked]:
    """All that the missions ask for."""
    asked: list[Asked] = []
    for mission in missions:
        asked += [*mission.requirements, *mission.criteria]
    return asked


def figure_name(asked: Asked) -> str:
    """The figure a requirement or criterion asks for, without its series."""
    return str(asked.statistic or asked.scalar)


def series_asked(asked: Asked, series: Sequence[str]) -> list[str]:
    """Those of an instrument's series that what is asked holds for: all, unless it names some."""
    return [each for each in series if not asked.series or fnmatchcase(each, asked.series)]


def named(asked: Asked) -> str:
    """With its series where it says one."""
    return f"{asked.series} {figure_name(asked)}" if asked.series else figure_name(asked)


def figure_of(series: Sequence[str], of: str, statistic: str) -> str:
    """As summaries name a statistic of one of their series: the first one's stand without its name."""
    return statistic if of == series[0] else f"{of} {statistic}"


def ranked_by(asked: Asked, series: Sequence[str]) -> str:
    """The one figure that candidates are ranked and compared by, as a summary with these series names it."""
    of = series_asked(asked, series)[:1] if asked.series else []
    return figure_of(series, of[0], figure_name(asked)) if of else figure_name(asked)

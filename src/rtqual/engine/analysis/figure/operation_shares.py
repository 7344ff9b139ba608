# SPDX-License-Identifier: MIT
"""How the figures of a system's operations compare: shares of one in another, and agreement in order."""

from collections.abc import Mapping
from statistics import median

from rtqual.engine.analysis.figure.figures import why_few
from rtqual.engine.analysis.figure.intervals import Sure, ratio
from rtqual.engine.analysis.figure.model import Figure, Interval

_FEWEST_TO_ORDER = 3


def share(part: Figure, whole: Figure) -> Figure | None:
    """What share of `whole` a `part` is, in %; None where either is not above zero. They are taken as independent."""
    if whole.value <= 0 or part.value <= 0:
        return None
    interval, why = None, part.why_no_interval or whole.why_no_interval or why_few(part.runs)
    if part.interval and whole.interval:
        found = ratio(Sure(part.value, part.interval), Sure(whole.value, whole.interval))
        interval, why = Interval(100 * found.low, 100 * found.high, found.method), ""
    value = 100 * part.value / whole.value
    return Figure(value, "%", min(part.n, whole.n), min(part.runs, whole.runs), interval, why)


def rank_correlation(a: Mapping[str, float], b: Mapping[str, float]) -> tuple[float, int] | None:
    """Spearman's, over the operations that both have, and their number; None of too few, or where all are alike."""
    from scipy import stats  # noqa: PLC0415 - slow to load

    both = [name for name in a if name in b]
    if len(both) < _FEWEST_TO_ORDER or len({a[name] for name in both}) < 2 or len({b[name] for name in both}) < 2:
        return None
    found = stats.spearmanr([a[name] for name in both], [b[name] for name in both])
    return float(found.statistic), len(both)


def median_ratio(a: Mapping[str, float], b: Mapping[str, float]) -> float | None:
    """Of a / b over the operations that both have."""
    ratios = [a[name] / b[name] for name in a if b.get(name, 0) > 0]
    return median(ratios) if ratios else None

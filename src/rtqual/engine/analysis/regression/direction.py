# SPDX-License-Identifier: MIT
"""Which way a figure is better: by the mission, else by its name and unit; None where these do not tell."""

from collections.abc import Mapping
from typing import Final

from rtqual.base.units import DURATIONS_NS, SIZES_B
from rtqual.engine.analysis.figure.asked import QUANTILES, figure_name
from rtqual.engine.analysis.figure.statistics import STATISTICS
from rtqual.engine.mission import Better, Mission

# Figures that get worse only where some sample does. Spreads are left out: a faster best case alone
# widens max - min, and fewer late samples lower the average and so raise p95 - avg. They are judged where a mission
# names them.
JUDGED = ("avg", "max", *QUANTILES)
_SPREADS = ("std", "max-min", "p95-avg", "(max-min)/max", "(p95-avg)/p95", "median run max-min")
# Scalars whose unit does not tell the direction, or tells the wrong one.
_BY_NAME: Final = {
    "skipped_periods": Better.LOWER,  # wake-ups that never took place
    "ram_total": Better.HIGHER,  # what the kernel leaves of the RAM
}

Asked = Mapping[tuple[str, str, str], Better]  # (instrument, load, figure) -> which way the mission wants it


def asked_of(mission: Mission | None) -> dict[tuple[str, str, str], Better]:
    """The figures that a mission's requirements and criteria name."""
    if mission is None:
        return {}
    criteria = {
        (criterion.instrument, criterion.load, figure_name(criterion)): criterion.better
        for criterion in mission.criteria
    }
    return criteria | {
        (requirement.instrument, requirement.load, figure_name(requirement)): Better.LOWER
        if requirement.at_most
        else Better.HIGHER
        for requirement in mission.requirements
    }


def statistic_of(figure: str) -> str:
    """The statistic in a figure's name, which a series other than the first precedes: 'thread 2 p99' -> 'p99'."""
    fitting = [name for name in STATISTICS if figure == name or figure.endswith(f" {name}")]
    return max(fitting, key=len, default="")


def better(figure: str, unit: str) -> Better | None:
    if figure in _BY_NAME:
        return _BY_NAME[figure]
    if statistic_of(figure) in _SPREADS or unit in DURATIONS_NS or unit in SIZES_B:
        return Better.LOWER
    return Better.HIGHER if unit.endswith("/s") else None

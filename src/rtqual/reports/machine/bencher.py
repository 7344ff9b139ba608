# SPDX-License-Identifier: MIT
"""Bencher Metric Format (bencher.dev/docs/reference/bencher-metric-format): benchmark -> measure -> value and bounds.

A cell is a benchmark, a figure a measure. Bencher asks for a measure's unit apart from its name, so the name has it.
Figures of runs that are refused are left out: a history must not rest on them.
"""

import hashlib
import json
import math

from rtqual.engine.analysis.figure.model import Figure
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.regression.origin import cell_name
from rtqual.engine.mission import Mission

_LONGEST = 64  # characters of a measure's name


def to_bencher(mission: Mission, evidence: Evidence) -> str:
    benchmarks = {
        f"{mission.mission.name}: {cell_name(summary.group)}": {
            _measure(name, figure): _metric(figure)
            for name, figure in summary.figures.items()
            if math.isfinite(figure.value)
        }
        for summary in evidence.summaries
        if not summary.problems
    }
    return json.dumps(benchmarks, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _measure(name: str, figure: Figure) -> str:
    text = name if figure.unit == "1" else f"{name} ({figure.unit})"
    if len(text) <= _LONGEST:
        return text
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    return f"{text[: _LONGEST - len(mark) - 1]}-{mark}"


def _metric(figure: Figure) -> dict[str, float]:
    """A bound that the data do not give is left out. A value in an overflow is a lower bound of the true value."""
    ends = {"lower_value": -math.inf, "upper_value": math.inf}
    if figure.interval:
        ends = {"lower_value": figure.interval.low, "upper_value": figure.interval.high}
    elif figure.at_least:
        ends["lower_value"] = figure.value
    return {"value": figure.value, **{name: end for name, end in ends.items() if math.isfinite(end)}}

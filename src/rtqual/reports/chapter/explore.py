# SPDX-License-Identifier: MIT
"""The samples behind the plots, from which a page with scripts draws its own (page/explorer/).

A sparse histogram of every group, exact where it is small enough for a page, else thinned by a rule that the page
states. Percentiles and intervals are those of the analysis: the page computes none.
"""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from rtqual.base.units import STEPS
from rtqual.engine.analysis.figure.model import Distribution, Figure, Summary
from rtqual.protocols.record.schema import Int64Array, SeriesKind
from rtqual.reports.chapter.distributions import panels_of
from rtqual.reports.draw import plots
from rtqual.reports.material import Material, Place, timing_mark, timing_notes
from rtqual.reports.page.document import Explorer
from rtqual.reports.page.text import clean, load_text, prose

MOST = 2_000  # distinct values of one group
MOST_OF_A_PAGE = 100_000  # of all groups: about half a megabyte
FEWEST = 200  # of one group, however many groups there are
_Json = dict[str, object]
_PERCENTILE = re.compile(r"p\d+(\.\d+)?")


def explorer(material: Material) -> Iterator[Explorer]:
    """One, or none where there is nothing to plot."""
    shown = [(place, panels) for place in material.places() if (panels := panels_of(material, place))]
    if not shown:
        return
    groups = sum(len(panel.distributions) for _, panels in shown for panel in panels.values())
    most = max(FEWEST, min(MOST, MOST_OF_A_PAGE // groups))
    data = {
        "steps": STEPS,
        "most": most,
        "candidates": [
            {
                "name": clean(name),
                "title": clean(material.title(name)),
                "colour": material.palette.colour(name),
                "dashes": material.palette.pattern(name),
            }
            for name in material.candidates
        ],
        "places": [_place(material, place, panels, most) for place, panels in shown],
    }
    yield Explorer(json.dumps(data, allow_nan=False, separators=(",", ":")))


def _place(material: Material, place: Place, panels: Mapping[str, plots.Panel], most: int) -> _Json:
    first = next(iter(panels.values()))
    summaries = [s for load in panels for s in place.under(load)]
    return {
        "title": clean(place.title),
        "instrument": clean(place.instrument),
        "quantity": first.quantity,
        "unit": first.unit,
        "ends": first.ends,
        "logarithmic": first.logarithmic,
        "timing": [[note.mark, note.text] for note in timing_notes(timing_mark(summaries))],
        "loads": [_load(material, place.under(load), load, panel, most) for load, panel in panels.items()],
    }


def _load(material: Material, summaries: Sequence[Summary], load: str, panel: plots.Panel, most: int) -> _Json:
    drawn = [s for s in summaries if s.group.candidate in panel.distributions]
    return {
        "title": clean(load_text(load)),
        "mark": panel.mark,
        "limits": [{"name": prose(limit.name), "value": limit.value, "upper": limit.upper} for limit in panel.limits],
        "bins": panel.bins,
        "grain": panel.grain,
        "groups": [_group(material, s, panel.distributions[s.group.candidate], panel.limits, most) for s in drawn],
        "notes": [prose(f"{s.group.candidate}: no verdict rests on this: {p}") for s in drawn for p in s.problems],
    }


def _group(
    material: Material, of: Summary, distribution: Distribution, limits: Sequence[plots.Limit], most: int
) -> _Json:
    values, counts, merged = thinned(distribution, most)
    explained = sorted(material.numbering.explained.items(), key=lambda item: -item[0][1])
    return {
        "candidate": material.candidates.index(of.group.candidate),
        "samples": of.samples,
        "runs": of.runs,
        "gaps": np.diff(values, prepend=0).tolist(),  # from one value to the next: shorter to write
        "counts": counts.tolist(),
        "overflow": distribution.overflow,
        "overflow_from": distribution.overflow_from,
        "broken": plots.broken(distribution, limits, 100),
        "distinct": int(np.unique(distribution.values).size),
        "merged": merged,
        "binned": distribution.kind == SeriesKind.BINNED,
        "explained": [[value, ident] for (group, value), ident in explained if group == of.group],
        "percentiles": {name: _figure(f) for name, f in of.figures.items() if _PERCENTILE.fullmatch(name)},
    }


def thinned(distribution: Distribution, most: int) -> tuple[Int64Array, Int64Array, int]:
    """Rising values, at most so many, their counts, and how many neighbours were merged: 1 where all are kept.

    The larger half stays as it is, for it holds the tail. Below, neighbours are merged at the largest of them, so
    that the share of samples above a value that is shown is the true one. The page states this rule.
    """
    values, where = np.unique(distribution.values, return_inverse=True)
    counts = np.zeros(values.size, np.int64)
    np.add.at(counts, where, distribution.counts)
    if values.size <= most:
        return values, counts, 1
    kept = most // 2
    rest = values.size - kept
    merged = math.ceil(rest / (most - kept))
    starts = np.append(np.arange(0, rest, merged), np.arange(rest, values.size))
    ends = np.append(starts[1:], values.size) - 1
    return values[ends], np.add.reduceat(counts, starts), merged


def _figure(figure: Figure) -> _Json:
    """An end of an interval that the data leave open is null."""
    between = figure.interval
    return {
        "value": figure.value,
        "n": figure.n,
        "at_least": figure.at_least,
        "interval": between and [_finite(between.low), _finite(between.high)],
        "how": prose(between.method if between else figure.why_no_interval),
    }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

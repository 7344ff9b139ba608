# SPDX-License-Identifier: MIT
"""The plots of shift functions: what they show, and when there is none."""

import math
from collections.abc import Sequence
from dataclasses import replace
from io import StringIO
from typing import cast
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console

from rtqual.engine.analysis.difference.model import Relation, ShiftFunction
from rtqual.engine.analysis.difference.statement import stated
from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.model import Figure, Group, Interval
from rtqual.face.terminal.comparison import print_comparisons
from rtqual.protocols.record.schema import Record, Series
from rtqual.reports.chapter.comparisons import comparisons
from rtqual.reports.draw.canvas import Palette
from rtqual.reports.draw.plots_shift import axis_of, shift_plot
from rtqual.reports.material import Material, gather
from rtqual.reports.page.document import Plot, Plots, Table, TableCell
from support.analysis_records import WAKE_UP, mission, record
from support.report_material import SVG


def records(runs: int, n: int = 400) -> list[Record]:
    """The upper tenth of stock's samples lies 20 us further out."""
    rng = np.random.default_rng(1)
    found = []
    for candidate, late in (("rt", 0), ("stock", 20_000)):
        for seed in range(runs):
            samples = 10_000 + rng.normal(0, 500, n)
            samples += late * (samples > 10_640)
            found.append(record(Series.raw(samples.astype(np.int64), name="l"), candidate=candidate, seed=seed))
    return found


def material(runs: int, *, n: int = 400, **requirement: object) -> Material:
    asked = mission(requirements=[{**WAKE_UP, **requirement}])
    found = records(runs, n)
    return gather(asked, analyse(asked, "demo", found, {}), [one.manifest for one in found], {})


def plots(of: Material) -> list[Plot]:
    return [plot for block in comparisons(of) if isinstance(block, Plots) for plot in block.plots]


def test_a_note_on_what_is_decided_is_no_reason_against_it() -> None:
    """It has a colon too, behind which a reason stands where nothing is decided."""
    of = material(10)
    one = next(c for c in of.evidence.comparisons if c.relation != Relation.UNDECIDED)
    said = stated(one.a.candidate, one.b.candidate, one.difference, one.margin, "stock: 9 of 10 runs")
    noted = replace(one, note="stock: 9 of 10 runs", **said._asdict())
    (table,) = (
        block
        for block in comparisons(replace(of, evidence=replace(of.evidence, comparisons=(noted,), shifts=())))
        if isinstance(block, Table)
    )
    assert table.rows[0][-1] == TableCell(said.statement)
    shown = Console(file=StringIO(), width=200)
    print_comparisons(shown, [noted])
    assert "undecided" not in cast(StringIO, shown.file).getvalue()


def texts(svg: str) -> list[str]:
    return ["".join(one.itertext()).strip() for one in ElementTree.fromstring(svg).iter(f"{SVG}text")]  # noqa: S314 - ours


def test_the_plot_stands_beside_the_comparisons_of_the_best() -> None:
    (plot,) = plots(material(10, margin="2 us"))
    shown = texts(plot.svg)
    assert shown[:2] == ["p5", "p10"]
    assert {"stock minus rt", "does not matter", "Difference (µs)", "Quantile of the samples ◇"} <= {*shown}
    assert plot.caption.startswith("Difference from rt at each quantile, cyclictest under hackbench, virtual board")
    assert "stock = rt up to p75" in plot.caption
    assert "stock > rt from p95 to p99" in plot.caption
    assert "stock minus rt: p5 " in plot.alt


def test_a_quantile_without_an_interval_is_left_out() -> None:
    """p99.9 of 10 x 150 samples is open at both ends of the difference."""
    (plot,) = plots(material(10, margin="2 us", n=150))
    assert "p99" in texts(plot.svg)
    assert "p99.9" not in texts(plot.svg)


def test_equal_evidence_gives_equal_bytes() -> None:
    assert plots(material(10)) == plots(material(10))


def test_no_interval_no_plot() -> None:
    assert plots(material(9)) == []


def shift(points: Sequence[tuple[float, float, float]], margin: float | None = None) -> ShiftFunction:
    names = ("p5", "p50", "p90", "p95", "p99")
    differences = {
        name: Figure(value, "ns", 100, 10, Interval(low, high, "test"))
        for name, (value, low, high) in zip(names, points, strict=False)
    }
    margins = {} if margin is None else dict.fromkeys(differences, margin)
    a, b = (Group("cyclictest", "none", "virtual", 1, name) for name in ("a", "b"))
    return ShiftFunction(a, b, "ns", differences, margins, "a < b")


def test_the_axis_shows_what_is_finite_and_zero() -> None:
    axis = axis_of([shift([(100, 50, math.inf), (120, -math.inf, 150)])])
    assert axis.linear is None
    assert axis.low <= 0
    assert 150 < axis.high < 200


def test_small_and_large_differences_are_both_seen() -> None:
    axis = axis_of([shift([(3, 1, 5), (-20_000, -25_000, -15_000)])])
    assert axis.linear == 10
    ticks = axis.ticks(1_000)
    assert 0 in ticks
    assert -10_000 in ticks
    assert len(ticks) <= 8
    assert all(axis.low <= tick <= axis.high for tick in ticks)


@pytest.mark.parametrize(
    "points",
    [
        [(0, 0, 0)],
        [(0, 0, 0), (0, -1, 1)],
        [(1e12, 0, 2e12), (1, 0, math.inf)],
        [(-1, -math.inf, 2), (5, -3, math.inf)],
        [(0.25, 0.1, 0.5)],
    ],
)
@pytest.mark.parametrize("margin", [None, 0.5, 1e9])
def test_any_difference_can_be_drawn(points: list[tuple[float, float, float]], margin: float | None) -> None:
    svg = shift_plot([shift(points, margin)], Palette(("a", "b")), "f1", "what it shows", "")
    assert "p5" in texts(svg)
    assert "nan" not in svg

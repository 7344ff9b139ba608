# SPDX-License-Identifier: MIT
"""The report's plots: axes, units, words, limits, colours; and that no sample is lost on the way into them."""

import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from rtqual.engine.analysis.figure.model import Distribution
from rtqual.protocols.record.schema import SeriesKind
from rtqual.reports.draw import plots
from rtqual.reports.draw.canvas import Palette
from support.report_material import SVG, Page, evidence, mission, records
from support.written_report import write_report

WITHOUT_UNIT = (
    "Samples per bin",
    "Share of samples above",
    "Correlation",
    "Shape",
    "max-min",
    "(max-min)",
    "(p95-avg)",
)


def test_every_plot_names_its_axes_with_units_and_has_words_for_those_who_do_not_see_it(
    written: Path,
) -> None:
    drawn = sorted((written / "plots").iterdir())
    for path in drawn:
        root = ElementTree.parse(path).getroot()  # noqa: S314 - written by this test
        assert root.get("role") == "img"
        assert len(root.get("aria-label", "")) > 40
        axes = [
            group for group in root.iter(f"{SVG}g") if re.search(r"-(matplotlib\.axis|supylabel)", group.get("id", ""))
        ]
        labels = [text.text or "" for text in root.iter(f"{SVG}text")]
        named = [label for label in labels if re.search(r" \((ns|µs|ms|s)\)( [◇†])?$", label)]
        named += [label for label in labels if label.startswith(WITHOUT_UNIT)]
        assert axes
        assert len(named) >= 1, (path.name, labels)
        if "Stability" not in root.get("aria-label", ""):
            assert len(named) == 2, (path.name, named)


def test_figures_in_instruction_time_say_so_in_plots_and_tables(written: Path) -> None:
    for path in (written / "plots").iterdir():
        svg = path.read_text()
        virtual = "virtual board" in svg
        assert ("◇" in svg) == virtual, path.name
    page = Page((written / "report.html").read_text())
    assert "Counts executed instructions, not caches or memory contention" in page.text
    assert "not met ◇" in page.text


def test_limit_is_drawn_where_it_applies_and_only_there(written: Path) -> None:
    html = (written / "report.html").read_text()
    labels = re.findall(r'aria-label="(Histogram[^"]*)"(.*?)</svg>', html, re.DOTALL)
    drawn = {"hackbench, virtual" in label: "max at most 100 µs" in svg for label, svg in labels if "virtual" in label}
    assert drawn == {True: True, False: False}


def test_the_verdict_shows_the_required_figure_and_how_many_break_its_limit(written: Path) -> None:
    html = (written / "report.html").read_text()
    box = html[html.index('<section class="verdict') : html.index("<nav")]
    assert box.count("<svg ") == 2  # one a board
    assert "limit: max at most 100 µs" in box
    assert re.search(r">0 of 30,000 samples above the limit<", box)
    assert re.search(r">[1-9][0-9,]* of 30,000 samples above the limit<", box)


@pytest.mark.guest
def test_a_handful_of_samples_is_not_plotted(tmp_path: Path) -> None:
    few = Distribution(np.array([74, 89]), np.array([2, 1]), "ns", SeriesKind.RAW)
    found = evidence()
    bad = replace(found, summaries=tuple(replace(s, distribution=few, samples=3) for s in found.summaries))
    write_report(tmp_path, mission(), bad, records(bad), {})
    assert "There are too few samples to plot" in (tmp_path / "report.md").read_text()
    assert "Histogram" not in (tmp_path / "report.md").read_text()


def test_candidates_keep_their_colour(written: Path) -> None:
    colour = Palette(("rt", "stock", "stock-full", "here")).colour("stock-full")
    html = (written / "report.html").read_text()
    assert f"background:{colour}" in html
    assert sum(colour in path.read_text() for path in (written / "plots").iterdir()) >= 6


def test_histogram_and_ccdf_hold_every_sample() -> None:
    one = Distribution(np.array([0, 10, 20, 100_000]), np.array([5, 1, 1, 1]), "ns", SeriesKind.HISTOGRAM, 2, 500_000)
    panel = plots.Panel({"a": one}, "Latency", "")
    edges = plots.bin_edges(panel)
    assert plots.binned(one, edges).sum() == 8
    x, y = plots.survival(one)
    assert x[-1] == 500_000
    assert y[0] == 1
    assert y[-1] == pytest.approx(0.2)


def test_thinned_ccdf_keeps_the_ends_and_never_rises() -> None:
    values = np.unique(np.random.default_rng(1).integers(1, 10**7, 50_000))
    x, y = plots.survival(Distribution(values, np.ones_like(values), "ns", SeriesKind.RAW))
    assert len(x) <= plots.POINTS + 2
    assert (x[0], x[-1]) == (values[0], values[-1])
    assert (np.diff(y) <= 0).all()
    exact = 1 - np.searchsorted(values, x, side="right") / values.size
    assert np.abs(y[1:-1] - exact[1:-1]).max() < 1e-9

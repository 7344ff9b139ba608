# SPDX-License-Identifier: MIT
"""Numbers, commands and remarks as text."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from markdown_it import MarkdownIt

from rtqual.engine.analysis.figure.model import Distribution, Figure, Interval
from rtqual.protocols.record.schema import SeriesKind
from rtqual.reports.draw import plots
from rtqual.reports.page.document import Column, Document, Notes, ReportChapter, Table, TableCell
from rtqual.reports.page.render import _fence, to_pdf
from rtqual.reports.page.text import clean, figure_interval, figure_value, number, quantity


def test_what_breaks_a_limit_is_counted_only_where_it_is_known() -> None:
    one = Distribution(np.array([10, 99, 100, 101, 300]), np.array([5, 1, 1, 2, 1]), "ns", SeriesKind.HISTOGRAM, 4, 500)
    upper, lower = plots.Limit("max at most", 100), plots.Limit("min at least", 99, upper=False)
    assert plots.broken(one, [upper], 44) == "7 of 14 samples above the limit"
    assert plots.broken(one, [upper], 20) == "7 of 14 above"
    assert plots.broken(one, [upper], 3) == ""
    assert plots.broken(one, [lower], 44) == "5 of 14 samples below the limit"
    assert plots.broken(one, [upper, lower], 44) == ""
    assert plots.broken(one, [plots.Limit("max at most", 600)], 44) == ""  # the overflow may lie below it


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (12_345, "ns", "12.35\u00a0µs"), (0, "ns", "0\u00a0ns"), (-1500, "ns", "-1.5\u00a0µs"),
        (8_589_934, "B", "8.192\u00a0MiB"), (0.25, "1", "0.25"), (1234567, "1/s", "1,234,567\u00a01/s"),
    ],
)  # fmt: skip
def test_quantities(value: float, unit: str, text: str) -> None:
    assert quantity(value, unit) == text


def test_numbers_never_lose_their_size() -> None:
    assert number(float("inf")) == "∞"
    assert number(0.00001234) == "1.23e-05"
    assert number(99_999.6) == "100,000"


def test_interval_shares_the_unit_of_its_figure() -> None:
    one = Figure(1_200_000, "ns", 10, 2, Interval(900_000, float("inf"), "m"), at_least=True)
    assert (figure_value(one), figure_interval(one)) == ("≥\u00a01.2\u00a0ms", "0.9 to ∞")


def test_a_command_keeps_its_lines_and_cannot_leave_its_fence() -> None:
    command = "sh -c 'a\n```\n\tb'"
    tokens = MarkdownIt().parse(str(_fence(clean(command))))
    assert [(token.type, token.content) for token in tokens] == [("fence", command + "\n")]


def test_one_remark_has_one_mark() -> None:
    notes = Notes()
    assert [notes.mark("x"), notes.mark("y"), notes.mark("x"), notes.mark("")] == ["a", "b", "a", ""]


@pytest.mark.guest  # what writes the PDF takes two seconds to load
def test_words_stay_whole_in_a_table_of_many_columns_on_paper(tmp_path: Path) -> None:
    titles = ["Operation", *(f"Xenomai, BeagleBone Black, {space} space" for space in ("user", "kernel") * 4), "other"]
    rows = tuple(tuple(map(TableCell, (name, *["28.58 µs"] * 9))) for name in ("semaphore", "message queue"))
    columns = tuple(Column(title, numeric=n > 0) for n, title in enumerate(titles))
    chapter = ReportChapter("1", "Figures", (Table(1, "wide", columns, rows),))
    pdf = tmp_path / "report.pdf"
    pdf.write_bytes(to_pdf(Document("T", "P", (), (), None, (), (chapter,), ())))
    words = subprocess.run(["pdftotext", pdf, "-"], capture_output=True, text=True, check=True).stdout.split()
    assert words.count("BeagleBone") == 8
    assert {"Operation", "semaphore", "Xenomai,"} <= set(words)

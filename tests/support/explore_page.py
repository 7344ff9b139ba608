# SPDX-License-Identifier: MIT
"""The evidence that the page to explore shows in the tests, and its tables as the browser holds them."""

from dataclasses import replace

import numpy as np

from rtqual.engine.analysis.model import Evidence
from rtqual.reports.draw.canvas import Palette
from support.browser import Browser
from support.report_material import evidence, figure

LADDER = ("p50", "p90", "p99", "p99.9", "p99.99", "p99.999")
COLOURS = Palette(("rt", "stock", "stock-full", "here"))


def found(*loads: str) -> Evidence:
    """As of a report, with the whole ladder of percentiles."""
    base = evidence(loads=loads or ("none", "hackbench"))
    laddered = []
    for s in base.summaries:
        if s.distribution is None:
            laddered.append(s)
            continue
        values = np.repeat(s.distribution.values, s.distribution.counts)
        ladder = {p: figure(np.quantile(values, float(p[1:]) / 100), s.samples) for p in LADDER}
        laddered.append(replace(s, figures={**s.figures, **ladder}))
    return replace(base, summaries=tuple(laddered))


def open_table(reader: Browser, panel: int) -> list[list[str]]:
    reader.run("document.querySelectorAll('.panel details')[arguments[0]].open = true", panel)
    # Opening tells the page in a task of its own.
    rows = reader.driver.execute_async_script(
        "const [panel, done] = arguments; setTimeout(() => done([...document.querySelectorAll('.panel')[panel]"
        ".querySelectorAll('tbody tr')].map((row) => [...row.cells].map((cell) => cell.dataset.value ?? '-'))))",
        panel,
    )
    assert rows
    return rows

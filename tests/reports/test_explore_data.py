# SPDX-License-Identifier: MIT
"""What the page holds, without a browser: sort keys, its one script, thinned samples."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.figure.model import Distribution
from rtqual.engine.analysis.model import Evidence
from rtqual.protocols.record.schema import SeriesKind
from rtqual.reports.chapter import explore
from rtqual.reports.chapter.explore import thinned
from rtqual.reports.material import Material
from rtqual.reports.page.document import Column, Table, TableCell
from rtqual.reports.page.explorer import scripts as explore_script
from rtqual.reports.page.explorer.sort import key_of, keys_of
from rtqual.reports.page.text import quantity


@given(st.integers(-(10**12), 10**12), st.sampled_from(["ns", "B", "1", "1/s"]))
def test_a_figure_is_read_back_from_its_text(value: int, unit: str) -> None:
    key = key_of(quantity(value, unit))
    assert key is not None
    assert key.unit == ("" if unit == "1" else unit)
    assert key.value == pytest.approx(value, rel=6e-4)


def test_what_is_not_a_figure_has_no_value() -> None:
    texts = ("-", "✓ met", "rt", "2 of 30", "12 µs to 13 µs", "1.2.3", "")
    assert [key_of(text) for text in texts] == [None] * len(texts)
    assert [key_of(t).written for t in ("≥\u00a0400\u00a0µs", "∞", "-1.5\u00a0ms", "6\u00a0h", "1.23e-05")] == [
        "400000", "Infinity", "-1500000", "21600000000000", "1.23e-05",
    ]  # fmt: skip
    table = Table(1, "", (Column("a", False), Column("b")), ((TableCell("12"), TableCell("12")),))
    assert [key is None for key in keys_of(table)[0]] == [True, False]


def test_another_script_than_the_known_one_is_not_put_into_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_script, "FILES", dict.fromkeys(explore_script.FILES, "0" * 64))
    with pytest.raises(BadInput, match=r"^[^\n]*is not the file of uPlot[^\n]*pip install[^\n]*$"):
        explore_script.scripts.__wrapped__(explorer=True)
    monkeypatch.setattr(explore_script, "PACKAGE", "no-such-package")
    with pytest.raises(BadInput, match=r"^[^\n]*need uPlot[^\n]*pip install[^\n]*$"):
        explore_script.scripts.__wrapped__(explorer=True)
    assert len(explore_script.scripts(explorer=False).scripts) == 1


# The embedded samples


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-50, 3000), min_size=1, max_size=400), st.integers(2, 50))
def test_thinning_loses_no_sample_and_keeps_the_tail(samples: list[int], most: int) -> None:
    values, counts = np.unique(np.array(samples), return_counts=True)
    thin, kept, merged = thinned(Distribution(values, counts, "ns", SeriesKind.HISTOGRAM), most)
    assert len(thin) <= max(most, 1)
    assert kept.sum() == len(samples)
    assert (merged > 1) == (len(values) > most)
    assert (np.diff(thin) > 0).all()
    tail = most // 2
    assert thin[-tail:].tolist() == values[-tail:].tolist()[-len(thin):]  # fmt: skip
    above = [(values > v) @ counts for v in thin]
    assert above == [int(kept[thin > v].sum()) for v in thin]


def test_many_groups_share_the_page(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore, "MOST_OF_A_PAGE", 2_000)
    (block,) = explore.explorer(material)
    data = json.loads(block.data)
    sizes = [len(g["counts"]) for place in data["places"] for load in place["loads"] for g in load["groups"]]
    assert data["most"] == 2_000 // len(sizes) > explore.FEWEST
    assert max(sizes) == data["most"]
    assert list(explore.explorer(replace(material, evidence=Evidence((), (), ())))) == []

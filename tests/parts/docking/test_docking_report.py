# SPDX-License-Identifier: MIT
"""The report's section of docking in a closed loop."""

from xml.etree import ElementTree

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.protocols.record.schema import Record, Scalar
from rtqual.reports.material import gather
from rtqual.reports.page.document import Block, Plots, Table
from rtqual_docking.chapter_docking import docking
from support.analysis_records import mission, record
from support.instrument_outputs import captured_text, read_text


def flown(name: str, candidate: str, seed: int, off_mm: float) -> Record:
    read = read_text(name, captured_text(name))
    scalars = {**read.scalars, "lateral_last": Scalar(value=off_mm, unit="mm")}
    return record(read.series, instrument=name, load="hackbench", candidate=candidate, seed=seed, scalars=scalars)


def section(records: list[Record]) -> list[Block]:
    asked = mission(requirements=[])
    return list(docking(gather(asked, analyse(asked, "demo", records, {}), [one.manifest for one in records], {})))


def test_accuracy_stands_against_latency_candidate_against_candidate() -> None:
    records = [
        flown(name, candidate, seed, off + seed / 100)
        for candidate, far in (("rt", 0.5), ("stock", 0.9))
        for name, off in (("docking", far), ("docking-100ms", 3 * far))
        for seed in range(1, 11)
    ]
    blocks = section(records)
    (table,) = [block for block in blocks if isinstance(block, Table)]
    rows = [[cell.text for cell in cells] for cells in table.rows]
    assert rows[0] == ["poses as they come: runs", "10", "10"]
    off = [row[1:] for row in rows if row[0].startswith("off the axis in the last")]
    assert off == [["0.555\u00a0mm", "0.955\u00a0mm"], ["1.555\u00a0mm", "2.755\u00a0mm"]]
    (plots,) = [block for block in blocks if isinstance(block, Plots)]
    assert "stock: 0.955" in plots.plots[0].alt
    ElementTree.fromstring(plots.plots[0].svg)  # noqa: S314 - our own


def test_one_delay_is_a_table_and_no_plot_and_nothing_flown_is_nothing() -> None:
    _, *shown = section([flown("docking", "rt", 1, 0.5)])
    assert [type(block) for block in shown] == [Table]
    assert section([record([], instrument="footprint")]) == []


def test_what_was_never_off_the_axis_is_drawn_and_what_no_record_tells_is_not(
    recwarn: pytest.WarningsRecorder,
) -> None:
    for off_mm, drawn in ((0.0, [Table, Plots]), (1.7e308, [Table])):  # the last is no figure
        _, *shown = section(
            [flown(name, "rt", n, off_mm) for name in ("docking", "docking-20ms") for n in range(1, 11)]
        )
        assert [type(block) for block in shown] == drawn
    assert not recwarn

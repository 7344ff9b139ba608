# SPDX-License-Identifier: MIT
"""The first page holds what decides, however many candidates and requirements there are."""

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.protocols.record.schema import About, Record
from rtqual.reports.material import gather
from rtqual.reports.page.document import Beside, Document, Table
from rtqual.reports.page.render import to_markdown
from rtqual.reports.view import build
from support.analysis_records import RT_CONFIG, WAKE_UP, mission, wakeups

LONG = "debian-rt-tailored-to-the-mission"


def made(names: list[str], requirements: int) -> Document:
    asked = [{**WAKE_UP, "name": f"limit {number}", "at_most": f"{30 + number} us"} for number in range(requirements)]
    one = mission(names, requirements=asked)
    records = [run for k, name in enumerate(names) for run in wakeups(name, [20_000 + 15_000 * k] * 10, n=100)]
    return build(gather(one, analyse(one, "demo", records, {}), [run.manifest for run in records], {}))


def table_of(document: Document) -> tuple[Table, bool]:
    assert document.decision
    for block in document.decision.blocks:
        if isinstance(block, Beside):
            return block.tables[0], True
        if isinstance(block, Table):
            return block, False
    raise AssertionError("no table")


@pytest.mark.parametrize(
    ("candidates", "long", "beside"), [(1, False, True), (2, False, True), (2, True, False), (3, False, False)]
)
def test_a_plot_stands_beside_a_table_that_leaves_it_room(candidates: int, long: bool, beside: bool) -> None:
    names = [f"{LONG if long else 'rt'}-{number}" for number in range(candidates)]
    assert table_of(made(names, 2))[1] == beside


def test_of_many_requirements_those_that_are_not_met_come_first_and_the_rest_is_counted() -> None:
    document = made(["a", "b", "c"], 30)
    table, _ = table_of(document)
    broken = [row[0].text for row in table.rows if any("not met" in cell.text for cell in row[1:])]
    assert len(table.rows) <= 10 and len(broken) == 9
    assert "21 more requirements" in table.caption


def test_a_headline_of_eight_candidates_tells_some_and_counts_the_rest() -> None:
    document = made([f"{LONG}-{number}" for number in range(8)], 3)
    assert document.decision
    assert document.decision.headline.count(LONG) <= 5
    assert "more candidates" in document.decision.headline


def with_load(one: Record, name: str, argv: list[str]) -> Record:
    its = one.inputs.model_copy(update={"load": name, "job": {"loads": [{"argv": argv, "fifo": 50}]}})
    told = {"inputs": its, "about": About(load="A camera")}
    return Record(one.manifest.model_copy(update=told), one.series)


def test_a_load_of_the_missions_own_is_told_with_its_commands() -> None:
    """A reader of the paper alone could not know what disturbed."""
    asked = mission(["rt"], requirements=[{**WAKE_UP, "load": "frames"}], needs=["usb"])
    asked = asked.model_copy(update={"loads": {"frames": {"command": ["sh"]}}})
    taken = [with_load(one, "frames", ["sh", "-c", "while :; do frame; done"]) for one in wakeups("rt", [20_000] * 10)]
    found = analyse(asked, "demo", taken, {"rt": RT_CONFIG})
    document = build(gather(asked, found, [one.manifest for one in taken], {}))
    first, text = to_markdown(document).split("## Verdict")
    assert "The load frames is the mission's own: A camera" in first
    assert "1 need: read from each kernel's configuration" in first
    assert "A camera" in text and "sh -c 'while :; do frame; done' (FIFO 50)" in text.replace("\\", "")


def test_that_all_were_measured_alike_is_said_only_where_it_holds() -> None:
    asked = mission(["a", "b"], requirements=[WAKE_UP], accept_virtual=False)
    for runs, alike in ((10, True), (8, False)):
        taken = [*wakeups("a", [20_000] * 10), *wakeups("b", [20_000] * runs)]
        document = build(gather(asked, analyse(asked, "demo", taken, {}), [one.manifest for one in taken], {}))
        assert ("by the same programs with the same parameters" in to_markdown(document)) == alike

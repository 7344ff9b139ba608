# SPDX-License-Identifier: MIT
"""`rtqual history`: the version that changed a figure is marked, and a series that cannot be judged says why."""

import json
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from rtqual.engine.analysis.figure.model import Figure, Group, Interval
from rtqual.face.terminal.history import print_history
from rtqual.protocols.record.schema import Timing
from rtqual.stages.history import FigureHistory, History, Version, _over_boards, history
from support.command import Fails, Run
from support.gate_records import noisy, runs
from support.made_campaign import campaign_of


def versions(folder: Path, *shifts_ns: int, runs_: int = 12) -> list[Path]:
    """A campaign a version; its runs are later by so much, and other draws than those of the others."""
    return [
        campaign_of(folder / f"v{n}", noisy(shift, runs_, Timing.INSTRUCTIONS, first=31 * n), "debian-rt")
        for n, shift in enumerate(shifts_ns)
    ]


def test_the_version_that_changed_a_figure_is_marked(rtqual: Run, tmp_path: Path) -> None:
    folders = versions(tmp_path, 0, 0, 0, 3_000, 3_000, 3_000)
    (p50,) = [one for one in history(folders).series if one.name == "p50"]
    (change,) = p50.changes
    assert change.at == 3
    assert change.after - change.before == pytest.approx(3_000, abs=300)

    told = json.loads(rtqual("history", *folders, "--json").stdout)
    (same,) = [one for one in told["series"] if one["figure"] == "p50"]
    assert [(one["version"], one["state"], one["since"]) for one in same["changes"]] == [("v3", "new", "v5")]
    assert [one["label"] for one in same["versions"]] == ["v0", "v1", "v2", "v3", "v4", "v5"]
    text = rtqual("history", *folders).stdout
    assert sum("became" in line for line in text.splitlines() if line.startswith("v3")) >= 1
    assert "new: 3 further versions confirm it" in text.replace("\n", " ")
    assert "became" not in "".join(line for line in text.splitlines() if line.startswith(("v0", "v1", "v2", "v4")))


def test_later_versions_confirm_a_mark_or_take_it_back_and_say_so(rtqual: Run, tmp_path: Path) -> None:
    after = [*[3_000] * 6, 0, 0, 0, 0]
    folders = versions(tmp_path, 0, 0, 0, *after)
    (p50,) = [one for one in history(folders[:9]).series if one.name == "p50"]
    assert [(one.at, p50.state(one)) for one in p50.changes] == [(3, "stands")]
    (p50,) = [one for one in history(folders).series if one.name == "p50"]
    assert [(one.at, p50.state(one)) for one in p50.changes] == [(3, "stands"), (9, "new")]
    gone = replace(p50, changes=(replace(p50.changes[0], gone=7), p50.changes[1]))
    console = Console(width=200, file=StringIO())
    print_history(console, History((gone,), ()))
    assert "<- gone:" in console.file.getvalue()  # type: ignore[attr-defined]
    assert "from v5 to v7" in console.file.getvalue()  # type: ignore[attr-defined]


def test_what_a_version_did_to_many_boards_is_one_line() -> None:
    def figure(version: int, board: int) -> Figure:
        value = 9_000 + 300 * board + 7 * (version * board % 5) + (1_000 if version > 3 else 0)
        return Figure(value, "ns", 1_000, 10, Interval(value - 90, value + 90, ""))

    rows = tuple(
        FigureHistory(
            Group("cyclictest", "hackbench", f"pi-{board}", 1, "rt"),
            "p50",
            tuple(Version(f"v{version}", figure(version, board)) for version in range(8)),
        )
        for board in range(9)
    )
    found = tuple(_over_boards(rows))
    assert [(one.label, one.shift.boards) for one in found] == [("v4", 9)]
    assert tuple(_over_boards(rows[:7])) == ()
    console = Console(width=200, file=StringIO())
    print_history(console, History(rows, found))
    assert "v4 moved p50 of rt on 9 boards together: +" in console.file.getvalue()  # type: ignore[attr-defined]


def test_versions_that_are_alike_are_not_marked(rtqual: Run, tmp_path: Path) -> None:
    folders = versions(tmp_path, 0, 0, 0, 0, 0, 0)
    assert [one.changes for one in history(folders).series if one.changes] == []
    assert "became" not in rtqual("history", *folders).stdout


def test_the_same_records_again_are_no_further_version(tmp_path: Path) -> None:
    """Else a figure that repeats would seem to be surer each night."""
    first, second, third = versions(tmp_path, 0, 9_000, 9_000)
    (p50,) = [one for one in history([first, first, second, second, third]).series if one.name == "p50"]
    assert [number for number, _ in p50.points] == [0, 2, 4]


def test_too_few_versions_or_runs_say_so(rtqual: Run, tmp_path: Path) -> None:
    two = {one.name: one for one in history(versions(tmp_path / "two", 0, 9_000)).series}
    assert "2 versions with an interval, 6 are needed" in two["p50"].why_none
    short = {one.name: one for one in history(versions(tmp_path / "short", 0, 0, 9_000, runs_=3)).series}
    assert "0 versions with an interval" in short["p50"].why_none
    assert "3 runs" in short["p50"].why_none
    assert all(not one.changes for one in (*two.values(), *short.values()))
    shown = rtqual("history", *sorted((tmp_path / "two").iterdir())).stdout
    assert "no change looked for: 2 versions" in shown.replace("\n", " ")


def test_versions_measured_otherwise_are_not_one_series(tmp_path: Path) -> None:
    folders = versions(tmp_path, 0, 0, 0)
    other = runs([[9_000 + 7 * i for i in range(100)]] * 12, timing=Timing.INSTRUCTIONS, parameters={"priority": 3})
    again = runs([[9_000 + 7 * i for i in range(100)]] * 12, timing=Timing.INSTRUCTIONS, parameters={"priority": 4})
    folders += [campaign_of(tmp_path / "w0", other, "debian-rt"), campaign_of(tmp_path / "w1", again, "debian-rt")]
    (p50,) = [one for one in history(folders).series if one.name == "p50"]
    assert "measured otherwise: priority" in p50.why_none


def test_what_is_no_campaign_is_refused(fails: Fails, tmp_path: Path) -> None:
    (one, _) = versions(tmp_path, 0, 0)
    assert "two campaigns or more" in fails(2, "history", one)
    assert "no finished campaign there" in fails(2, "history", one, tmp_path)

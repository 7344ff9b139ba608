# SPDX-License-Identifier: MIT
"""Verdicts that nobody can misread: a mission each, run by the command itself, and what every output then says.

The emulated candidates' runs are replayed from records (support/recorded.py); this machine's are real.
"""

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rtqual.parts.studies.study_records import records
from rtqual.protocols.record.store import Store
from support.command import Run
from support.recorded import record
from support.report_material import Page
from support.stories import TOLD, UNASKED

MISSIONS = Path(__file__).parents[1] / "data" / "missions"


def told(text: str) -> str:
    """Without the terminal's boxes, Markdown's marks and line ends."""
    return " ".join(re.sub(r"[│╭╮╰╯─┌┐└┘┬┴]|(?m:^[>#*-]+ )|\*\*|\\", " ", text).replace("µs", "us").split())


def of_page(html: str) -> str:
    """What a reader sees before the first chapter."""
    return told(" ".join(Page(html.partition('<section id="chapter-1">')[0]).words))


# Each writes every format, the PDF too, so only the first is quick enough.
@pytest.mark.parametrize(
    "name", [name if not at else pytest.param(name, marks=pytest.mark.guest) for at, name in enumerate(TOLD)]
)
def test_every_output_ends_in_the_same_sentence(
    name: str, tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    story, mission, out = TOLD[name], MISSIONS / f"{name}.toml", tmp_path / "out"
    monkeypatch.chdir(tmp_path)
    record(mission, tmp_path, story.outcome)
    done = rtqual("select", mission, "--out", out)
    assert done.returncode == story.exit_code, done.stderr
    assert "┌┬" not in done.stdout, "a table without a row"
    first_page = {
        "terminal": done.stdout,
        "report.md": (out / "report.md").read_text().partition("\n## 1 ")[0],
        "report.html": of_page((out / "report.html").read_text()),
        "summary.md": (out / "summary.md").read_text(),
    }
    for where, text in first_page.items():
        said = told(text)
        assert story.sentence in said, where
        assert story.heading in said, where
        heading = "Decision" if where.startswith("report") else story.heading
        assert said.index(heading) < said.index(story.sentence), where
        for sentence in story.also:
            if where != "summary.md" or not sentence.partition(" ")[2].startswith("would "):
                assert sentence in said, where
        assert not re.search(r"\b(Fly|Cleared to fly) \w", said), where
        assert ("no requirement" in said) == (UNASKED in story.junit.values()), where
        assert "meets the mission" not in said, where

    junit = ElementTree.fromstring((out / "junit.xml").read_text())  # noqa: S314 - ours
    found = {
        str(suite.get("name")): {
            str(case.get("name")): [(one.tag, str(one.get("message"))) for one in case]
            for case in suite.iter("testcase")
        }
        for suite in junit.iter("testsuite")
        if not str(suite.get("name")).endswith("runs that failed")
    }
    assert {suite: cases.keys() for suite, cases in found.items()} == {
        suite: cases.keys() for suite, cases in story.junit.items()
    }
    for suite, cases in story.junit.items():
        for case, (ended, text) in cases.items():
            ((tag, message),) = found[suite][case]
            assert (tag, text in message) == (ended, True), (suite, message)

    metrics = (out / "metrics.prom").read_text().splitlines()
    assert not [line for line in metrics if line.startswith("rtqual_fly{") and not line.endswith(" 0.0")]
    answer = json.loads(rtqual("report", out, "--format", "junit", "--json").stdout)["answer"]
    assert (answer["headline"], answer["fly"]) == (story.sentence, None)


def test_candidates_of_other_boards_are_not_compared(
    tmp_path: Path, rtqual: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study's figures and records of rtqual's: `compare` refuses."""
    mission = MISSIONS / "story-1-counted-instructions.toml"
    monkeypatch.chdir(tmp_path)
    record(mission, tmp_path, TOLD["story-1-counted-instructions"].outcome)
    study = Store(tmp_path / "study" / "records")
    for one in records("spacechain/linux-rt", "linux-rt"):
        study.write(one)
    done = rtqual("compare", tmp_path / "study", "recorded")
    assert done.returncode == 2
    assert "nothing to compare: instrument, load, board and CPUs must be the same" in done.stderr

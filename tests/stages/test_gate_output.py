# SPDX-License-Identifier: MIT
"""What the gate writes: for the terminal, as JSON, JUnit and Markdown."""

import json
from dataclasses import replace
from xml.etree import ElementTree

from rtqual.engine.analysis.regression.course import Course, Regressions
from rtqual.face.terminal.gate import as_dict
from rtqual.protocols.record.schema import Scalar
from rtqual.reports.machine.github import gate_github
from rtqual.reports.machine.junit import gate_junit
from support.analysis_records import wakeups
from support.gate_records import BASE, judged, noisy, printed, scalars


def several() -> Regressions:
    """Something of every kind, with a name that means something to rich, XML and Markdown."""
    hostile = "rt[red]|<b>&`*"
    worse = wakeups(hostile, [13_000 + 10 * seed for seed in range(10)], n=500)
    before = wakeups(hostile, [12_000 + 10 * seed for seed in range(10)], n=500)
    gone = wakeups(hostile, [11_000] * 10, load="none")
    return judged(
        [*before, *gone, *noisy(0, runs_=3), *scalars({"rate": Scalar(value=1, unit="1/s")}, load="stress-cpu")],
        [*worse, *noisy(100, runs_=3), *scalars({"rate": Scalar(value=2, unit="1/s")}, load="stress-cpu")],
    )


def test_the_terminal_names_every_figure_and_ends_with_the_headline() -> None:
    text = printed(several())
    assert "rt[red]|<b>&`*: cyclictest under hackbench, virtual board, 1 CPU (5,000 samples in 10 runs" in text
    assert "12.09 us to 13.09 us (+8.27 %)" in text
    assert "on 10 of 10 seeds" in text
    for title in ("Worse", "Missing", "Not judged", "Better", "Notes"):
        assert f"\n{title}\n" in text
    last = text.strip().splitlines()[-1]
    assert last.startswith("Regression: ")
    assert "1 result missing" in last
    assert printed(judged(BASE, BASE)).strip().endswith("No regression found: 8 figures the same.")


def test_what_an_interval_cannot_tell_apart_is_not_called_the_same() -> None:
    drawn_again = printed(judged(noisy(0), noisy(1)))
    assert " not told apart." in drawn_again and "the same" not in drawn_again.splitlines()[-1]


def test_json_holds_all_of_it() -> None:
    told = json.loads(json.dumps(as_dict(several()), allow_nan=False))
    assert told["failed"] is True
    assert {one["course"] for one in told["figures"]} >= {"worse", "better", "undecided"}
    assert told["lost"][0]["reason"] == "no record"


def test_junit_fails_what_is_worse_and_missing_and_skips_what_is_not_judged() -> None:
    found = several()
    root = ElementTree.fromstring(gate_junit(found))  # noqa: S314 - ours
    worse, undecided = len(found.of(Course.WORSE)) + len(found.lost), len(found.of(Course.UNDECIDED))
    assert (len(root.findall(".//failure")), len(root.findall(".//skipped"))) == (worse, undecided)
    strict = ElementTree.fromstring(gate_junit(replace(found, strict=True)))  # noqa: S314
    assert (len(strict.findall(".//error")), len(strict.findall(".//skipped"))) == (undecided, 0)
    assert int(root.attrib["failures"]) == worse
    named = {one.attrib["name"] for one in root.iter("testcase")}
    assert {"max", "avg", "rate"} <= named


def test_markdown_says_the_same() -> None:
    text = gate_github(several()).replace("\u00a0", " ")
    assert text.startswith("## ❌ Regression: ")
    assert "rt\\[red\\]\\|&lt;b&gt;&amp;\\`\\*: cyclictest" in text
    assert "| max | 12.09 µs to 13.09 µs (+8.27 %) | on 10 of 10 seeds |" in text
    assert gate_github(judged(BASE, BASE)).startswith("## ✅ No regression found")
    assert gate_github(judged(noisy(0, runs_=3), noisy(9, runs_=3))).startswith("## ❓ No regression found")

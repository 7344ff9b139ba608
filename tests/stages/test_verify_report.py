# SPDX-License-Identifier: MIT
"""A verification's folder is shown, reported on and judged by what it keeps, without the procedures' files."""

import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
from rich.console import Console

from rtqual.base.cache import sha256_of
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.lost import INTERRUPTED
from rtqual.engine.procedure.compliance import Compliance, control
from rtqual.engine.procedure.judging import Judgement
from rtqual.engine.procedure.played_log import PREFIX
from rtqual.face.terminal.verify_lines import print_verified
from rtqual.protocols.record.schema import Timing, digest
from rtqual.reports.control import build
from rtqual.reports.page.render import to_html, to_markdown
from rtqual.reports.trends import Trend
from rtqual.reports.verification import as_dict, to_junit
from rtqual.stages.verify import verified_in
from rtqual_docking.procedures.checked_procedures import load_procedures
from rtqual_docking.procedures.kept_procedures import Procedures
from support.command import Run
from support.ground_log import TOP, definition
from support.made_verification import made


def test_it_is_shown_and_reported_on(rtqual: Run, tmp_path: Path) -> None:
    folder = made(tmp_path / "verified")
    shown = rtqual("show", folder)
    assert shown.returncode == 0, shown.stderr
    assert "1 of 2 requirements compliant; 1 open" in shown.stdout
    done = rtqual("report", folder, "--format", "html", "--format", "md", "--format", "junit", "--json")
    assert done.returncode == 0, done.stderr
    assert [one["compliance"] for one in json.loads(done.stdout)["requirements"]] == ["compliant", "open"]
    assert json.loads((folder / "verification.json").read_text()) == json.loads(done.stdout)
    assert (folder / "report.html").stat().st_size > 10_000
    assert 'failures="0"' in (folder / "junit.xml").read_text()
    assert len(list((folder / "plots").iterdir())) == 2


def test_the_document_says_what_was_shown_by_what_and_escapes_what_others_wrote(tmp_path: Path) -> None:
    verified = verified_in(made(tmp_path / "verified"))
    document = build(verified)
    html, text = to_html(document), to_markdown(document)
    assert "<b>mark</b>" not in html and "A &lt;b&gt;mark" in html
    (row,) = [line for line in text.splitlines() if line.startswith("| TC-010") and "start-stop" in line]
    assert verified.records[0].manifest.hash[:12] in row and "open: the virtual board closes" in row
    (row,) = [line for line in text.splitlines() if line.startswith("| TC-020") and "none" in line]
    assert "? open" in row and "no procedure verifies it" in row
    assert re.search(r"\| start-stop +\| camera unplug:500 +\| CAMERA\\?_BACK +\| +600 ms", text)
    assert to_html(build(verified_in(tmp_path / "verified"))) == html, "a pure function of what is kept"


def test_a_log_that_was_cut_is_no_evidence(rtqual: Run, tmp_path: Path) -> None:
    folder = made(tmp_path / "verified", log=lambda text: text[: len(text) // 2])
    verified = verified_in(folder)
    assert not verified.passed and list(verified.unknown) == ["start-stop"]
    text = to_markdown(build(verified))
    assert "? no evidence" in text and "not compliant" not in text, "nobody knows whether it holds"
    said = as_dict(verified)
    assert said["procedures"][0]["result"] == "no evidence" and said["requirements"][0]["compliance"] == "open"
    assert 'failures="0" errors="3"' in to_junit(verified), "the procedure and both requirements"
    assert "0 of 2 requirements compliant; 2 open" in rtqual("show", folder).stdout


def test_a_run_that_left_no_record_leaves_what_it_verifies_open(
    rtqual: Run, fails: Callable[..., str], tmp_path: Path
) -> None:
    folder = made(tmp_path / "verified", lost=["the ground left no log", INTERRUPTED])
    told = f"seed 1: played 3 times, 2 left no record: the ground left no log; {INTERRUPTED}"
    verified = verified_in(folder)
    assert [(row.compliance, row.why) for row in verified.rows[:1]] == [(Compliance.OPEN, f"start-stop: {told}")]
    assert not verified.passed and verified.unknown == {"start-stop": told}, "whatever the last run gave"
    assert f"start-stop, {told}" in rtqual("show", folder).stdout
    assert f"start-stop, {told}" in to_markdown(build(verified))
    assert as_dict(verified)["lost"][0]["played"] == 3
    assert 'failures="0" errors="3"' in to_junit(verified)
    (path,) = (folder / "lost").iterdir()
    text = path.read_text()
    path.write_text(text.replace("3", "1"))
    assert "not the one that was kept" in fails(2, "show", folder)
    path.unlink()
    assert "is missing, and tells of a run that left no record" in fails(2, "show", folder)


def test_a_run_that_ended_because_rtqual_did_is_told_and_held_against_nothing(tmp_path: Path) -> None:
    verified = verified_in(made(tmp_path / "verified", lost=[INTERRUPTED]))
    assert verified.again == (f"start-stop, seed 1: played 2 times, 1 left no record: {INTERRUPTED}",)
    assert verified.passed and verified.rows[0].compliance is Compliance.YES


def test_a_soak_says_what_grows_and_of_how_many_segments(tmp_path: Path) -> None:
    grows = Trend("memory", "B", (4096.0,) * 10, (4000.0, 4200.0), "")
    few = Trend("pose age", "ns", (-1500.0, 1000.0), None, "2 segments; an interval needs 10")
    verified = replace(verified_in(made(tmp_path / "verified")), trends=(grows, few))
    text = to_markdown(build(verified)).replace("\u00a0", " ")
    assert re.search(r"\| memory[^|]*\| +4 KiB/h +\| +3.906 KiB/h to 4.102 KiB/h +\| +10 +\| grows", text)
    assert re.search(
        r"\| pose age[^|]*\| +-250 ns/h +\| +none.*2 segments; an interval needs 10.* \| +2 +\| nobody knows", text
    )
    assert [one["said"] for one in as_dict(verified)["trends"]] == ["grows", "nobody knows"]
    out = io.StringIO()
    print_verified(Console(file=out, width=200), verified)
    assert "nobody knows" in out.getvalue()


def test_a_program_that_fails_is_told_before_what_is_no_evidence(tmp_path: Path) -> None:
    verified = verified_in(made(tmp_path / "verified"))
    run = verified.runs[0]
    failed = replace(run, judgement=Judgement(wrong=("it lies",)), repeat=1)
    unknown = replace(run, judgement=Judgement(unsound="is cut off"))
    both = replace(verified, runs=(failed, unknown))
    assert re.search('<failure[^>]*message="[^"]*it lies', to_junit(both))


def test_the_emulators_record_that_claims_real_time_closes_nothing(tmp_path: Path) -> None:
    (row, _) = verified_in(made(tmp_path / "emulator", other={"timing": Timing.REAL})).rows
    assert row.closed == "open: the virtual board closes no requirement"
    assert control(*_of_a_board(tmp_path))[0].closed == "closed", "a board's does"


def _of_a_board(tmp_path: Path) -> tuple[Any, ...]:
    verified = verified_in(made(tmp_path / "board", other={"timing": Timing.REAL, "board": "raspberry-pi-4b"}))
    assert verified.mission.verify is not None
    return verified.mission.verify.requirements, verified.procedures, verified.runs, {}, {}


@pytest.mark.parametrize(
    ("other", "why"),
    [
        ({"candidate": "debian"}, "start-stop: it was played on debian, under hackbench"),
        ({"load": "none"}, "start-stop: it was played on debian-rt, idle"),
        ({"instrument": f"{PREFIX}another"}, "not played: start-stop"),
    ],
)
def test_a_record_of_something_else_is_no_evidence(tmp_path: Path, other: dict[str, str], why: str) -> None:
    """It lies where evidence of the requirement should, with all hashes made anew."""
    verified = verified_in(made(tmp_path / "verified", other=other))
    assert verified.rows[0].compliance is not Compliance.YES and verified.rows[0].why == why
    assert not verified.passed
    if "instrument" in other:
        assert verified.failures == {"another": "there is a record of it, but no procedure to judge that by"}


def test_a_record_that_a_campaign_names_twice_is_refused(fails: Callable[..., str], tmp_path: Path) -> None:
    """By its name, or as a copy under another: its samples would count twice."""
    folder = made(tmp_path / "verified")
    (name,) = (path.name for path in (folder / kept.RECORDS).iterdir())
    copytree(folder / kept.RECORDS / name, folder / kept.RECORDS / "copy")
    campaign = json.loads((folder / kept.CAMPAIGN).read_text())
    del campaign["sha256"]
    campaign["manifests"]["copy"] = campaign["manifests"][name]
    for names in ([name, name], [name, "copy"]):
        changed = campaign | {"records": names}
        (folder / kept.CAMPAIGN).write_text(json.dumps(changed | {"sha256": digest(changed)}))
        assert "names a record twice" in fails(2, "report", folder, "--format", "md")


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda kept_: kept_["procedures"]["start-stop"]["step"][0].update(send="FORMAT_DISK"), "unknown telecommand"),
        (lambda kept_: kept_["procedures"].update({"../x": kept_["procedures"]["start-stop"]}), "a short name"),
        (lambda kept_: kept_.update(more=1), "more"),
        (lambda kept_: kept_.clear(), "procedures"),
    ],
)
def test_procedures_of_a_stranger_are_checked(
    fails: Callable[..., str], tmp_path: Path, change: Callable[[dict[str, object]], None], told: str
) -> None:
    folder = made(tmp_path / "verified")
    path = folder / kept.PROCEDURES
    changed = json.loads(path.read_text())
    change(changed)
    path.write_text(json.dumps(changed))
    assert "not the one that was kept" in fails(2, "show", folder)
    campaign = json.loads((folder / kept.CAMPAIGN).read_text())
    campaign["files"][kept.PROCEDURES] = sha256_of(path.read_bytes())
    del campaign["sha256"]
    (folder / kept.CAMPAIGN).write_text(json.dumps(campaign | {"sha256": digest(campaign)}))
    assert told in fails(2, "report", folder, "--format", "md")


def test_what_a_verification_has_no_form_of_is_told(fails: Callable[..., str], tmp_path: Path) -> None:
    folder = made(tmp_path / "verified")
    assert "a verification has none" in fails(2, "report", folder, "--format", "bencher")
    assert "takes one format" in fails(2, "report", folder, "--out", tmp_path / "x.md")


def test_all_procedures_are_kept_as_they_were() -> None:
    every = load_procedures(TOP / "docking/procedures", definition())
    text = Procedures(procedures={one.name: one for one in every}).as_json()
    again = Procedures.model_validate_json(text)
    assert again.named == every
    assert [one.name for one in again.named] == [one.name for one in every]

# SPDX-License-Identifier: MIT
"""`rtqual report`: a campaign's folder reported on again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import jsonschema
import pytest
from prometheus_client.parser import text_string_to_metric_families

from rtqual.engine.campaign import folder as kept
from rtqual.face.commands.report import Format
from rtqual.reports.formats import FOR_MACHINES, FORMATS
from rtqual.reports.write import _TO_TEXT
from support.command import Run
from support.machine_schemas import BENCHER, valid


def test_every_format_has_a_name_for_the_command_line() -> None:
    assert get_args(Format) == tuple(FORMATS)
    assert {*_TO_TEXT, "sbom"} == FOR_MACHINES.keys()


def copy_of(campaign: Path, folder: Path) -> Path:
    """All that a report needs, and no report."""
    folder.mkdir()
    for name in {kept.MISSION, *(file.name for file in campaign.glob("*.json"))} - {*FORMATS.values()}:
        shutil.copy(campaign / name, folder)
    for name in (kept.RECORDS, kept.CONFIGS):
        shutil.copytree(campaign / name, folder / name)
    return folder


def test_a_folder_reported_on_again_gives_what_select_wrote(rtqual: Run, campaign: Path, tmp_path: Path) -> None:
    folder = copy_of(campaign, tmp_path / "copy [two]")
    before = {path: path.read_bytes() for path in (folder / kept.RECORDS).rglob("*") if path.is_file()}
    done = rtqual("report", folder)
    assert (done.returncode, done.stderr) == (0, "")
    for name in FORMATS.values():
        assert (folder / name).read_bytes() == (campaign / name).read_bytes(), name
    assert {path.name for path in (folder / "plots").iterdir()} == {p.name for p in (campaign / "plots").iterdir()}
    assert {path: path.read_bytes() for path in (folder / kept.RECORDS).rglob("*") if path.is_file()} == before
    assert f"  {folder / 'report.html'}" in done.stdout.splitlines()
    assert done.stdout.count("\n") == 4  # those for machines in one line
    valid((folder / "junit.xml").read_text())
    jsonschema.validate(json.loads((folder / "bencher.json").read_text()), BENCHER)
    assert list(text_string_to_metric_families((folder / "metrics.prom").read_text()))


@pytest.mark.parametrize("name", [".lock", "summary.md", "report.html", "plots", "plots/figure-1.svg"])
def test_what_a_link_in_the_folder_leads_to_stays_as_it_is(
    rtqual: Run, campaign: Path, tmp_path: Path, name: str
) -> None:
    folder, victim = copy_of(campaign, tmp_path / "copy"), tmp_path / "victim"
    if name == "plots":
        victim.mkdir()
        (victim / "figure-1.svg").write_text("mine")
    else:
        victim.write_text("mine")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(victim)
    done = rtqual("report", folder)
    assert done.returncode == 2 and f"{folder / name}: is a link" in done.stderr
    assert (victim / "figure-1.svg" if name == "plots" else victim).read_text() == "mine"


def test_only_the_formats_asked_for_are_written(rtqual: Run, campaign: Path, tmp_path: Path) -> None:
    folder = copy_of(campaign, tmp_path / "copy")
    before = {path.name for path in folder.iterdir() if path.is_file()}
    done = rtqual("report", folder, "--format", "junit", "--format", "github")
    assert done.returncode == 0, done.stderr
    after = {path.name for path in folder.iterdir() if path.is_file()}
    assert after == before | {".lock", "junit.xml", "summary.md"}
    told = json.loads(rtqual("report", folder, "--format", "bencher", "--json").stdout)
    assert told["reports"] == [str(folder / "bencher.json")]


def test_one_format_goes_into_a_file_of_ones_own(
    rtqual: Run, fails: Callable[..., str], campaign: Path, tmp_path: Path
) -> None:
    file = tmp_path / "new" / "results.xml"
    done = rtqual("report", campaign, "--format", "junit", "--out", file)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert file.read_bytes() == (campaign / "junit.xml").read_bytes()
    assert "takes one format" in fails(2, "report", campaign, "--out", file)
    assert "takes one format" in fails(2, "report", campaign, "--format", "junit", "--format", "md", "--out", file)
    assert "cannot be written" in fails(3, "report", campaign, "--format", "junit", "--out", tmp_path)


def test_what_is_not_a_finished_campaign_is_named(fails: Callable[..., str], campaign: Path, tmp_path: Path) -> None:
    folder = copy_of(campaign, tmp_path / "copy")
    mission_file = folder / kept.MISSION
    mission_file.write_text(mission_file.read_text().replace("100 us", "200 us"))
    assert f"{mission_file}: not the mission that was measured here" in fails(2, "report", folder)
    (folder / kept.CAMPAIGN).write_text("{")
    assert f"{folder / kept.CAMPAIGN}: damaged" in fails(2, "report", folder)
    (folder / kept.CAMPAIGN).write_text('{"schema_version": 99}')
    assert "upgrade rtqual" in fails(2, "report", folder)
    (folder / kept.CAMPAIGN).unlink()
    assert "no finished campaign there" in fails(2, "report", folder)
    assert "no finished campaign there" in fails(2, "report", tmp_path / "nowhere")
    fails(2, "report", folder, "--format", "papyrus")


def test_a_mission_that_changes_while_it_is_measured_is_not_kept_under_a_wrong_name(
    mission_file: Path, tmp_path: Path
) -> None:
    from rtqual.base.errors import BadInput
    from rtqual.engine.mission import load_mission

    path = tmp_path / "tiny.toml"
    shutil.copy(mission_file, path)
    loaded = load_mission(path)
    path.write_text(path.read_text() + "\n")
    with pytest.raises(BadInput, match="was changed while rtqual started"):
        kept.content_of(loaded)

# SPDX-License-Identifier: MIT
"""The command line on results: shown, compared, found by hash, damaged."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from rtqual.protocols.record.schema import SCHEMA_VERSION
from rtqual.protocols.record.store import MANIFEST, SAMPLES, Store
from support.command import Fails, Run, mission_text, rtqual_command


def first_record(campaign: Path) -> Path:
    return Store(campaign / "records").paths()[0]


# --- results


def test_select_prints_its_verdict_as_json(campaign: Path) -> None:
    told = json.loads((campaign / "verdict.json").read_text())
    assert {"verdicts", "comparisons", "summaries", "records", "failures", "reports"} <= set(told)
    assert told["failures"] == {}
    assert {Path(report).name for report in told["reports"]} >= {"report.html", "report.md"}
    assert all(Path(report).exists() for report in told["reports"])


def test_show_a_record_and_a_campaign(rtqual: Run, campaign: Path) -> None:
    record = first_record(campaign)
    (one,) = json.loads(rtqual("show", record, "--json").stdout)
    assert one == {**one, **json.loads((record / MANIFEST).read_text())}
    assert one["path"] == str(record)
    assert one["figures"]["max"]["value"] > 0
    many = json.loads(rtqual("show", campaign, "--json").stdout)
    assert len(many) == 6
    assert one in many
    text = rtqual("show", record).stdout
    assert one["provenance"]["kernel"].split()[0] in text
    assert shlex.join(one["provenance"]["command"]) in text
    assert text.count("instructions") >= 1
    assert rtqual("show", campaign, "--records").stdout.count("cyclictest") >= 6


def test_show_and_compare_say_what_is_missing(rtqual: Run, campaign: Path, tmp_path: Path) -> None:
    assert not re.search(r"\b[0-9] of [0-9]+ runs\b", rtqual("show", campaign).stdout)
    short = tmp_path / "short"
    shutil.copytree(campaign, short)
    gone = next(path for path in Store(short / "records").paths() if '"repeat": 0' in (path / MANIFEST).read_text())
    shutil.rmtree(gone)
    assert re.search(r"\b[0-9] of [0-9]+ runs\n", rtqual("show", short).stdout)
    assert re.search(r"\b[0-9] of [0-9]+ runs\b", rtqual("compare", short, campaign).stdout)


def test_a_record_is_found_by_the_start_of_its_hash(rtqual: Run, fails: Fails, campaign: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").symlink_to(campaign)
    wanted = json.loads((first_record(campaign) / MANIFEST).read_text())["hash"]
    (one,) = json.loads(rtqual("show", wanted[:10], "--json", cwd=tmp_path).stdout)
    assert one["hash"] == wanted
    assert "ffffffffff" in fails(2, "show", "ffffffffff", cwd=tmp_path)
    assert "4 characters" in fails(2, "show", wanted[:3], cwd=tmp_path)


def test_compare_puts_two_beside_each_other(rtqual: Run, fails: Fails, campaign: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    shutil.copytree(campaign / "records", other / "records")
    comparisons = json.loads(rtqual("compare", campaign, other, "--json").stdout)
    assert {(one["a"]["load"], one["b"]["load"]) for one in comparisons} == {
        ("none", "none"),
        ("hackbench", "hackbench"),
    }
    assert all(one["difference"]["value"] == 0 for one in comparisons)
    assert "hackbench" in rtqual("compare", campaign, other).stdout
    by_load = {}
    for path in Store(campaign / "records").paths():
        by_load[json.loads((path / MANIFEST).read_text())["inputs"]["load"]] = path
    assert "nothing to compare" in fails(2, "compare", by_load["none"], by_load["hackbench"])


@pytest.mark.parametrize("how", [["--json"], []])
def test_output_that_nobody_reads_to_its_end_is_told_from_every_other_end(campaign: Path, how: list[str]) -> None:
    """141, as of a program that SIGPIPE ended; rich's own 1 would say of a gate that something is worse."""
    end, ours = os.pipe()
    os.close(end)
    try:
        done = subprocess.run(rtqual_command("show", campaign, *how), stdout=ours, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(ours)
    assert (done.returncode, done.stderr) == (141, b"")


# --- records that are damaged


@pytest.fixture
def damaged(campaign: Path, tmp_path: Path) -> Path:
    path = tmp_path / first_record(campaign).name
    shutil.copytree(first_record(campaign), path)
    return path


def test_a_truncated_record_is_named(fails: Fails, campaign: Path, damaged: Path) -> None:
    whole = (damaged / SAMPLES).read_bytes()
    (damaged / SAMPLES).write_bytes(whole[: len(whole) // 2])
    for command in (
        ["show", damaged],
        ["show", damaged, "--json"],
        ["compare", campaign, damaged],
        ["reproduce", damaged],
    ):
        assert str(damaged / SAMPLES) in fails(2, *command)


def test_a_record_of_a_newer_rtqual_asks_for_an_upgrade(fails: Fails, damaged: Path) -> None:
    newer = {**json.loads((damaged / MANIFEST).read_text()), "schema_version": SCHEMA_VERSION + 1, "news": 1}
    (damaged / MANIFEST).write_text(json.dumps(newer))
    for command in ("show", "reproduce"):
        assert "upgrade" in fails(2, command, damaged)


def test_what_is_not_a_record_is_named(fails: Fails, damaged: Path, tmp_path: Path) -> None:
    (damaged / MANIFEST).write_text("{")
    assert "not a record's manifest" in fails(2, "show", damaged)
    (tmp_path / "empty").mkdir()
    for nothing in (tmp_path / "empty", tmp_path / "nowhere", "/dev/null", ""):
        fails(2, "show", nothing)


def test_a_record_without_its_campaigns_job_files_is_reproduced_from_its_inputs(
    rtqual: Run, campaign: Path, tmp_path: Path
) -> None:
    shutil.copytree(campaign / "records", tmp_path / "records")
    done = rtqual("reproduce", first_record(tmp_path))
    assert done.returncode == 0, done.stderr
    assert "the same samples" in done.stdout
    assert "runs qemu-system-x86_64 -machine" in done.stderr


@pytest.mark.guest
def test_a_record_of_this_machine_cannot_be_reproduced(fails: Fails, rtqual: Run, tmp_path: Path) -> None:
    path = tmp_path / "mission.toml"
    path.write_text(mission_text("here", loads=("none",), runs=1).replace('["cyclictest"]', '["footprint"]'))
    assert rtqual("select", path, "--out", tmp_path / "out").returncode == 0
    assert "local board" in fails(2, "reproduce", first_record(tmp_path / "out"))

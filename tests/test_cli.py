# SPDX-License-Identifier: MIT
"""The command line: what it prints, and that a failure is one line and an exit code."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import Run, mission_text

Fails = Callable[..., str]


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "mission.toml"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("duration =", "duratoin =", "did you mean 'duration'"),
        ('"1 min"', '"1 minute"', "ns, us, ms, s, min, h, d"),
        ("cycles = 100", 'cycles = "many"', "whole number"),
        ('load = "hackbench"', 'load = "hackbnech"', "did you mean 'hackbench'"),
    ],
)
def test_a_mistake_in_a_mission_is_told_with_its_line(
    fails: Fails, tmp_path: Path, old: str, new: str, told: str
) -> None:
    text = mission_text("debian-rt")
    line = text[: text.index(old)].count("\n") + 1
    message = fails(2, "select", written(tmp_path, text.replace(old, new)))
    assert f"mission.toml:{line}: " in message
    assert told in message


def test_a_mission_without_candidates_is_refused(fails: Fails, tmp_path: Path) -> None:
    text = "candidate = []\n" + mission_text()
    assert "candidate: is empty" in fails(2, "select", written(tmp_path, text))


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("select", "absent.toml"), "absent.toml: cannot be read"),
        (("select",), "requires an argument"),
        (("selcet",), "Unknown command"),
        (("show", "absent"), "no record there"),
        (("compare", "absent", "absent"), "no record there"),
        (("reproduce", "absent"), "no record there"),
        (("published", "show", "absent"), "there are aarest"),
    ],
)
def test_bad_arguments_are_told_in_one_line(
    fails: Fails, tmp_path: Path, arguments: tuple[str, ...], told: str
) -> None:
    assert told in fails(2, *arguments, cwd=tmp_path)


def test_an_unknown_scale_is_refused_with_those_there_are(fails: Fails, mission_file: Path) -> None:
    assert "allowed: demo" in fails(2, "select", mission_file, "--scale", "huge")


@pytest.mark.parametrize(
    ("package", "told"), [("linux-image-never", "linux-image-never is known"), ("coreutils", "it is no kernel")]
)
def test_a_package_that_is_none_or_no_kernel_is_named(fails: Fails, tmp_path: Path, package: str, told: str) -> None:
    path = written(tmp_path, mission_text("debian-rt").replace("linux-image-rt-amd64", package))
    assert told in fails(2, "select", path, "--out", tmp_path / "out")


def test_without_network_it_says_to_check_it(fails: Fails, mission_file: Path, tmp_path: Path) -> None:
    settings = tmp_path / "apt.conf"
    settings.write_text('Acquire::http::Proxy "http://127.0.0.1:9";\nAcquire::https::Proxy "http://127.0.0.1:9";\n')
    env = {"APT_CONFIG": str(settings), "XDG_CACHE_HOME": str(tmp_path / "empty")}
    assert "check the network" in fails(3, "select", mission_file, "--out", tmp_path / "out", env=env)


def test_a_folder_that_cannot_be_written_is_named(fails: Fails, mission_file: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "choose another folder" in fails(3, "select", mission_file, "--out", tmp_path / "file" / "out")


def test_without_real_time_priority_this_machine_is_not_measured(rtqual: Run, tmp_path: Path) -> None:
    path = written(tmp_path, mission_text("here", loads=("none",), runs=1))
    without = ("setpriv", "--bounding-set", "-sys_nice", "--inh-caps", "-sys_nice")
    done = rtqual("select", path, "--out", tmp_path / "out", under=without)
    assert done.returncode == 3
    assert "real-time priority is not allowed here" in " ".join(done.stderr.split())


def test_an_instrument_that_is_not_installed_here_is_named(rtqual: Run, tmp_path: Path) -> None:
    path = written(tmp_path, mission_text("here", loads=("none",), runs=1))
    done = rtqual("select", path, "--out", tmp_path / "out", env={"PATH": "/nowhere"})
    assert done.returncode == 3
    assert "cyclictest" in done.stderr


def test_a_dry_run_lists_cells_time_and_disk_and_runs_nothing(rtqual: Run, mission_file: Path, tmp_path: Path) -> None:
    done = rtqual("select", mission_file, "--dry-run", "--out", tmp_path / "out")
    assert done.returncode == 0
    assert "6 cells" in done.stdout
    assert "MiB of disk" in done.stdout
    assert not (tmp_path / "out").exists()
    as_json = json.loads(rtqual("select", mission_file, "--dry-run", "--json", "--out", tmp_path / "out").stdout)
    assert (len(as_json["cells"]), as_json["left"]["cells"]) == (6, 6)


def test_a_campaign_is_shown_as_a_table_and_as_json(rtqual: Run, campaign: Path) -> None:
    assert rtqual("show", campaign, env={"COLUMNS": "160"}).stdout.count("cyclictest") == 6
    records = json.loads(rtqual("show", campaign, "--json").stdout)
    assert {record["timing"] for record in records} == {"instructions"}
    one = rtqual("show", records[0]["path"]).stdout
    assert records[0]["hash"][:16] in one
    assert "qemu-system-x86_64" in one


def test_two_campaigns_are_compared(rtqual: Run, campaign: Path) -> None:
    compared = json.loads(rtqual("compare", campaign, campaign, "--json").stdout)
    assert {one["statistic"] for one in compared} >= {"p50", "p99", "avg"}
    assert all(one["difference"]["value"] == 0 for one in compared)
    assert rtqual("compare", campaign, campaign).returncode == 0


def test_the_verdict_is_json_for_machines(campaign: Path) -> None:
    verdict = json.loads((campaign / "verdict.json").read_text())
    assert verdict["records"] == 4
    assert verdict["verdicts"][0]["board"] == "virtual"
    assert "2 runs" in json.dumps(verdict["verdicts"][0]["standings"]), "too few runs are no verdict"


def test_missions_are_checked_and_their_schema_printed(rtqual: Run, mission_file: Path) -> None:
    assert "good" in rtqual("mission", "check", mission_file).stdout
    assert json.loads(rtqual("mission", "schema").stdout)["title"] == "Mission"

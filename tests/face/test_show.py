# SPDX-License-Identifier: MIT
"""`rtqual show` of a campaign: its verdict and a line a group, also in 60 columns; `rtqual open`; completion; man."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rtqual.face.commands.commands import application, commands
from rtqual.protocols.record.schema import Timing
from rtqual.protocols.record.store import Store, read_manifest
from support.command import Fails, Run, mission_text, rtqual_here
from support.gate_records import noisy, runs
from support.made_campaign import campaign_of

ROOT = Path(__file__).parents[2]


def shown(folder: Path, columns: int, *more: str) -> list[str]:
    done = rtqual_here("show", folder, *more, COLUMNS=str(columns))
    assert done.returncode == 0, done.stderr
    return [line.rstrip() for line in done.stdout.splitlines()]


def test_a_campaign_is_readable_in_60_columns(tmp_path: Path) -> None:
    lines = shown(campaign_of(tmp_path / "c", noisy(0, 12, Timing.INSTRUCTIONS), "debian-rt"), 60)
    assert max(map(len, lines)) <= 60
    text = " ".join(lines)
    assert lines[0]  # the verdict comes first
    assert "2,400" in text  # samples
    for name in ("p50", "p99", "max"):
        assert f" {name}" in text
    assert "no interval, max: " in text
    interval = next(line for line in lines if line.lstrip().startswith("["))
    assert interval.count("[") == interval.count("]") == 2  # of the median and of p99, not folded


def test_a_wide_terminal_has_a_line_a_group(tmp_path: Path) -> None:
    lines = shown(campaign_of(tmp_path / "c", noisy(0, 12, Timing.INSTRUCTIONS), "debian-rt"), 140)
    (row,) = [line for line in lines if "2,400" in line]
    assert row.count("[") == 2


def test_figures_without_an_interval_say_why(tmp_path: Path) -> None:
    few = runs([[9_000 + i for i in range(200)]] * 2, timing=Timing.INSTRUCTIONS)
    text = " ".join(shown(campaign_of(tmp_path / "c", few, "debian-rt"), 60))
    assert "an interval needs 10" in text


def test_a_campaign_that_has_not_ended_shows_what_there_is(tmp_path: Path) -> None:
    folder = campaign_of(tmp_path / "c", noisy(0, 12, Timing.INSTRUCTIONS), "debian-rt")
    (folder / "campaign.json").unlink()
    text = " ".join(shown(folder, 80))
    assert "No verdict" in text
    assert "2,400" in text
    assert sum("instructions" in line for line in shown(folder, 120, "--records")) == 12


def test_one_candidate_of_a_folder_is_shown_and_compared(tmp_path: Path, fails: Fails) -> None:
    both = [
        *noisy(0, 12, Timing.INSTRUCTIONS),
        *runs([[9_000] * 200] * 10, timing=Timing.INSTRUCTIONS, candidate="stock"),
    ]
    folder = campaign_of(tmp_path / "c", both, "debian-rt")
    text = " ".join(shown(Path(f"{folder}:rt"), 120))
    assert "2,400" in text
    assert "name the folder alone" in text
    assert "a = rt, b = stock" in rtqual_here("compare", f"{folder}:rt", f"{folder}:stock").stdout
    assert "no record there" in fails(2, "show", f"{folder}:none")


def test_what_a_folder_of_records_shows_is_what_show_takes(tmp_path: Path) -> None:
    folder = campaign_of(tmp_path / "out/c", noisy(0, 12, Timing.INSTRUCTIONS), "debian-rt")
    (first, second) = Store(folder / "records").paths()[:2]
    for name in (first.name, first.name[:12], read_manifest(first).hash[:12]):
        done = rtqual_here("show", name, cwd=tmp_path)
        assert read_manifest(first).hash[:16] in done.stdout, done.stderr
    for number in range(3):  # a name that begins as another's does
        copy = second.with_name(f"{first.name[:12]}{number:04x}-0")
        shutil.copytree(second, copy)
    done = rtqual_here("show", first.name[:12], cwd=tmp_path)
    assert (done.returncode, "give more characters" in done.stderr) == (2, True)


# --- help


def test_help_has_one_spelling_of_lists_and_switches() -> None:
    for command in commands():
        told = rtqual_here(command.name, "--help").stdout
        assert not re.search(r"default: (\(\)|False|\"\"|None)|--empty-|--no-", told), command.name


def test_help_of_a_command_has_examples_that_parse_and_exit_codes() -> None:
    told = rtqual_here("help", "gate").stdout
    assert told == rtqual_here("gate", "--help").stdout
    assert "rtqual gate baseline out/mine-demo --mission-only" in told
    assert "Exit codes: 0 done" in told
    app = application(listed=False)
    for command in commands():
        for example in command.examples:
            words = shlex.split(example.partition(" | ")[0].partition(" > ")[0])
            app.parse_args(words, exit_on_error=False, print_error=False)


def test_bash_completes_the_names_of_a_mission(tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(mission_text("debian-rt", "debian"))
    script = rtqual_here("completion", "bash").stdout
    ask = 'COMP_WORDS=(rtqual select m.toml {0} "{1}") COMP_CWORD=4; _rtqual_or_names; echo "${{COMPREPLY[@]}}"'
    for option, begun, names in (
        ("--scale", "", "demo"),
        ("--candidate", "debian-", "debian-rt"),
        ("--candidate", "", "debian debian-rt"),
    ):
        command = ["bash", "-c", script + ask.format(option, begun)]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout.strip() == names


# --- open


def opened(cwd: Path, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
    return rtqual_here("open", *arguments, cwd=cwd, **{"DISPLAY": "", "WAYLAND_DISPLAY": "", **env})


def report(folder: Path, age_s: int) -> Path:
    folder.mkdir(parents=True)
    path = folder / "report.html"
    path.write_text("<p>")
    os.utime(path, (time.time() - age_s, time.time() - age_s))
    return path


def test_open_prints_the_newest_report_where_nothing_can_show_it(tmp_path: Path) -> None:
    old, new = report(tmp_path / "out/a", 100), report(tmp_path / "out/b", 10)
    assert opened(tmp_path).stdout.strip() == str(new)
    assert opened(tmp_path, "out/a").stdout.strip() == str(old)


def test_open_gives_the_report_to_the_desktop(tmp_path: Path) -> None:
    new, told = report(tmp_path / "out/a", 10), tmp_path / "told"
    viewer = tmp_path / "bin/xdg-open"
    viewer.parent.mkdir()
    os.mkfifo(told)
    viewer.write_text(f'#!/bin/sh\necho "$1" > {told}\n')
    viewer.chmod(0o755)
    assert opened(tmp_path, DISPLAY=":0", PATH=f"{viewer.parent}:{os.environ['PATH']}").returncode == 0
    assert told.read_text().strip() == str(new)  # waits for the viewer, which is not waited for


def test_open_follows_no_link_and_says_what_is_missing(tmp_path: Path, fails: Fails) -> None:
    (tmp_path / "c").mkdir()
    (tmp_path / "c/report.html").symlink_to("/etc/passwd")
    assert "link" in fails(2, "open", tmp_path / "c")
    assert "no report below it" in opened(tmp_path).stderr
    (tmp_path / "d").mkdir()
    assert "rtqual report" in fails(2, "open", tmp_path / "d")
    (tmp_path / "file").touch()
    for wrong in ("nowhere", "file"):
        assert "no folder there" in fails(2, "open", tmp_path / wrong)


# --- completion and the man page


@pytest.mark.parametrize(("shell", "mark"), [("bash", "complete -F"), ("zsh", "#compdef"), ("fish", "complete -c")])
def test_shells_are_told_every_command_and_option(rtqual: Run, shell: str, mark: str) -> None:
    script = rtqual("completion", shell).stdout
    assert mark in script
    for word in ("select", "history", "init", "mission", "check", "tolerance", "dry-run"):
        assert word in script


def test_bash_takes_the_completion(rtqual: Run, tmp_path: Path) -> None:
    (tmp_path / "rtqual").write_text(rtqual("completion", "bash").stdout)
    ask = 'source ./rtqual; COMP_WORDS=(rtqual sel); COMP_CWORD=1; _rtqual rtqual sel rtqual; echo "${COMPREPLY[@]}"'
    done = subprocess.run(["bash", "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["select"]


def test_the_man_page_is_that_of_the_commands() -> None:
    made = subprocess.run([sys.executable, ROOT / "tools/man-page"], capture_output=True, text=True, check=True)
    assert made.stdout == (ROOT / "docs/rtqual.1").read_text(), "run `make man`"


def test_the_page_of_the_missions_keys_is_that_of_the_model() -> None:
    made = subprocess.run([sys.executable, ROOT / "tools/mission-keys"], capture_output=True, text=True, check=True)
    assert made.stdout == (ROOT / "docs/reference/mission.md").read_text(), "run `make man`"

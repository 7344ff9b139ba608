# SPDX-License-Identifier: MIT
"""Commands load only what they need. No test here judges by the clock: it is the modules that cost the time."""

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from cyclopts import App

from rtqual.face.commands.commands import application, commands
from rtqual.protocols.part import load

# What many libraries or long tables come with, and no mission needs to be checked.
OWN = {
    "rtqual.engine.boards.remote.session",
    *(
        f"rtqual.parts.{name}"
        for name in ("images.measuring_root", "images.system", "tailor.account", "studies.catalogue")
    ),
}
HEAVY = {"numpy", "scipy", "duckdb", "matplotlib", "weasyprint", "jinja2", "elftools", "kconfiglib", "qemu", "yaml"}
MISSION = Path(__file__).parents[2] / "docking/missions/docking.toml"
TRY = """
import sys
from rtqual.face.commands.main import main
sys.argv = ["rtqual", *sys.argv[1:]]
try:
    main()
except SystemExit as ended:
    print("modules:", *sys.modules, file=sys.stderr)
    sys.exit(ended.code)
"""


def loaded(*arguments: object) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", TRY, *map(str, arguments)], capture_output=True, text=True, check=True
    )  # fmt: skip
    return set(done.stderr.rpartition("modules:")[2].split())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("mission", "--help"), ("seal", "--help")])
def test_what_only_prints_words_loads_no_library_that_computes(arguments: tuple[str, ...]) -> None:
    assert loaded(*arguments) & HEAVY == set()


def test_the_version_is_told_without_a_library_for_markdown() -> None:
    assert loaded("--version") & {"markdown_it", "pygments", "pydantic"} == set()


@pytest.mark.parametrize("arguments", [("--help",), ("--version",)])
def test_the_list_of_commands_loads_none_of_them(arguments: tuple[str, ...]) -> None:
    assert "pydantic" not in loaded(*arguments)


def test_checking_a_mission_loads_no_library_that_computes() -> None:
    assert loaded("mission", "check", MISSION) & (HEAVY | OWN) == set()


def test_reading_a_campaign_does_not_load_what_resolves_a_kernels_configuration() -> None:
    told = subprocess.run(
        [sys.executable, "-c", "import sys, rtqual.engine.campaign.folder; print(*sys.modules)"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert "rtqual.engine.campaign.folder" in told
    assert not {"kconfiglib", "scipy", "matplotlib", "rtqual.parts.tailor.configure.resolve"} & set(told)


def test_checking_a_mission_asks_apt_once_for_all_its_kernels(tmp_path: Path) -> None:
    asked, apt = tmp_path / "asked", tmp_path / "bin/apt-cache"
    apt.parent.mkdir()
    kernels = "\n".join(f"linux-image-{kind}amd64" for kind in ("", "rt-", "cloud-", "6.12-rt-"))
    apt.write_text(f'#!/bin/sh\necho "$@" >> {asked}\necho "{kernels}"\n')
    apt.chmod(0o755)
    env = {**os.environ, "PATH": f"{apt.parent}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "rtqual", "mission", "check", str(MISSION)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    assert "known to apt" not in done.stdout
    assert len(asked.read_text().splitlines()) == 1


def test_the_list_says_of_each_command_what_its_file_says() -> None:
    for row in commands():
        command = load(row.where)
        text = command.help if isinstance(command, App) else str(command.__doc__)
        assert text.split("\n\n")[0].strip() == row.summary


def test_every_file_of_a_command_is_listed() -> None:
    folder = Path(import_module("rtqual.face.commands").__file__ or "").parent
    shared = {"__init__", "app", "commands", "main", "running"}
    modules = (row.where.partition(":")[0] for row in commands())
    of_face = {one.removeprefix("rtqual.face.commands.") for one in modules if one.startswith("rtqual.face.")}
    assert of_face == {path.stem for path in folder.glob("*.py")} - shared


def test_a_command_that_is_asked_for_tells_all_of_its_text() -> None:
    assert "a command in the record is never run" in (application(listed=False)["reproduce"].help or "")

# SPDX-License-Identifier: MIT
"""What the tests share: the command line as a user runs it, one booted guest, one small finished campaign.

Kernels and the guest's tools come from the user's own cache, so they are downloaded once.
"""

import os
import subprocess
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import nullcontext
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from rtqual.base.apt import fetch_closure
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.debian import prepare
from rtqual.engine.initramfs.contents import TOOL_PACKAGES
from rtqual.protocols.board import Machine
from rtqual.protocols.board.system import Kernel
from support import unit_lane
from support.command import CANDIDATES, Run, mission_text, rtqual_command, rtqual_here
from support.skips import why_not

if TYPE_CHECKING:
    from support.browser import Browser

# A busy machine is slow now and then: how long one example takes says nothing.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# Fixtures that boot guests, fetch Debian's packages or start a browser; a test that uses one is marked `guest`.
OF_GUESTS = {"kernel", "board", "campaign", "chromium"}


def pytest_itemcollected(item: pytest.Item) -> None:
    if OF_GUESTS & set(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.guest)
    if unit_lane.holds(item.path, item.name) and not any(map(item.get_closest_marker, ("guest", "full", "manual"))):
        item.add_marker(pytest.mark.unit)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with unit_lane.no_process() if item.get_closest_marker("unit") else nullcontext():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In continuous integration what is skipped is on the list or a failure."""
    report = yield
    if os.environ.get("CI") and report.skipped and not hasattr(report, "wasxfail"):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        if failure := why_not(reason):
            report.outcome, report.longrepr = "failed", failure
    return report


@pytest.fixture(scope="session")
def rtqual() -> Run:
    """Runs the command, as a process of its own where it gets an environment; never with a traceback."""

    def run(
        *arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        if env is None:
            return rtqual_here(*arguments, cwd=cwd)
        done = subprocess.run(
            rtqual_command(*arguments),
            cwd=cwd,
            env={**os.environ, **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stderr + done.stdout, done.stderr
        return done

    return run


@pytest.fixture(scope="session")
def fails(rtqual: Run) -> Callable[..., str]:
    """Runs a command that must fail with a code and a single line on stderr; returns that line."""

    def run(code: int, *arguments: object, **how: object) -> str:
        done = rtqual(*arguments, **how)
        told = [line for line in done.stderr.splitlines() if not line.startswith("preparing ")]
        assert (done.returncode, len(told)) == (code, 1), (done.returncode, done.stderr)
        assert told[0].startswith("rtqual: ")
        return told[0]

    return run


@pytest.fixture(scope="session")
def kernel() -> Callable[..., Kernel]:
    """Prepares a candidate of CANDIDATES, with further kernel parameters."""

    @cache
    def prepared(name: str, *boot: str) -> Kernel:
        package = CANDIDATES[name].split('"')[1]
        return prepare(name, package, preempt=None, boot=boot, tools=fetch_closure(TOOL_PACKAGES))

    return prepared


@pytest.fixture(scope="session")
def board(kernel: Callable[..., Kernel], tmp_path_factory: pytest.TempPathFactory) -> VirtualBoard:
    """Debian's RT kernel on one CPU; the first job boots it."""
    return VirtualBoard(kernel("debian-rt"), Machine(), tmp_path_factory.mktemp("board") / "scratch")


@pytest.fixture(scope="session")
def mission_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One kernel, idle and loaded, two runs: six cells."""
    path = tmp_path_factory.mktemp("mission") / "tiny.toml"
    path.write_text(mission_text("debian-rt"))
    return path


@pytest.fixture(scope="session")
def campaign(rtqual: Run, mission_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished campaign, with a name that QEMU, the shell and DuckDB each read in their own way."""
    folder = tmp_path_factory.mktemp("campaign") / "one, [two] $three"
    done = rtqual("select", mission_file, "--out", folder, "--json", env={})
    assert done.returncode == 0, done.stderr
    (folder / "verdict.json").write_text(done.stdout)
    return folder


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Browser]":
    from support.browser import started

    with started(tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The library that checks pages for accessibility."""
    from support.browser import axe_library

    return axe_library(tmp_path_factory.mktemp("axe"))

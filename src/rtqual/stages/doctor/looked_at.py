# SPDX-License-Identifier: MIT
"""One thing looked at: what was found, what needs it, what mends it."""

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import wrap
from typing import Any, Literal

from rich.console import Group, RenderableType
from rich.text import Text

from rtqual.base.errors import RunFailed
from rtqual.base.program import run

State = Literal["ok", "warning", "missing"]
_TONES = {"ok": "green", "warning": "yellow", "missing": "red"}
_PATIENCE_S = 10.0
_CHECKOUT = (Path(__file__).parents[4] / "Makefile").exists()  # not where a wheel was installed


@dataclass(frozen=True)
class DoctorCheck:
    """`package`: the Debian packages that mend it. `demo`: the demo cannot run while it is missing."""

    name: str
    state: State
    found: str
    matters: str
    fix: str = ""
    package: str = ""
    demo: bool = False


def demo_can_run(checks: Sequence[DoctorCheck]) -> bool:
    """Whether `make demo` gets to its verdict, which the virtual board gives."""
    return not any(check.state == "missing" and check.demo for check in checks)


def install_command(checks: Sequence[DoctorCheck]) -> str:
    """One command for all missing Debian packages; empty if none is missing."""
    packages = dict.fromkeys(name for check in checks if check.state != "ok" for name in check.package.split())
    return install(" ".join(packages)) if packages else ""


def as_json(checks: Sequence[DoctorCheck]) -> dict[str, Any]:
    return {
        "demo_can_run": demo_can_run(checks),
        "install": install_command(checks),
        "checks": [asdict(check) for check in checks],
    }


def render(checks: Sequence[DoctorCheck]) -> RenderableType:
    """What was found, a line each that no column cuts a path of, and below it what mends the rest."""
    wide = max((len(check.name) for check in checks), default=0)
    lines = [
        Text.assemble(
            (f"{check.state:<9}", _TONES[check.state]),
            f"{check.name:<{wide}}  {check.found}",
            (f"  ({check.matters})", "dim"),
        )
        for check in checks
    ]
    fixes = {check.name: check.fix for check in checks if check.fix and not check.package}
    if command := install_command(checks):
        fixes = {"Debian packages": command, **fixes}
    mends = [Text("\nWhat to do:"), *(Text(f"  {name}\n{_copyable(fix)}") for name, fix in fixes.items())]
    good = demo_can_run(checks)
    start = "The demo can run: make demo" if _CHECKOUT else "A campaign can run: rtqual init, then rtqual select"
    verdict = start if good else f"{start.partition(' can')[0]} cannot run yet."
    return Group(*lines, *(mends if fixes else []), Text(f"\n{verdict}", style="green" if good else "red"))


def _copyable(command: str) -> str:
    """A command in lines that fit a narrow terminal and can be pasted as they stand."""
    if " | " in command:
        return "    " + command.replace(" | ", " |\n      ")
    return " \\\n      ".join(wrap(command, 70, initial_indent="    ", break_long_words=False, break_on_hyphens=False))


def as_root(command: str) -> str:
    return command if os.geteuid() == 0 else f"sudo {command}"


def install(packages: str) -> str:
    return as_root(f"apt-get install {packages}")


def apt_line(packages: Sequence[str]) -> str:
    """What a shell runs to install them and asks nobody; empty where there are none."""
    return install(f"--yes --no-install-recommends {' '.join(packages)}") if packages else ""


def contents(path: str) -> str:
    """A small file of /proc or /sys; empty where it is not there."""
    try:
        return Path(path).read_text().strip()
    except OSError:
        return ""


def said(*command: str) -> str:
    """What a program prints; empty where it is not there or fails."""
    try:
        done = run(command, timeout_s=_PATIENCE_S)
    except RunFailed:
        return ""
    return "" if done.code else done.stdout.strip()

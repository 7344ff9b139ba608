# SPDX-License-Identifier: MIT
"""`rtqual open`."""

import os
import shutil
import subprocess
from pathlib import Path

from rtqual.base import unlinked
from rtqual.base.errors import BadInput
from rtqual.face.commands.app import LITERAL

REPORT = "report.html"


def open_(folder: Path | None = None, /) -> int:
    """Open a report in the browser, and print its path.

    Parameters
    ----------
    folder
        The campaign's folder; the one with the newest report below out/ unless given.
    """
    if folder is not None and not folder.is_dir():
        raise BadInput(f"{folder}: no folder there: give a campaign's, or none for the newest report below out/")
    report = unlinked.require(folder or _newest(), REPORT).absolute()
    if not report.is_file():
        raise BadInput(f"{report.parent}: no {REPORT} there: rtqual report {report.parent} writes it")
    if viewer := _viewer():
        quiet = subprocess.DEVNULL
        subprocess.Popen([viewer, str(report)], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    LITERAL.print(str(report), highlight=False, soft_wrap=True)
    return 0


def _newest() -> Path:
    reports = [path for path in Path("out").glob(f"*/{REPORT}") if not path.is_symlink()]
    if not reports:
        raise BadInput("out/: no report below it: rtqual select MISSION makes one, or give a campaign's folder")
    return max(reports, key=lambda path: path.stat().st_mtime).parent


def _viewer() -> str | None:
    """xdg-open asks the desktop, which there is only where something draws."""
    drawn = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return shutil.which("xdg-open") if drawn else None

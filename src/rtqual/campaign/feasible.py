# SPDX-License-Identifier: MIT
"""Whether a candidate, and a cell of it, can run on this machine, as far as a look tells: nothing is fetched."""

import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from rtqual.base.apt import known
from rtqual.base.architecture import Architecture
from rtqual.base.errors import BadInput, RunFailed
from rtqual.board.local import program
from rtqual.board.machine import emulator_for
from rtqual.board.registry import Starts
from rtqual.campaign.cell import Cell
from rtqual.candidate.rtos import COMPILER
from rtqual.image.measured import programs_of
from rtqual.initramfs.guest import guest_file
from rtqual.load.registry import LOADS
from rtqual.mission import Candidate, Need

_OF_GUESTS = ("rtqual-agent", "rtqual-probe")
_MODULE = ".ko"


def why_not(candidate: Candidate) -> str:
    """Why nothing of a candidate can run here; empty where it seems that it can."""
    try:
        if candidate.architecture:
            _guest(candidate.architecture)
        if candidate.package and candidate.architecture and not candidate.architecture.foreign:
            known(candidate.package)
    except (BadInput, RunFailed) as error:
        return str(error)
    if candidate.place and candidate.place.starts is Starts.IMAGE and not shutil.which(COMPILER):
        return f"{COMPILER}, which builds its image, is missing"
    if candidate.replay and not Path(candidate.replay).parent.is_dir():
        return f"there is no campaign at {Path(candidate.replay).parent}"
    if candidate.tailor:
        named = [*candidate.tailor.patches, *(p for p in (candidate.tailor.source, candidate.tailor.start) if "/" in p)]
        if missing := [name for name in named if not Path(name).exists()]:
            return f"there is no {missing[0]}"
    return ""


@cache
def _guest(architecture: Architecture) -> None:
    """Raises RunFailed where this machine has not what a guest of that processor takes."""
    emulator = emulator_for(architecture)
    if not shutil.which(emulator.qemu):
        raise RunFailed(f"{emulator.qemu} is missing: `apt-get install {emulator.package}`")
    for name in _OF_GUESTS:
        guest_file(name + architecture.suffix)


def why_not_cell(cell: Cell, needs: Sequence[Need]) -> str:
    """Why this cell cannot run where its candidate can."""
    wanted = (cell.instrument.program, *LOADS[cell.load].programs)
    if cell.candidate.root:
        held = programs_of(cell.candidate.root, needs)
        absent = [name for name in wanted if name not in held]
        return f'root = "{cell.candidate.root}" has no {absent[0]}' if absent else ""
    if not cell.place.here and not cell.place.switched:
        return ""
    job = cell.job()
    if job.modules or job.folder == "usb" or cell.instrument.program.endswith(_MODULE):
        return "it needs a guest"
    if cell.place.switched:
        return ""
    absent = [name for name in wanted if not program(name)]
    return f"{absent[0]} is not installed on this machine" if absent else ""

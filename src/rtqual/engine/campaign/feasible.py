# SPDX-License-Identifier: MIT
"""Whether a candidate, and a cell of it, can run here, as far as a look tells: only apt's lists are fetched."""

import shutil
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from rtqual.base.apt import require_known
from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.boards.local import program
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.candidates import linked, rtos
from rtqual.engine.candidates.given import located
from rtqual.engine.candidates.roots import programs_of
from rtqual.engine.candidates.rtos import COMPILER
from rtqual.engine.candidates.sources import own_state
from rtqual.engine.candidates.tried import try_out
from rtqual.engine.instruments.probe.families import LOADED, Probe
from rtqual.engine.mission import FREERTOS, Candidate, Need
from rtqual.protocols.board.registry import Start
from rtqual.protocols.board.system import Rtos
from rtqual.protocols.load.own import load_of

_MODULE = ".ko"
_NEVER_ENDS = (
    "its image polls: a thread that sleeps leaves nothing to those of lower priority, so the threads that work beside "
    "would never end (docs/probe.md)"
)


def why_not(candidate: Candidate) -> str:
    """Why nothing of a candidate can run here; empty where it seems that it can."""
    if candidate.place and (why := candidate.place.why_not(candidate.named)):
        return why
    try:
        if candidate.package and candidate.architecture:
            require_known(candidate.package, candidate.architecture)
        if candidate.image:
            image_of(candidate)
        if candidate.built:
            located(candidate)
    except (BadInput, RunFailed) as error:
        return str(error).removeprefix(f"candidate {candidate.name}: ")
    if candidate.rtos == FREERTOS and not candidate.image and not shutil.which(COMPILER):
        return f"{COMPILER}, which builds its image, is missing"
    if candidate.tailor:
        named = [*candidate.tailor.patches, *(p for p in (candidate.tailor.source, candidate.tailor.start) if "/" in p)]
        if missing := [name for name in named if not Path(name).exists()]:
            return f"there is no {missing[0]}"
    return ""


def image_of(candidate: Candidate) -> Rtos:
    """Its image, which its board has run once. Raises BadInput or RunFailed."""
    if not candidate.image or not candidate.place:
        return rtos.prepare(candidate.name)
    ready = linked.prepare(candidate.name, Path(candidate.image), candidate.rtos or "")
    return try_out(ready, candidate.place.open(Start(candidate.name, system=ready)))


def never_ends(cell: Cell, image: Rtos) -> str:
    """Why this cell would hang: of a load's threads, which sleep too, one keeps out the others and what ends them."""
    return _NEVER_ENDS if image.starves and cell.instrument.family == LOADED else ""


def other_batteries(cells: Sequence[Cell]) -> dict[str, str]:
    """By candidate, why its image must not be ranked with what these cells measure besides: they share no battery."""
    found: dict[str, str] = {}  # name -> its battery's state
    for cell in cells:
        name, image = cell.candidate.name, cell.candidate.image
        if name in found or not isinstance(cell.instrument, Probe):
            continue
        with suppress(BadInput):  # told elsewhere
            found[name] = linked.prepare(name, Path(image)).sizes["battery"] if image else own_state()
    images = {cell.candidate.name for cell in cells if cell.candidate.image}
    own = [state for name, state in found.items() if name not in images]
    wanted = next(iter((*own, *found.values())), "")
    return {
        name: f"its image has the battery's state {state} in it, others here {wanted}: link it with the sources that "
        "`rtqual probe --sources` writes (docs/port.md)"
        for name, state in found.items()
        if state != wanted
    }


def _hangs(cell: Cell) -> str:
    if not cell.candidate.image or cell.instrument.family != LOADED:
        return ""
    try:
        return never_ends(cell, image_of(cell.candidate))
    except (BadInput, RunFailed) as error:  # it was tried before; the machine is too busy now
        return str(error).removeprefix(f"candidate {cell.candidate.name}: ")


def why_not_cell(cell: Cell, needs: Sequence[Need]) -> str:
    """Why this cell cannot run where its candidate can."""
    wanted = (cell.instrument.program, *load_of(cell.load, cell.shape).programs)
    if cell.candidate.root:
        held = programs_of(cell.candidate.root, needs)
        absent = [name for name in wanted if name not in held]
        return f'root = "{cell.candidate.root}" has no {absent[0]}' if absent else ""
    if not cell.place.here and not cell.place.switched:
        modelled = cell.place.why_not(cell.candidate.named) if cell.place.modelled else ""
        return modelled or _hangs(cell)
    job = cell.job()
    given = job.folder == "memory" or (cell.place.here and job.folder == "root") or job.folder in cell.place.disks
    if cell.place.switched and not given:
        return f'it writes to a disk, which the board\'s table must name: disks = {{ {job.folder} = "/dev/..." }}'
    if job.modules or not given or cell.instrument.program.endswith(_MODULE):
        return "it needs a guest"
    if cell.place.switched:
        return ""
    absent = [name for name in wanted if not program(name)]
    return f"{absent[0]} is not installed on this machine" if absent else ""

# SPDX-License-Identifier: MIT
"""How long cells take and how much disk they need."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rtqual.engine.campaign.cell import Cell
from rtqual.protocols.board.registry import Starts

_BOOT_S = 6.0
_SWITCH_S = 120.0  # a board starts twice, and takes the upload between
_RECORD_BYTES, _REPORT_BYTES = 64 * 2**10, 4 * 2**20  # saved guests lie in the cache


@dataclass(frozen=True)
class Cost:
    cells: int
    wall_s: float
    disk_b: int


def cost_of(cells: Sequence[Cell], workers: int, *, booting: bool = True) -> Cost:
    """Time and disk for cells that are still to run; `booting`: their boards have still to boot."""
    together = [cell for cell in cells if not cell.place.here and not cell.place.switched]
    boards = {(cell.candidate.name, cell.machine) for cell in together if cell.place.starts is Starts.KERNEL}
    alone = [cell for cell in cells if cell.place.here or cell.place.switched]
    wall_s = sum(cell.estimate_s for cell in alone) + _SWITCH_S * _switches(alone)
    together_s = sum(cell.estimate_s for cell in together) + _BOOT_S * len(boards) * booting
    wall_s += together_s / max(1, min(workers, len(together)))
    return Cost(len(cells), wall_s, _RECORD_BYTES * len(cells) + _REPORT_BYTES * bool(cells))


def _switches(cells: Sequence[Cell]) -> int:
    """How often a board is brought to another candidate than before."""
    runs = [(cell.place.name, cell.candidate.name) for cell in cells if cell.place.switched]
    return sum(before != after for before, after in pairwise([None, *runs]))

# SPDX-License-Identifier: MIT
"""The cells that a mission asks for at a scale, in the order they run.

Cells of this machine run first and alone; then guests, two at a time. Every group of deterministic cells runs one
cell a second time, to test that it is.
"""

from dataclasses import replace
from itertools import product

from rtqual.analysis.figure.model import Group
from rtqual.campaign.cell import Cell
from rtqual.instrument.registry import INSTRUMENTS
from rtqual.mission import Mission


def plan(mission: Mission, scale: str) -> list[Cell]:
    """Every cell of a scale, interleaved: the first run of every group, then the second of every group..."""
    rounds: dict[int, dict[tuple[Group, int], Cell]] = {}
    for part in mission.scale(scale).plan:
        for candidate, name, load in product(mission.candidates_of(part), part.instruments, part.loads):
            instrument = INSTRUMENTS[name]
            parameters = instrument.parameters.model_validate(mission.parameters_for(scale, name, part))
            place = candidate.place
            for cpus in (place.cpus(),) if place and place.cpus else part.cpus:
                for run in range(part.runs):
                    cell = Cell(candidate, instrument, parameters, load, cpus, seed=run + 1)
                    rounds.setdefault(2 * run, {})[cell.group, 0] = cell
                    if run == 0 and cell.place.repeats:
                        rounds.setdefault(1, {})[cell.group, 1] = replace(cell, repeat=1)
    ordered = [cell for number in sorted(rounds) for cell in rounds[number].values()]
    return sorted(ordered, key=lambda cell: not cell.place.here)

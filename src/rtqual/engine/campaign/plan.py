# SPDX-License-Identifier: MIT
"""The cells that a mission asks for at a scale, in the order they run.

Cells of this machine run first and alone; then guests, two at a time; then boards on the network, where a switch of the
candidate costs minutes. Every group of deterministic cells runs one cell a second time, to test that it is.

Where a plan says runs = "auto", all of its groups run as often as the first look asks; then those go on that are not
decided (engine/analysis/verdict/stopping.py), until the next look.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.mission import Mission, Plan, PlannedCell, Program
from rtqual.engine.mission.values import AUTO
from rtqual.protocols.board.registry import BoardRow, Starts
from rtqual.protocols.instrument import Parameters
from rtqual.protocols.load import Shape
from rtqual.protocols.load.own import OwnLoad, shape_of


def plan(mission: Mission, scale: str, runs: Mapping[PlannedCell, int] | None = None) -> list[Cell]:
    """Every cell of a scale, interleaved: the first run of every group, then the second of every group...

    Where runs are "auto": up to the number given of each cell; without numbers as many as there may be.
    """
    rounds: dict[int, dict[tuple[Group, int], Cell]] = {}
    boots = mission.scale(scale).boots
    for part in mission.scale(scale).plan:
        parameters = {name: _parameters(mission, scale, name, part) for name in part.instruments}
        for candidate, name, load in product(mission.candidates_of(part), part.instruments, part.loads):
            shape = _shape(mission, load)
            for places in _alike(mission.places_of(part, candidate)):
                first = places[0]
                for cpus in (first.cpus(),) if first.cpus else part.cpus:
                    planned = first.name, candidate.name, name, load, 0 if first.cpus else cpus
                    group = Group(name, load, first.name, cpus, candidate.name)
                    for run in range(runs.get(planned, 0) if runs and part.runs == AUTO else part.looks[-1]):
                        place = places[run % len(places)]
                        cell = Cell(
                            candidate, mission.instrument(name), parameters[name], load, cpus,
                            seed=run + 1, place=place, boot=_boot(place, run, boots), shape=shape,
                        )  # fmt: skip
                        rounds.setdefault(2 * run, {})[group, 0] = cell
                        if run == 0 and place.repeats:
                            rounds.setdefault(1, {})[group, 1] = replace(cell, repeat=1)
    ordered = [cell for number in sorted(rounds) for cell in rounds[number].values()]
    together = [cell for cell in ordered if not cell.place.here and not cell.place.switched]
    return [*(cell for cell in ordered if cell.place.here), *together, *in_blocks(ordered)]


def _boot(place: BoardRow, run: int, boots: int) -> int:
    return _turn(run, boots) if place.repeats and place.starts is Starts.KERNEL else 0


def _turn(run: int, boots: int) -> int:
    """Each round another way: every second run begins later (engine/boards/virtual.py), of each boot."""
    return (run + run // boots) % boots


def _parameters(mission: Mission, scale: str, name: str, part: Plan) -> Parameters:
    instrument = mission.instrument(name)
    parameters = instrument.parameters.model_validate(mission.parameters_for(scale, name, part))
    settled: Parameters = instrument.settled(parameters, mission.folder)
    return settled


def _shape(mission: Mission, load: str) -> Shape | None:
    """How a load runs, where it is not as usual; of the mission's own, what it runs."""
    if load not in mission.loads:
        return None
    shape = shape_of(load).model_validate(mission.loads[load])
    if isinstance(shape, OwnLoad) and shape.program:
        program = next(program for program in mission.programs if program.name == shape.program)
        return mission.instrument(program.instrument).as_load(own_parameters(mission, program), shape)
    return shape


def own_parameters(mission: Mission, program: Program) -> Parameters:
    """Of a program of the mission's own, at no scale."""
    instrument = mission.instrument(program.instrument)
    settled: Parameters = instrument.settled(instrument.parameters.model_validate({"program": program}), mission.folder)
    return settled


def _alike(places: Sequence[BoardRow]) -> list[list[BoardRow]]:
    """Boards of a model together: they share the runs, turn by turn, so that each measures every candidate."""
    found: dict[str, list[BoardRow]] = {}
    for row in places:
        found.setdefault(row.name, []).append(row)
    return list(found.values())


def in_blocks(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of boards whose candidates are switched, board by board: half of every candidate's cells in one order
    of the candidates, the other half in the reverse order. What drifts evenly adds the same to all of them."""
    blocks: list[Cell] = []
    for place in dict.fromkeys(cell.place for cell in cells if cell.place.switched):
        of: dict[str, list[Cell]] = {}
        for cell in cells:
            if cell.place == place:
                of.setdefault(cell.candidate.name, []).append(cell)
        first = [cell for some in of.values() for cell in some[: (len(some) + 1) // 2]]
        second = [cell for some in reversed(of.values()) for cell in some[(len(some) + 1) // 2 :]]
        blocks += [*first, *second]
    return blocks

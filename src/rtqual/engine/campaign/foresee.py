# SPDX-License-Identifier: MIT
"""What is certain before anything runs: limits that a scale cannot judge, and why nobody can fly by it.

The analysis judges by what was measured; here stands only what follows from the plan whatever is measured.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rtqual.base.words import count, listed, under
from rtqual.engine.analysis.figure.asked import (
    EXTREMES,
    NONE_SEEN,
    QUANTILES,
    RUNS_FOR_INTERVAL,
    RUNS_FOR_STD,
    RUNS_TO_JUDGE,
    figure_name,
    samples_needed,
    usual_cpus,
)
from rtqual.engine.boards.guest import why_no_hardware
from rtqual.engine.boards.local import hypervisor
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.feasible import other_batteries, why_not, why_not_cell
from rtqual.engine.campaign.plan import plan
from rtqual.engine.mission import Candidate, Mission, Requirement
from rtqual.protocols.board.registry import Clock
from rtqual.protocols.part import keyed

Cells = Mapping[tuple[str, str, str], Sequence[Cell]]  # by candidate, instrument and load
_EMULATED = "the emulator's counted instructions rank kernels only: to fly one, measure it on the board"
_UNSTATED = "this machine is a flight candidate only where release or preempt-rt says what it must run"


@dataclass(frozen=True)
class Foresight:
    """`remarks`: what will not be measured or judged, a line each; `nobody`: why no candidate can fly, else empty."""

    remarks: tuple[str, ...]
    nobody: str

    def lines(self, scale: str) -> Iterator[str]:
        yield from (f"scale {scale}: {remark}" for remark in self.remarks)
        if self.nobody:
            yield f"scale {scale}: no candidate can fly because {self.nobody}"


def series_judged(mission: Mission) -> Iterator[str]:
    """Of every requirement on an instrument that samples several series: which of them it holds for."""
    for requirement in mission.requirements:
        if requirement.statistic and mission.instrument(requirement.instrument).several:
            of = (
                f"those that match '{requirement.series}'"
                if requirement.series
                else 'all of them; series = "NAME" names one'
            )
            several = f"{requirement.instrument} samples several series"
            yield f"requirement '{requirement.name}': {several}; it holds for {of}"
    for criterion in mission.criteria:
        if criterion.statistic and mission.instrument(criterion.instrument).several and not criterion.series:
            yield (
                f"criterion '{criterion.name}': {criterion.instrument} samples several series; it ranks by the first; "
                'series = "NAME" names another'
            )


def foresee(mission: Mission, scale: str) -> Foresight:
    """Looks at this machine too: at its programs, its kernel and what apt knows."""
    cells: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
    for cell in plan(mission, scale):
        if not cell.repeat:
            cells[cell.candidate.name, cell.instrument.name, cell.load].append(cell)
    names = {name for name, _, _ in cells}
    candidates = [other_candidate for other_candidate in mission.candidates if other_candidate.name in names]
    on_board = {name for (name, _, _), some in cells.items() if any(cell.place.switched for cell in some)}
    found: dict[str, dict[str, bool]] = {}  # candidate -> what is wrong -> whether it keeps the candidate from flying
    strange = other_batteries([cell for some in cells.values() for cell in some])
    for candidate in candidates:
        broken = why_not(candidate)
        if candidate.tailor and candidate.architecture and not broken:
            contradiction = keyed("contradictions", candidate.kind.key, f"{candidate.name}: a tailored kernel")
            broken = contradiction(candidate, mission.mission.needs)
        broken = broken or strange.get(candidate.name, "")
        found[candidate.name] = {broken: True} if broken else dict(_problems(mission, candidate, cells))
    every = dict.fromkeys(problem for problems in found.values() for problem in problems)
    of = {problem: [name for name, problems in found.items() if problem in problems] for problem in every}
    remarks = [name if len(of[name]) == len(found) else f"{listed(of[name])}: {name}" for name in every]
    return Foresight(tuple(remarks), _nobody(mission, candidates, found, on_board))


def _problems(mission: Mission, candidate: Candidate, cells: Cells) -> Iterator[tuple[str, bool]]:
    lacking = [need for need in mission.mission.needs if candidate.place and need in candidate.place.lacks]
    if lacking and candidate.place:
        yield f"the {candidate.place.name} board has no controller for {listed(lacking)}: try that on yours", False
    judged = {(judge.instrument, judge.load) for judge in mission.requirements}
    for (name, instrument, load), some in cells.items():
        if name == candidate.name and (why := why_not_cell(some[0], mission.mission.needs)):
            yield f"{instrument} {under(load)} cannot run: {why}", (instrument, load) in judged
        elif name == candidate.name and (why := _unseen(candidate, some[0])):
            yield f"{instrument}: {why}", False
    for requirement in mission.requirements:
        if why := _why_not_judged(
            requirement, cells.get((candidate.name, requirement.instrument, requirement.load), ())
        ):
            yield why, True


def _unseen(candidate: Candidate, cell: Cell) -> str:
    of_debian = candidate.architecture if candidate.package else None
    return cell.instrument.unseen(cell.parameters, of_debian) if of_debian else ""


def _why_not_judged(asked: Requirement, cells: Sequence[Cell]) -> str:
    """Why a requirement cannot be met whatever these cells measure; empty where it can."""
    if not cells:
        return f"no plan measures '{asked.name}' ({asked.instrument} {under(asked.load)})"
    cpus = usual_cpus((cell.cpus, 1) for cell in cells)
    counted = [cell for cell in cells if cell.cpus == cpus]
    name, needed = figure_name(asked), runs_needed(asked)
    if len(counted) < needed:
        return f"'{asked.name}' gets {count(len(counted), 'run')} and {name} needs {needed}"
    drawn = [cell.instrument.samples(cell.parameters, cpus=cpus) for cell in counted]
    samples = sum(number for number in drawn if number is not None)
    if None not in drawn and samples < samples_to_meet(asked):
        return f"'{asked.name}' gets {count(samples, 'sample')} and {name} needs {samples_to_meet(asked):,}"
    return ""


def runs_needed(asked: Requirement) -> int:
    """The least runs by which a limit can be met: but for extremes and sizes it takes an interval."""
    if asked.scalar:  # of a size one reading is enough, and a number without a unit may be of one
        return RUNS_FOR_INTERVAL if asked.limit.unit == "ns" or asked.scalar.endswith("_per_s") else 1
    if asked.statistic in EXTREMES:
        return RUNS_TO_JUDGE
    return RUNS_FOR_STD if asked.statistic == "std" else RUNS_FOR_INTERVAL


def samples_to_meet(asked: Requirement) -> int:
    """The least samples by which a limit can be met: a quantile has an upper end with NONE_SEEN beyond it."""
    name = figure_name(asked)
    if asked.scalar:
        return 1
    beyond = math.ceil(NONE_SEEN / float(1 - QUANTILES[name])) if asked.at_most and name in QUANTILES else 1
    return max(samples_needed(name), beyond)


def _nobody(
    mission: Mission,
    candidates: Sequence[Candidate],
    found: Mapping[str, Mapping[str, bool]],
    on_board: Collection[str],
) -> str:
    if any(other_candidate.published for other_candidate in mission.candidates):
        return ""  # a study's figures need no plan
    if not mission.requirements and not mission.mission.needs:
        return "the mission sets no requirement"
    stops: dict[str, list[str]] = {}  # why -> candidates
    for candidate in candidates:
        whys = [why for why, stopping in found[candidate.name].items() if stopping]
        whys = whys or ([] if candidate.name in on_board else _no_flight(mission, candidate))
        if not whys:
            return ""
        for why in whys:
            stops.setdefault(why, []).append(candidate.name)
    shared = [why for why, names in stops.items() if len(names) == len(candidates)]
    if shared:
        more = f" (and {len(shared) - 1} more)" if len(shared) > 1 else ""
        return f"{shared[0]}{more}"
    firsts = {
        other_candidate.name: next(why for why, names in stops.items() if other_candidate.name in names)
        for other_candidate in candidates
    }
    grouped = {why: [name for name in firsts if firsts[name] == why] for why in dict.fromkeys(firsts.values())}
    return "; ".join(f"{listed(names)}: {why}" for why, names in grouped.items())


def _no_flight(mission: Mission, candidate: Candidate) -> list[str]:
    """Why a candidate's figures clear nobody to fly, however good they are."""
    if candidate.is_here:
        guest_of = hypervisor()
        unstated = [] if candidate.release or candidate.preempt_rt is not None else [_UNSTATED]
        return [why_no_hardware(guest_of, "this machine")] if guest_of else unstated
    counted = candidate.place is not None and candidate.place.clock is not Clock.REAL
    return [_EMULATED] if counted and not mission.mission.accept_virtual else []

# SPDX-License-Identifier: MIT
"""`rtqual verify`: a flight program under telecommands and faults, with its operating system and load.

Each procedure is a cell of a campaign, played twice where the board repeats. Judged is what the records keep, so a
finished campaign is judged again without playing anything.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.base.words import under
from rtqual.engine.analysis.verdict.clock import of_board
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.lost import Lost
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.dialogue.robust import ROBUST
from rtqual.engine.mission import Candidate, Mission, RootSystem
from rtqual.engine.mission.explain import suggest
from rtqual.engine.mission.load import verify_problems
from rtqual.engine.mission.verify_table import Camera, Verify
from rtqual.engine.procedure.compliance import PlayedRun, control, unasked
from rtqual.engine.procedure.described import Described, TimedStep
from rtqual.engine.procedure.played_log import PREFIX
from rtqual.protocols.board.registry import BoardRow
from rtqual.protocols.record.schema import Record
from rtqual.protocols.record.store import Store, read
from rtqual.reports.control import FORMS, write_control
from rtqual.reports.control import contents_of as documents_of
from rtqual.reports.page.document import AS_USUAL, Printed
from rtqual.reports.verification import Verified, open_by
from rtqual.stages.flown import Flown, flown, flown_before

SMOKE, FULL, SOAK, ROBUSTNESS = "smoke", "full", "soak", "robustness"
SCALES = (
    SMOKE,
    FULL,
)  # of procedures; SOAK has its segments, as many as fill its hours; ROBUSTNESS procedures of its own


@dataclass(frozen=True)
class VerifyPlan:
    """What is asked for."""

    mission: Mission
    verify: Verify
    flown: Flown
    played: tuple[Described[TimedStep], ...]
    scale: str

    @property
    def procedures(self) -> tuple[Described[TimedStep], ...]:
        """All there are."""
        return tuple(self.flown.procedures)


def plan(
    mission: Mission,
    scale: str = FULL,
    only: Collection[str] = (),
    candidate: str | None = None,
    camera: str | None = None,
) -> VerifyPlan:
    """`candidate`, `camera`: in place of the mission's. Raises BadInput where the mission says nothing of it, or a name
    is unknown."""
    where = mission.path or mission.mission.name
    if mission.verify is None:
        raise BadInput(f"{where}: has no [verify]: say which candidate, which procedures and what they must show")
    if camera is not None and camera not in list(Camera):
        raise BadInput(f"--camera {camera!r}: {suggest(camera, [camera.value for camera in Camera])}")
    if camera is not None and mission.verify.program:
        raise BadInput(f"--camera {camera}: is of rtqual's own flight program; {mission.verify.program} has none")
    asked = {"candidate": candidate or mission.verify.candidate, "camera": Camera(camera or mission.verify.camera)}
    if (verify := mission.verify.model_copy(update=asked)) != mission.verify:
        return plan(_on(mission, verify), scale, only)
    if scale not in (*SCALES, SOAK, ROBUSTNESS):
        raise BadInput(f"--scale {scale!r}: {suggest(scale, SCALES)}")
    program = flown(mission, mission.verify, robustness=scale == ROBUSTNESS)
    folder = (mission.path.parent if mission.path else Path()) / mission.verify.procedures
    procedures: Sequence[Described[TimedStep]] = program.procedures
    names = [procedure.name for procedure in procedures]
    for name in only:
        if name not in names:
            raise BadInput(f"--only {name!r}: there is no such procedure in {folder}; {suggest(name, names)}")
    board = mission.verify.board
    for procedure in procedures:
        if board and procedure.emulated and procedure.name in only:
            raise BadInput(
                f"--only {procedure.name}: resets and peers are played on the virtual board only, not on {board}"
            )
    played = tuple(
        procedure
        for procedure in procedures
        if (procedure.name in only if only else _is_of(procedure, scale)) and not (board and procedure.emulated)
    )
    if not played and scale == SOAK:
        raise BadInput(f"{folder}: no procedure is marked `soak = true`, as a segment of a soak")
    if not played:
        raise BadInput(f"{folder}: no procedure is marked `smoke = true`: mark one, or use --scale {FULL}")
    return VerifyPlan(mission, _asking(mission.verify, scale), program, played, scale)


def _asking(verify: Verify, scale: str) -> Verify:
    """With what is asked at this scale."""
    return verify.model_copy(update={"requirements": (ROBUST,)}) if scale == ROBUSTNESS else verify


def _on(mission: Mission, verify: Verify) -> Mission:
    """The mission with another candidate in its [verify]."""
    changed = mission.model_copy(update={"verify": verify}).derived_from(mission)
    for problem in verify_problems(changed):
        raise BadInput(f"--candidate {verify.candidate}: {problem.message}")
    return changed


def _is_of(procedure: Described[TimedStep], scale: str) -> bool:
    if procedure.soak or scale == SOAK:
        return procedure.soak and scale == SOAK
    return scale in (FULL, ROBUSTNESS) or procedure.smoke


def segments(asked: VerifyPlan, hours: float) -> int:
    """So many runs of the soak's procedures, each with another seed, last `hours` on the board."""
    return math.ceil(hours * 3600 * 10**9 / sum(procedure.ends for procedure in asked.played))


def campaign(asked: VerifyPlan, folder: Path, workers: int, seeds: int = 1, *, run_programs: bool = False) -> Campaign:
    """Its cells: each procedure with each seed, and then each once more where a second run must be equal."""
    candidate = next(candidate for candidate in asked.mission.candidates if candidate.name == asked.verify.candidate)
    place = _place(asked, candidate)
    cpus = place.cpus() if place.cpus else 1
    cells = [
        Cell(candidate, instrument, parameters, asked.verify.load, cpus, seed=seed, place=place)
        for seed in range(1, seeds + 1)
        for instrument, parameters in asked.flown.instruments(asked.played)
    ]
    again = [replace(cell, repeat=1) for cell in cells if cell.seed == 1] if place.repeats else []
    scale, cells = kept.VERIFY + asked.scale, [*cells, *again]
    return Campaign(asked.mission, scale, folder, workers=workers, cells=cells, run_programs=run_programs)


def _place(asked: VerifyPlan, candidate: Candidate) -> BoardRow:
    """Where it is played. Raises BadInput where it cannot be."""
    for board in asked.mission.boards:
        if board.name == asked.verify.board:
            if board.settings.by_card:
                raise BadInput(f"board {board.name}: has no network; procedures are played over ssh")
            return board.place
    place = candidate.place
    if candidate.root == RootSystem.DEBIAN:
        raise BadInput(f"candidate {candidate.name}: procedures are played under a minimal root, or without one")
    if place is None or not place.linux or place.here:
        raise BadInput(f"candidate {candidate.name}: give [verify] a board; procedures are not played on this machine")
    return place


def verify(asked: VerifyPlan, made: Campaign, watcher: Watcher) -> Verified:
    """Play what is not yet played, judge all of it, write the report."""
    with kept.alone(made.folder):
        content = kept.content_of(asked.mission)
        kept.begin(made.folder)
        result = replace(made.run(watcher), procedures=asked.flown.kept())
        result = replace(result, records=(*result.records, *unlike(made.store, result.records)))
        derived = asked.mission if asked.mission.is_derived else None
        digest = kept.keep(made.folder, content, made.scale, result, derived=derived)
        verified = _of(kept.KeptCampaign(asked.mission, made.scale, result, digest))
        watcher.preparing("the report")
        return replace(verified, files=write_control(made.folder, verified))


def unlike(store: Store, records: Sequence[Record]) -> list[Record]:
    """Second runs that gave another log or other problems: each is evidence of its own, and may have failed alone."""
    again = [(record, store.path(record.inputs.key(), 1)) for record in records]
    second = [(record, read(path)) for record, path in again if path.exists()]
    return [other for record, other in second if _found(other) != _found(record)]


def _found(record: Record) -> tuple[str, list[str]]:
    return record.manifest.hash, record.manifest.problems


def verified_in(folder: Path) -> Verified:
    """What the records of a folder say, with the procedures that it keeps; nothing is played. Raises BadInput."""
    return _of(kept.load(folder))


def report(
    folder: Path, formats: Collection[str] = FORMS, out: Path | None = None, printed: Printed = AS_USUAL
) -> Verified:
    """The document of a folder again; `out`: the file for its only format, in place of the folder."""
    if out is not None and len(formats) != 1:
        raise BadInput(f"--out {out}: takes one format; name it with --format ({', '.join(FORMS)})")
    if out is not None:
        verified = verified_in(folder)
        return replace(verified, files=write_control(out.parent, verified, formats, out, printed))
    with kept.alone(folder):
        verified = verified_in(folder)
        return replace(verified, files=write_control(folder, verified, formats, printed=printed))


def contents_of(campaign: kept.KeptCampaign, formats: Collection[str], printed: Printed = AS_USUAL) -> dict[str, bytes]:
    """What the documents of a verification hold, by their files; nothing is written."""
    return documents_of(_of(campaign), formats, printed)


def _of(campaign: kept.KeptCampaign) -> Verified:
    mission, result, scale = campaign.mission, campaign.result, campaign.scale.removeprefix(kept.VERIFY)
    if mission.verify is None or result.procedures is None:
        raise BadInput(f"{mission.path}: keeps no procedures to judge by: run `rtqual verify` there again")
    failures = {group.instrument.removeprefix(PREFIX): why for group, why in result.failures.items()}
    program = flown_before(mission, mission.verify, result.procedures)
    asked = VerifyPlan(mission, _asking(mission.verify, scale), program, tuple(program.procedures), scale)
    verified = judged(asked, result.records, failures, tuple(result.lost.values()))
    return replace(verified, digest=campaign.digest)


def judged(
    asked: VerifyPlan, records: Sequence[Record], failures: dict[str, str], lost: Sequence[Lost] = ()
) -> Verified:
    """What the records say; nothing is played. `failures`: procedures that gave no record, and why."""
    by_name = {procedure.name: procedure for procedure in asked.played}
    runs, measured = [], []
    for record in records:
        name = record.inputs.instrument.removeprefix(PREFIX)
        procedure = by_name.get(name)
        if procedure is None:
            failures = {**failures, name: "there is a record of it, but no procedure to judge that by"}
            continue
        runs.append(
            PlayedRun(
                procedure=procedure.name,
                record=record.manifest.hash,
                board=record.inputs.board,
                candidate=record.inputs.candidate,
                seed=record.inputs.seed,
                repeat=record.manifest.repeat,
                timing=of_board(record.inputs.board, record.manifest.timing),
                judgement=asked.flown.judged(procedure, record),
                problems=(*_of_another(asked, record), *record.manifest.problems),
                guest_of=record.manifest.provenance.facts.get("hypervisor", ""),
            )
        )
        measured.append(record)
    requirements = asked.verify.requirements
    pairs = zip(runs, measured, strict=True)
    soaked = [
        (by_name[run.procedure], record) for run, record in pairs if not run.repeat and by_name[run.procedure].soak
    ]
    return Verified(
        mission=asked.mission,
        scale=asked.scale,
        candidate=asked.verify.candidate,
        camera=asked.verify.camera,
        load=asked.verify.load,
        procedures=asked.procedures,
        runs=tuple(runs),
        records=tuple(measured),
        rows=control(requirements, asked.procedures, runs, failures, open_by(lost)),
        failures=failures,
        lost=tuple(lost),
        trends=asked.flown.trends(soaked),
        unasked=unasked(requirements, asked.procedures),
        dictionary=asked.flown.dictionary,
    )


def _of_another(asked: VerifyPlan, record: Record) -> list[str]:
    """Why a record is no evidence of what is asked, whatever its log says."""
    on, load, board = record.inputs.candidate, record.inputs.load, record.inputs.board
    if (on, load) != (asked.verify.candidate, asked.verify.load):
        return [f"it was played on {on}, {under(load)}"]
    by = record.inputs.parameters.get("camera", Camera.UVCVIDEO)
    if by != asked.verify.camera:
        return [f"frames came by {by}"]
    models = {board.model for board in asked.mission.boards if board.name == asked.verify.board}
    return [f"it was played on {board}"] if models and board not in models else []

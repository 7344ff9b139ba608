# SPDX-License-Identifier: MIT
"""What the played procedures say of the mission's requirements."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from rtqual.engine.boards.guest import why_no_hardware
from rtqual.engine.mission.verify_table import SystemRequirement
from rtqual.engine.procedure.described import Described, TimedStep
from rtqual.engine.procedure.judging import Judgement
from rtqual.protocols.record.schema import Timing


class RunResult(StrEnum):
    """Of a run. Without evidence nobody knows: the log is not whole, or what measured was not as it should be."""

    PASSED = "passed"
    FAILED = "failed"
    UNKNOWN = "no evidence"


@dataclass(frozen=True)
class PlayedRun:
    """A procedure once played. `record`: the hash of what it left."""

    procedure: str
    record: str
    board: str
    candidate: str
    seed: int
    repeat: int
    timing: Timing
    judgement: Judgement
    problems: tuple[str, ...] = ()  # why its figures decide nothing
    guest_of: str = ""  # a hypervisor; empty: the board is a computer

    @property
    def result(self) -> RunResult:
        if self.judgement.unsound or self.problems:
            return RunResult.UNKNOWN
        return RunResult.PASSED if self.judgement.passed else RunResult.FAILED

    @property
    def passed(self) -> bool:
        return self.result is RunResult.PASSED

    @property
    def why(self) -> str:
        return self.problems[0] if self.problems else self.judgement.why


class Compliance(StrEnum):
    YES = "compliant"
    NO = "not compliant"
    OPEN = "open"


@dataclass(frozen=True)
class ControlRow:
    """A line of the verification control document."""

    requirement: SystemRequirement
    procedures: tuple[str, ...]  # all that name it
    runs: tuple[PlayedRun, ...]
    compliance: Compliance
    why: str  # of what is not compliant, or open
    closed: str  # close-out


def control(
    requirements: Sequence[SystemRequirement],
    procedures: Sequence[Described[TimedStep]],
    runs: Sequence[PlayedRun],
    failures: Mapping[str, str],
    lost: Mapping[str, str],
) -> tuple[ControlRow, ...]:
    """A row a requirement. `failures`: procedures that gave no record, and why; `lost`: those of which a run gave none
    before it was played again."""
    return tuple(
        _row(requirement, [p.name for p in procedures if requirement.id in p.verifies], runs, failures, lost)
        for requirement in requirements
    )


def _row(
    requirement: SystemRequirement,
    names: Sequence[str],
    runs: Sequence[PlayedRun],
    failures: Mapping[str, str],
    lost: Mapping[str, str],
) -> ControlRow:
    own = tuple(run for run in runs if run.procedure in names)
    missing = [name for name in names if not any(run.procedure == name for run in own)]
    failed = next((run for run in own if run.result is RunResult.FAILED), None)
    unknown = next((run for run in own if run.result is RunResult.UNKNOWN), None)
    if failed:
        compliance, why = Compliance.NO, f"{failed.procedure}: {failed.why}"
    elif not names:
        compliance, why = Compliance.OPEN, "no procedure verifies it"
    elif without := next((name for name in names if name in failures), None):
        compliance, why = Compliance.OPEN, f"{without} gave no record: {failures[without]}"
    elif missing:
        compliance, why = Compliance.OPEN, f"not played: {', '.join(missing)}"
    elif unknown:
        compliance, why = Compliance.OPEN, f"{unknown.procedure}: {unknown.why}"
    elif again := next((name for name in names if name in lost), None):
        compliance, why = Compliance.OPEN, f"{again}: {lost[again]}"
    else:
        compliance, why = Compliance.YES, ""
    return ControlRow(requirement, tuple(names), own, compliance, why, _closed(compliance, own))


def _closed(compliance: Compliance, runs: Sequence[PlayedRun]) -> str:
    """Time that counts instructions is no time, and an emulator in real time is late when its host is: what they show
    closes nothing."""
    if compliance is not Compliance.YES:
        return "open"
    if any(run.timing is not Timing.REAL for run in runs):
        return "open: the virtual board closes no requirement"
    guests = [run.guest_of for run in runs if run.guest_of]
    return f"open: {why_no_hardware(guests[0], 'the board')}" if guests else "closed"


def unasked(requirements: Sequence[SystemRequirement], procedures: Sequence[Described[TimedStep]]) -> tuple[str, ...]:
    """Requirements that procedures name and the mission does not have."""
    known = {requirement.id for requirement in requirements}
    return tuple(
        f"{procedure.name} verifies {name}"
        for procedure in procedures
        for name in procedure.verifies
        if name not in known
    )

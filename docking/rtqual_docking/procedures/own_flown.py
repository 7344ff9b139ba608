# SPDX-License-Identifier: MIT
"""rtqual's own flight program, with its camera, as what `rtqual verify` plays procedures to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.answer_times import AnswerTime
from rtqual.engine.mission import Mission
from rtqual.engine.mission.verify_table import Camera, Verify
from rtqual.engine.procedure.judging import Judgement
from rtqual.engine.procedure.kinds import ProgramKind
from rtqual.engine.procedure.played_log import log_of
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.record.schema import Record
from rtqual.reports.trends import Trend, trends
from rtqual_docking.packets.definition import Definition
from rtqual_docking.packets.definition import load as load_definition
from rtqual_docking.procedure import instruments
from rtqual_docking.procedures.checked_procedures import procedures_of
from rtqual_docking.procedures.kept_procedures import Procedures
from rtqual_docking.procedures.log_figures import answers, figures
from rtqual_docking.procedures.model import Procedure
from rtqual_docking.procedures.peer import judged
from rtqual_docking.procedures.script import FRAME_FILE, STATE_FILE

_ARGUMENTS = f"--state={STATE_FILE} --frame={FRAME_FILE}"  # of the flight program
_CAMERAS = {Camera.UVCVIDEO: "--device=/dev/video0", Camera.DRIVER: "--camera=driver"}  # and before them


@dataclass(frozen=True)
class OwnProgram:
    """Its procedures, and how they are played and judged."""

    verify: Verify
    procedures: Sequence[Procedure]
    definition: Definition
    dictionary: str = ""
    untried: Mapping[str, str] = field(default_factory=dict)

    def kept(self) -> Procedures:
        return Procedures(procedures={procedure.name: procedure for procedure in self.procedures})

    def instruments(self, played: Sequence[Procedure]) -> list[tuple[Instrument, Parameters]]:
        camera = self.verify.camera
        made = instruments(played, self.definition, f"{_CAMERAS[camera]} {_ARGUMENTS}", camera)
        return [(instrument, instrument.parameters()) for instrument in made]

    def judged(self, procedure: Procedure, record: Record) -> Judgement:
        return judged(procedure, log_of(record), self.definition, record.manifest.scalars)

    def answers(self, procedure: Procedure, record: Record) -> list[AnswerTime]:
        return answers(procedure, log_of(record), self.definition)

    def trends(self, soaked: Sequence[tuple[Procedure, Record]]) -> tuple[Trend, ...]:
        return trends((each.ends, figures(each, log_of(record), self.definition).courses) for each, record in soaked)


def _flown(mission: Mission, verify: Verify, robustness: bool) -> OwnProgram:
    if robustness:
        raise BadInput(
            "--robustness: is for a program of yours (docs/verify-yours.md); rtqual's own has procedures for it"
        )
    definition = load_definition()
    place = mission.path.parent if mission.path else Path()
    return OwnProgram(verify, procedures_of(verify, place, definition), definition)


def _before(mission: Mission, verify: Verify, kept: Procedures) -> OwnProgram:  # noqa: ARG001
    return OwnProgram(verify, kept.named, load_definition())


OWN = ProgramKind(Procedures, _flown, _before)

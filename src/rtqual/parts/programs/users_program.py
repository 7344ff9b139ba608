# SPDX-License-Identifier: MIT
"""A [[program]] of the mission, by its own dictionary, as what `rtqual verify` plays procedures to."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.base.cache import sha256_of
from rtqual.base.errors import BadInput
from rtqual.engine.campaign.plan import own_parameters
from rtqual.engine.dialogue.answer_times import AnswerTime, answers
from rtqual.engine.dialogue.dialogue_files import load_procedures
from rtqual.engine.dialogue.dialogue_script import compiled
from rtqual.engine.dialogue.dialogues import Dialogues
from rtqual.engine.dialogue.dialogues import kept as kept_dialogues
from rtqual.engine.dialogue.hearing import hear, judge
from rtqual.engine.dialogue.language import Language, language_of
from rtqual.engine.dialogue.model import Dialogue
from rtqual.engine.dialogue.robust import robust
from rtqual.engine.mission import Mission
from rtqual.engine.mission.verify_table import Verify
from rtqual.engine.procedure.judging import Judgement
from rtqual.engine.procedure.kinds import ProgramKind
from rtqual.engine.procedure.log import read_log
from rtqual.engine.procedure.played_log import how_it_ended, log_of
from rtqual.parts.programs.played import instruments
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.record.schema import Record
from rtqual.reports.trends import Trend


@dataclass(frozen=True)
class UsersProgram:
    """A [[program]] of the mission, by its own dictionary."""

    mission: Mission
    procedures: Sequence[Dialogue]
    language: Language
    untried: Mapping[str, str] = field(default_factory=dict)

    @property
    def dictionary(self) -> str:
        files = sorted(self.language.files.items())
        return sha256_of("".join(f"{name} {sha256_of(content)}\n" for name, content in files).encode())[:16]

    def kept(self) -> Dialogues:
        return kept_dialogues(tuple(self.procedures), self.language)

    def instruments(self, played: Sequence[Dialogue]) -> list[tuple[Instrument, Parameters]]:
        program = next(program for program in self.mission.programs if program.name == self.language.verify.program)
        parameters = own_parameters(self.mission, program)
        return [(instrument, parameters) for instrument in instruments(played, self.language)]

    def judged(self, procedure: Dialogue, record: Record) -> Judgement:
        lines, ended = compiled(procedure, self.language), how_it_ended(record.manifest.scalars)
        return judge(procedure, lines, log_of(record), self.language, ended)

    def answers(self, procedure: Dialogue, record: Record) -> list[AnswerTime]:
        lines = compiled(procedure, self.language)
        entries = read_log(log_of(record), lines)
        return list(answers(lines, entries, hear(entries, self.language).got))

    def trends(self, soaked: Sequence[tuple[Dialogue, Record]]) -> tuple[Trend, ...]:  # noqa: ARG002 - none is defined
        return ()


def _flown(mission: Mission, verify: Verify, robustness: bool) -> UsersProgram:
    place = mission.path.parent if mission.path else Path()
    try:
        language = language_of(verify, place)
        if robustness:
            made, why = robust(language)
            if not made:
                raise BadInput(f"no telecommand can be made: {next(iter(why.values()), 'the dictionary has none')}")
            return UsersProgram(mission, made, language, why)
    except BadInput as error:
        raise BadInput(f"{mission.path or mission.mission.name}: {error}") from None
    return UsersProgram(mission, load_procedures(place / verify.procedures, language), language)


def _before(mission: Mission, verify: Verify, kept: Dialogues) -> UsersProgram:
    return UsersProgram(mission, kept.named, kept.language(verify))


PROGRAM = ProgramKind(Dialogues, _flown, _before)

# SPDX-License-Identifier: MIT
"""Whose procedures `rtqual verify` plays: those of rtqual's own flight program, or those of a program of the user's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from rtqual.base.cache import sha256_of
from rtqual.base.errors import BadInput
from rtqual.engine.campaign.plan import own_parameters
from rtqual.engine.dialogue.dialogue_files import load_procedures
from rtqual.engine.dialogue.dialogue_script import compiled
from rtqual.engine.dialogue.dialogues import Dialogues
from rtqual.engine.dialogue.dialogues import kept as kept_dialogues
from rtqual.engine.dialogue.hearing import judge
from rtqual.engine.dialogue.language import Language, language_of
from rtqual.engine.dialogue.robust import robust
from rtqual.engine.dictionary.definition import Definition
from rtqual.engine.dictionary.definition import load as load_definition
from rtqual.engine.mission import Mission
from rtqual.engine.mission.verify_table import Camera, Verify
from rtqual.engine.procedure.judging import Judgement
from rtqual.engine.procedure.kept_procedures import Procedures
from rtqual.engine.procedure.peer import judged as judged_by_log
from rtqual.engine.procedure.played_log import how_it_ended, log_of
from rtqual.engine.procedure.procedure_files import procedures_of
from rtqual.engine.procedure.script import FRAME_FILE, PROGRAM, STATE_FILE
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.part import keyed
from rtqual.protocols.record.schema import Record
from rtqual.reports.trends import Trend, trends

ARGUMENTS = f"--state={STATE_FILE} --frame={FRAME_FILE}"  # of rtqual's flight program
CAMERAS = {Camera.UVCVIDEO: "--device=/dev/video0", Camera.DRIVER: "--camera=driver"}  # and before them


class Flown(Protocol):
    """A program as its procedures know it: all that there are, how they are played and judged."""

    @property
    def procedures(self) -> Sequence[Any]: ...

    @property
    def dictionary(self) -> str:
        """The hash of its dictionary, of a program of the user's."""

    @property
    def untried(self) -> Mapping[str, str]:
        """Telecommands that no procedure of a robustness campaign is made of, and why."""

    def kept(self) -> Procedures | Dialogues: ...

    def instruments(self, played: Sequence[Any]) -> list[tuple[Instrument, Parameters]]: ...

    def judged(self, procedure: Any, record: Record) -> Judgement: ...

    def trends(self, soaked: Sequence[tuple[Any, Record]]) -> tuple[Trend, ...]: ...


@dataclass(frozen=True)
class OwnProgram:
    """rtqual's own flight program, with its camera."""

    verify: Verify
    procedures: Sequence[Any]
    definition: Definition
    dictionary: str = ""
    untried: Mapping[str, str] = field(default_factory=dict)

    def kept(self) -> Procedures:
        return Procedures(procedures={procedure.name: procedure for procedure in self.procedures})

    def instruments(self, played: Sequence[Any]) -> list[tuple[Instrument, Parameters]]:
        make, camera = keyed("verified", PROGRAM, f"[verify] of {PROGRAM}"), self.verify.camera
        made = make(played, self.definition, f"{CAMERAS[camera]} {ARGUMENTS}", camera)
        return [(instrument, instrument.parameters()) for instrument in made]

    def judged(self, procedure: Any, record: Record) -> Judgement:
        return judged_by_log(procedure, log_of(record), self.definition, record.manifest.scalars)

    def trends(self, soaked: Sequence[tuple[Any, Record]]) -> tuple[Trend, ...]:
        return trends(soaked, self.definition)


@dataclass(frozen=True)
class UsersProgram:
    """A [[program]] of the mission, by its own dictionary."""

    mission: Mission
    procedures: Sequence[Any]
    language: Language
    untried: Mapping[str, str] = field(default_factory=dict)

    @property
    def dictionary(self) -> str:
        files = sorted(self.language.files.items())
        return sha256_of("".join(f"{name} {sha256_of(content)}\n" for name, content in files).encode())[:16]

    def kept(self) -> Dialogues:
        return kept_dialogues(tuple(self.procedures), self.language)

    def instruments(self, played: Sequence[Any]) -> list[tuple[Instrument, Parameters]]:
        make = keyed("verified", "program", "[verify] of a program")
        program = next(program for program in self.mission.programs if program.name == self.language.verify.program)
        parameters = own_parameters(self.mission, program)
        return [(instrument, parameters) for instrument in make(played, self.language)]

    def judged(self, procedure: Any, record: Record) -> Judgement:
        lines, ended = compiled(procedure, self.language), how_it_ended(record.manifest.scalars)
        return judge(procedure, lines, log_of(record), self.language, ended)

    def trends(self, soaked: Sequence[tuple[Any, Record]]) -> tuple[Trend, ...]:  # noqa: ARG002 - none is defined
        return ()


def flown(mission: Mission, verify: Verify, *, robustness: bool = False) -> Flown:
    """What [verify] names, with the procedures of its folder, or those for every telecommand. Raises BadInput."""
    place = mission.path.parent if mission.path else Path()
    if robustness and not verify.program:
        raise BadInput(
            "--robustness: is for a program of yours (docs/verify-yours.md); rtqual's own has procedures for it"
        )
    if verify.program:
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
    definition = load_definition()
    return OwnProgram(verify, procedures_of(verify, place, definition), definition)


def flown_before(mission: Mission, verify: Verify, kept: Procedures | Dialogues) -> Flown:
    """What a folder keeps. Raises BadInput where that is of another kind."""
    if verify.program and isinstance(kept, Dialogues):
        return UsersProgram(mission, kept.named, kept.language(verify))
    if verify.program is None and isinstance(kept, Procedures):
        return OwnProgram(verify, kept.named, load_definition())
    raise BadInput(f"{mission.path}: keeps procedures of another program: run `rtqual verify` there again")

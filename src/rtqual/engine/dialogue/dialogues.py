# SPDX-License-Identifier: MIT
"""Procedures for a program as a campaign keeps them, with the dictionary, so that its folder can be judged alone."""

from typing import Annotated

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.dialogue_files import problems
from rtqual.engine.dialogue.dialogue_script import compiled
from rtqual.engine.dialogue.language import Language, spoken
from rtqual.engine.dialogue.model import Dialogue
from rtqual.engine.mission.values import Slug
from rtqual.engine.mission.verify_table import Verify
from rtqual.engine.procedure.procedure_files import PROCEDURES_MOST

_FILE = Field(pattern=r"^[0-9]{1,3}[-/][^/\x00]{1,255}$")


class Dialogues(BaseModel):
    """By name. What a folder holds may be a stranger's: it is checked as a file of procedures is, when it is used."""

    model_config = ConfigDict(extra="forbid")
    procedures: Annotated[dict[Slug, Dialogue], Field(max_length=PROCEDURES_MOST)]
    dictionary: dict[Annotated[str, _FILE], Base64Bytes]

    @property
    def named(self) -> tuple[Dialogue, ...]:
        return tuple(procedure.named(name) for name, procedure in self.procedures.items())

    def as_json(self) -> str:
        return self.model_dump_json(by_alias=True, exclude_defaults=True, indent=1)

    def language(self, verify: Verify) -> Language:
        """Raises BadInput where the procedures are not those of the dictionary."""
        language = spoken(verify, self.dictionary)
        for procedure in self.named:
            for wrong in problems(procedure, language):
                raise BadInput(f"{procedure.name}: {wrong.message}")
            compiled(procedure, language)
        return language


def kept(procedures: tuple[Dialogue, ...], language: Language) -> Dialogues:
    """As a campaign keeps them."""
    by_name = {procedure.name: procedure for procedure in procedures}
    return Dialogues.model_construct(procedures=by_name, dictionary=dict(language.files))

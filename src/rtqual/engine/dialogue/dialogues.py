# SPDX-License-Identifier: MIT
"""Procedures for a program as a campaign keeps them, with the dictionary, so that its folder can be judged alone."""

from typing import Annotated

from pydantic import Base64Bytes, Field

from rtqual.base.errors import BadInput
from rtqual.engine.dialogue.dialogue_files import problems
from rtqual.engine.dialogue.dialogue_script import compiled
from rtqual.engine.dialogue.language import Language, spoken
from rtqual.engine.dialogue.model import Dialogue
from rtqual.engine.mission.verify_table import Verify
from rtqual.engine.procedure.kinds import KeptProcedures

_FILE = Field(pattern=r"^[0-9]{1,3}[-/][^/\x00]{1,255}$")


class Dialogues(KeptProcedures[Dialogue]):
    """Checked against the dictionary when they are used."""

    dictionary: dict[Annotated[str, _FILE], Base64Bytes]

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

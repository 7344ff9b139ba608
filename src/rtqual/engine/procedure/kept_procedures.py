# SPDX-License-Identifier: MIT
"""Procedures as a campaign keeps them, so that its folder can be judged and reported on without their files."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from rtqual.base.errors import BadInput
from rtqual.engine.dictionary.definition import load
from rtqual.engine.mission.values import Slug
from rtqual.engine.procedure.model import Procedure
from rtqual.engine.procedure.procedure_files import PROCEDURES_MOST
from rtqual.engine.procedure.script import compiled
from rtqual.engine.procedure.unknown import unknown


class Procedures(BaseModel):
    """By name. What a folder holds may be a stranger's: it is checked as a file of procedures is."""

    model_config = ConfigDict(extra="forbid")
    procedures: Annotated[dict[Slug, Procedure], Field(max_length=PROCEDURES_MOST)]

    @property
    def named(self) -> tuple[Procedure, ...]:
        return tuple(procedure.named(name) for name, procedure in self.procedures.items())

    def as_json(self) -> str:
        return self.model_dump_json(by_alias=True, exclude_defaults=True, indent=1)

    @model_validator(mode="after")
    def _known(self) -> Self:
        definition = load()
        for procedure in self.named:
            for wrong in unknown(procedure, definition):
                raise ValueError(f"{procedure.name}: {wrong.message}")
            try:
                compiled(procedure, definition, procedure.name)
            except BadInput as error:
                raise ValueError(str(error)) from None
        return self

# SPDX-License-Identifier: MIT
"""Procedures as a campaign keeps them, so that its folder can be judged and reported on without their files."""

from typing import Self

from pydantic import model_validator

from rtqual.base.errors import BadInput
from rtqual.engine.procedure.kinds import KeptProcedures
from rtqual_docking.packets.definition import load
from rtqual_docking.procedures.model import Procedure
from rtqual_docking.procedures.script import compiled
from rtqual_docking.procedures.unknown import unknown


class Procedures(KeptProcedures[Procedure]):
    """Checked against the packets that there are."""

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

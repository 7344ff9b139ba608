# SPDX-License-Identifier: MIT
"""Procedures from their files, checked against the packets that there are; or one line on what is wrong."""

from pathlib import Path

from rtqual.engine.mission.verify_table import Verify
from rtqual.engine.procedure.procedure_files import checked, files_of
from rtqual_docking.packets.definition import Definition
from rtqual_docking.procedures.model import Procedure
from rtqual_docking.procedures.script import compiled
from rtqual_docking.procedures.unknown import unknown


def load_procedure(path: Path, definition: Definition) -> Procedure:
    """Raises BadInput, one line: `FILE:LINE: key: what is wrong; what is allowed`."""
    procedure = checked(path, Procedure, lambda procedure: unknown(procedure, definition)).named(path.stem)
    compiled(procedure, definition, str(path))
    return procedure


def procedures_of(verify: Verify, place: Path, definition: Definition) -> tuple[Procedure, ...]:
    """Those of [verify] as it has them played: by its way of the camera, tagged. `place`: the mission's folder."""
    found = load_procedures(place / verify.procedures, definition)
    return tuple(
        procedure.by(verify.camera).model_copy(update={"tagged": procedure.tagged or verify.tagged})
        for procedure in found
    )


def load_procedures(folder: Path, definition: Definition) -> tuple[Procedure, ...]:
    """All of a folder, by name. Raises BadInput for the first that is wrong."""
    return tuple(load_procedure(path, definition) for path in files_of(folder))

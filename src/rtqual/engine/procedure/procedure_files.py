# SPDX-License-Identifier: MIT
"""Procedures from their files, checked against the packets that there are; or one line on what is wrong."""

import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from rtqual.base.errors import BadInput
from rtqual.base.units import AS_WRITTEN
from rtqual.engine.dictionary.definition import Definition
from rtqual.engine.mission.explain import Problem, dotted, problems_in
from rtqual.engine.mission.load import MAX_DEPTH, decoded, is_deeper, read
from rtqual.engine.mission.toml_lines import key_lines, line_of
from rtqual.engine.mission.verify_table import Verify
from rtqual.engine.procedure.model import Procedure
from rtqual.engine.procedure.script import compiled
from rtqual.engine.procedure.unknown import unknown

_GIVE = "give a procedure (TOML; docs/verify.md)"
PROCEDURES_MOST = 500
_M = TypeVar("_M", bound=BaseModel)


def load_procedure(path: Path, definition: Definition) -> Procedure:
    """Raises BadInput, one line: `FILE:LINE: key: what is wrong; what is allowed`."""
    procedure = checked(path, Procedure, lambda procedure: unknown(procedure, definition)).named(path.stem)
    compiled(procedure, definition, str(path))
    return procedure


def checked(path: Path, model: type[_M], wrong: Callable[[_M], Iterable[Problem]]) -> _M:
    """Return what a file holds. `wrong`: what the model cannot know. Raises BadInput as load_procedure does."""
    text = decoded(path, read(path, _GIVE))
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{path}: not TOML: {' '.join(str(error).split())}; {_GIVE}") from None
    if is_deeper(document, MAX_DEPTH):
        raise BadInput(f"{path}:1: tables or lists are nested deeper than {MAX_DEPTH} levels; no procedure needs that")
    found, problems = None, []
    try:
        found = model.model_validate(document, context=AS_WRITTEN, by_alias=True, by_name=False)
        problems = list(wrong(found))
    except ValidationError as error:
        problems = problems_in(error, model.model_json_schema())
    if problems or found is None:
        lines = key_lines(text)
        first = min(problems, key=lambda problem: (problem.is_missing, line_of(lines, problem.path)))
        key = f"{dotted(first.path)}: " if first.path else ""
        raise BadInput(" ".join(f"{path}:{line_of(lines, first.path)}: {key}{first.message}".split()))
    return found


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


def files_of(folder: Path) -> list[Path]:
    """Return a folder's procedures. Raises BadInput where there are none, too many, or one has no name."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == ".toml")
    except OSError as error:
        raise BadInput(f"{folder}: cannot be read: {error.strerror}; give a folder of procedures") from None
    if not 0 < len(paths) <= PROCEDURES_MOST:
        raise BadInput(f"{folder}: holds {len(paths)} procedures (*.toml); there may be 1 to {PROCEDURES_MOST}")
    for path in paths:
        if not path.stem.isascii() or not path.stem.replace("-", "").isalnum() or path.stem != path.stem.lower():
            raise BadInput(f"{str(path)!r}: is no name of a procedure; write lower-case letters, digits and '-'")
    return paths

# SPDX-License-Identifier: MIT
"""Procedures from their files, whatever program they are for; or one line on what is wrong."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from rtqual.base.errors import BadInput
from rtqual.base.units import AS_WRITTEN
from rtqual.engine.mission.explain import Problem, dotted, problems_in
from rtqual.engine.mission.load import decoded, parsed, read
from rtqual.engine.mission.toml_lines import key_lines, line_of
from rtqual.engine.procedure.kinds import PROCEDURES_MOST

_GIVE = "give a procedure (TOML; docs/verify.md)"
_M = TypeVar("_M", bound=BaseModel)


def checked(path: Path, model: type[_M], wrong: Callable[[_M], Iterable[Problem]]) -> _M:
    """Return what a file holds. `wrong`: what the model cannot know.

    Raises BadInput, one line: `FILE:LINE: key: what is wrong; what is allowed`.
    """
    text = decoded(path, read(path, _GIVE))
    document = parsed(path, text, "procedure")
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

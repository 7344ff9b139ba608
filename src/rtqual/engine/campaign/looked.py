# SPDX-License-Identifier: MIT
"""After which numbers of runs a campaign's folder was judged: who measures on until the figures say something has
looked as often as there are such numbers, and each figure allows for that (figure/cells.py).

looks.json stays where a campaign begins anew in the folder. The same number of runs again is no further look.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from rtqual.base import unlinked
from rtqual.base.errors import damaged
from rtqual.engine.analysis.figure.asked import RUNS_TO_JUDGE
from rtqual.engine.analysis.figure.cells import Looked, look_of, looks_of, planned_looks
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.figure.summary import groups
from rtqual.engine.campaign.manifest import GroupNote
from rtqual.engine.mission import PUBLISHED, Mission
from rtqual.protocols.record.schema import Record

NAME = "looks.json"
_MOST = 100_000  # looks of a group


class _Of(GroupNote):
    """The looks at it, in their order; of runs = "auto" all of a plan's, which are one decision."""

    looks: Annotated[list[Annotated[list[int], Field(min_length=1)]], Field(min_length=1, max_length=_MOST)]

    @property
    def group(self) -> Group:
        return Group(**self.model_dump(exclude={"looks"}))


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    groups: list[_Of]


def looked_in(folder: Path) -> Looked:
    """The looks at a folder so far. Raises BadInput where what is noted of them is damaged."""
    try:
        return parsed(unlinked.read(folder, NAME))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, RecursionError) as error:  # a ValidationError is a ValueError
        raise damaged(folder / NAME, error, "choose another folder with --out") from None


def parsed(content: bytes) -> dict[Group, tuple[tuple[int, ...], ...]]:
    return {of.group: tuple(map(tuple, of.looks)) for of in _File.model_validate_json(content).groups}


def written(looked: Looked) -> str:
    every = [_Of(**asdict(group), looks=list(map(list, looks))) for group, looks in sorted(looked.items())]
    return _File(groups=every).model_dump_json(indent=1)


def with_this(before: Looked, mission: Mission, scale: str, records: Sequence[Record]) -> Looked:
    """With the look at these records, unless there was the same before. Fewer runs than can be judged are none."""
    found: dict[Group, tuple[tuple[int, ...], ...]] = dict(before)
    planned: Mapping[tuple[str, str, str, str, int], tuple[int, ...]] = planned_looks(mission, scale)
    for group, members in groups(records).items():
        look, so_far = look_of(looks_of(group, planned), len(members)), found.get(group, ())
        if group.board != PUBLISHED and len(members) >= RUNS_TO_JUDGE and look not in so_far:
            found[group] = (*so_far, look)
    return found

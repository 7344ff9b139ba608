# SPDX-License-Identifier: MIT
"""Procedures as a campaign keeps them, and the kind of program that they are for, as a part brings it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from rtqual.engine.mission.values import Slug
from rtqual.engine.mission.verify_table import Verify
from rtqual.engine.procedure.described import Described, TimedStep
from rtqual.protocols.part import keyed

PROCEDURES_MOST = 500
ProcedureT = TypeVar("ProcedureT", bound=Described[TimedStep])


class KeptProcedures(BaseModel, Generic[ProcedureT]):
    """By name. What a folder holds may be a stranger's: it is checked as a file of procedures is."""

    model_config = ConfigDict(extra="forbid")
    procedures: Annotated[dict[Slug, ProcedureT], Field(max_length=PROCEDURES_MOST)]

    @property
    def named(self) -> tuple[ProcedureT, ...]:
        return tuple(procedure.named(name) for name, procedure in self.procedures.items())

    def as_json(self) -> str:
        return self.model_dump_json(by_alias=True, exclude_defaults=True, indent=1)


@dataclass(frozen=True)
class ProgramKind:
    """What a part brings in `verified`. `kept`: how a campaign keeps procedures; `flown`: of mission, [verify] and
    whether every telecommand is tried, `before`: of mission, [verify] and what was kept: stages/flown.py: Flown. Both
    raise BadInput."""

    kept: type[KeptProcedures[Any]]
    flown: Callable[[Any, Verify, bool], Any]
    before: Callable[[Any, Verify, Any], Any]


def kind_of(verify: Verify) -> ProgramKind:
    """Raises BadInput where no part brings it."""
    kind: ProgramKind = keyed("verified", verify.kind, f"[verify] of {verify.kind}")
    return kind

# SPDX-License-Identifier: MIT
"""What `rtqual verify` is to show of the whole system: [verify] and its requirements."""

from enum import StrEnum
from typing import Annotated, Self

from pydantic import Field, Strict, model_validator

from rtqual.engine.mission.explain import At, shown
from rtqual.engine.mission.language_table import (
    LINK,
    MOST,
    Framing,
    Limits,
    Meaning,
    Name,
    Robustness,
    Spoken,
    Telecommand,
)
from rtqual.engine.mission.table import Table
from rtqual.engine.mission.values import Distinct, LoadName, NonEmpty, Slug, Text, matching

OWN = "ds325-flight"  # rtqual's own flight program
RequirementId = Annotated[str, *matching(r"[A-Z][A-Z0-9]*(-[A-Z0-9]+)+", "a requirement's id, as 'TC-010'")]


class Method(StrEnum):
    """How a requirement is verified (ECSS-E-ST-10-02C, 5.2.2)."""

    TEST = "test"
    ANALYSIS = "analysis"
    REVIEW = "review of design"
    INSPECTION = "inspection"


class Level(StrEnum):
    """Of what (ECSS-E-ST-10-02C, 5.2.3)."""

    EQUIPMENT = "equipment"
    SUBSYSTEM = "subsystem"
    SYSTEM = "system"


class VerificationStage(StrEnum):
    """When (ECSS-E-ST-10-02C, 5.2.4)."""

    QUALIFICATION = "qualification"
    ACCEPTANCE = "acceptance"
    IN_ORBIT = "in-orbit"


class Camera(StrEnum):
    """How the camera's frames come into the flight program."""

    UVCVIDEO = "uvcvideo"
    DRIVER = "driver"


class SystemRequirement(Table):
    """What the whole system must do."""

    id: RequirementId
    """Its identifier, which procedures name."""
    text: Text
    """The requirement, in a sentence."""
    method: Method = Method.TEST
    """How it is verified: "test", "analysis", "review of design" or "inspection"."""
    level: Level = Level.SUBSYSTEM
    """Of what: "equipment", "subsystem" or "system"."""
    stage: VerificationStage = VerificationStage.QUALIFICATION
    """When: "qualification", "acceptance" or "in-orbit"."""


class Verify(Table):
    """What `rtqual verify` plays, and what it must show."""

    candidate: Slug
    """The candidate that the program is verified on."""
    procedures: Text
    """The folder of the procedures, as seen from the mission's file."""
    load: LoadName = "hackbench"
    """What disturbs meanwhile."""
    camera: Camera = Camera.UVCVIDEO
    """How the camera's frames come: "uvcvideo", or "driver", the camera's own."""
    board: Slug | None = None
    """The [[board]] that the procedures are played on, over ssh; the candidate's virtual board when left out."""
    tagged: Annotated[bool, Strict()] = False
    """Whether the flight program has a key in all procedures, so that each telecommand needs its tag."""
    program: Slug | None = None
    """The [[program]] that is verified; rtqual's own flight program when left out. The keys from here to `meaning`
    belong to it (docs/verify-yours.md)."""
    dictionary: Spoken | None = None
    """What it understands and says."""
    link: Annotated[str, *matching(LINK, "a link, as 'udp:1234:1235', 'connect:50000' or 'listen:50000'")] | None = None
    """The ground's end of its link, on the board: "connect:PORT" (the program listens), "listen:PORT" (it connects),
    "udp:TO:FROM" (its port, the ground's), "pty:PATH" (it opens a serial line there)."""
    framing: Framing | None = None
    """How packets lie on it: "datagrams" (each is one), "space-packets" (one behind the other), "fprime" (0xDEADBEEF,
    size, packet, CRC-32), "cobs" (a zero ends each). Without it: datagrams on UDP, F' frames with that dictionary, and
    space packets else."""
    setup: Annotated[tuple[Telecommand, ...], Field(max_length=MOST)] = ()
    """Telecommands that begin every procedure, when the link is there."""
    closing: Annotated[tuple[Telecommand, ...], Field(max_length=MOST)] = ()
    """Telecommands that end every procedure: a program that no longer answers fails it."""
    may_end: Annotated[tuple[Name, ...], Distinct, Field(max_length=MOST)] = ()
    """Threads of the program that may end while it goes on, by their names (* is any letters); the end of any other
    fails a procedure."""
    limits: Limits = Limits()
    """How long answers may take where a procedure does not say."""
    robustness: Robustness = Robustness()
    """How every telecommand is tried, by --robustness."""
    meanings: Annotated[tuple[Meaning, ...], Field(max_length=MOST)] = Field((), alias="meaning")
    """What reports mean, one [[verify.meaning]] each."""
    requirements: Annotated[tuple[SystemRequirement, ...], NonEmpty] = Field(alias="requirement")
    """What must be shown, one [[verify.requirement]] each."""

    @property
    def kind(self) -> str:
        """Of what is verified: the key by which a part brings it."""
        return "program" if self.program else OWN

    @model_validator(mode="after")
    def _once(self) -> Self:
        ids = [requirement.id for requirement in self.requirements]
        for number, name in enumerate(ids):
            if name in ids[:number]:
                raise At("requirement", f"{shown(name)} is the id of two requirements")
        return self

    @model_validator(mode="after")
    def _of_one_program(self) -> Self:
        if self.program and (missing := next((key for key in ("dictionary", "link") if not getattr(self, key)), None)):
            raise At("program", f"needs {missing} (docs/verify-yours.md)")
        if self.program and (
            other := next((key for key in ("camera", "tagged") if key in self.model_fields_set), None)
        ):
            raise At(other, "belongs to rtqual's own flight program; leave it out beside program")
        own = ("dictionary", "link", "framing", "setup", "closing", "may_end", "limits", "robustness", "meanings")
        if not self.program and (key := next((key for key in own if key in self.model_fields_set), None)):
            raise At(key.replace("meanings", "meaning"), "belongs to a program of yours; write program")
        return self

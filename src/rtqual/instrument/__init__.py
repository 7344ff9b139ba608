# SPDX-License-Identifier: MIT
"""Instruments: programs that measure. One small adapter each: parameters in, a job out, typed samples back."""

from typing import Any, ClassVar, Protocol

from pydantic import BaseModel, ConfigDict

from rtqual.board import Job, Outcome
from rtqual.record.schema import Measurement


class Parameters(BaseModel):
    """An instrument's parameters, as the mission may set them."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Instrument(Protocol):
    """What the campaign needs of an instrument. `parameters` is the model the mission is checked against."""

    name: ClassVar[str]
    title: ClassVar[str]
    program: ClassVar[str]  # what must be on the board
    parameters: ClassVar[type[Parameters]]
    disks: ClassVar[bool]  # whether it needs the board's disks
    caveats: ClassVar[tuple[str, ...]]  # sentences to print wherever its figures stand

    @staticmethod
    def job(parameters: Any, *, cpus: int, seed: int) -> Job: ...

    @staticmethod
    def read(parameters: Any, outcome: Outcome, *, cpus: int) -> Measurement:
        """Raises RunFailed when the output is not what the program prints."""
        ...

    @staticmethod
    def seconds(parameters: Any, load: str) -> float:
        """About how long the measurement takes on the board's own clock, for planning."""
        ...

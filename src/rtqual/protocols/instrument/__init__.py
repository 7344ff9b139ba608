# SPDX-License-Identifier: MIT
"""Instruments: programs that measure. One small adapter each: parameters in, a job out, typed samples back."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict

from rtqual.base.architecture import Architecture
from rtqual.base.errors import RunFailed, first_line
from rtqual.protocols.board import Job, JobOutcome
from rtqual.protocols.load.own import OwnLoad
from rtqual.protocols.record.schema import Measurement


class Parameters(BaseModel):
    """An instrument's parameters, as the mission may set them."""

    # strict: true is no number, nor is "100"; defer_build: a mission uses few of the many instruments
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


class NoParameters(Parameters):
    """Nothing to set."""


@dataclass(frozen=True, kw_only=True)
class Instrument(ABC):
    """What the campaign needs of an instrument. A class is a way to run and read; its instances are the rows."""

    name: str
    title: str
    program: str  # what must be on the board,
    beside: tuple[str, ...] = ()  # and with it
    parameters: type[Parameters] = NoParameters  # what the mission's tables are checked against
    disks: bool = False  # whether it needs the board's disks
    whole_boot: bool = False  # whether it tells how the guest booted
    resets: bool = False  # whether the board is reset while it measures
    scene: bool = False  # whether the camera's target is steered while it measures
    several: bool = False  # whether it samples several series at once
    between: tuple[str, str] | None = None  # the threads whose readings of the clock each sample lies between
    core: str = ""  # the real-time core beside Linux that it measures
    caveats: tuple[str, ...] = ()  # sentences to print wherever its figures stand
    family: str = ""  # which benchmarks of a battery,
    space: str = ""  # and where they run

    @abstractmethod
    def job(self, parameters: Any, *, cpus: int, seed: int) -> Job: ...

    @abstractmethod
    def read(self, parameters: Any, outcome: JobOutcome, *, cpus: int) -> Measurement:
        """Raises RunFailed when the output is not what the program prints."""

    def measured(self, parameters: Any, outcome: JobOutcome, *, cpus: int) -> Measurement:
        """Read what came back. Raises RunFailed, also where an instrument of anybody's errs at it."""
        try:
            return self.read(parameters, outcome, cpus=cpus)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise RunFailed(f"{self.name} cannot read what its program said: {first_line(error)}") from error

    def settled(self, parameters: Any, folder: Path) -> Any:
        """The parameters with what else decides a run; `folder`: what a mission's paths are relative to.

        Raises BadInput where something is missing.
        """
        return parameters

    def files(self, parameters: Any, architecture: Architecture, *, here: bool = False) -> Mapping[str, Path]:
        """Path in the guest -> file of the user's; `here`: over this machine's own, without what these offer.

        Raises BadInput where one does not fit.
        """
        return {}

    def as_load(self, parameters: Any, shape: OwnLoad) -> OwnLoad:
        """Of a program of the mission's own: what runs where a load names it."""
        return shape

    def unseen(self, parameters: Any, architecture: Architecture) -> str:
        """What Debian's kernels for a processor will not tell of it, and why; empty where they tell all."""
        return ""

    @abstractmethod
    def seconds(self, parameters: Any, load: str) -> float:
        """About how long the measurement takes on the board's own clock, for planning."""

    def busy_s(self, parameters: Any) -> float:
        """For how much of that the board works where nothing else runs: an emulated board skips the rest."""
        return self.seconds(parameters, "none") / 8

    def sweep(self) -> None:  # noqa: B027 - most leave nothing
        """Remove what the program left on this machine long ago when it was killed."""

    def samples(self, parameters: Any, *, cpus: int) -> int | None:
        """How many samples a run takes at most, where its parameters say so."""
        return None

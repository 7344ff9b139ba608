# SPDX-License-Identifier: MIT
"""Loads: programs that disturb. A load is what it must set up and what it keeps running."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from rtqual.protocols.board import Command

OF_LOADS = "load: "  # begins the names of a load's settings, which records tell where they are not the usual ones


class Shape(BaseModel):
    """A load's parameters, as the mission may set them."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)

    @property
    def told(self) -> dict[str, Any]:
        """For records: those that are not as they are by default."""
        said = self.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        return {f"{OF_LOADS}{name}": value for name, value in said.items()}


def split(parameters: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a record's parameters into the instrument's and those of its load."""
    shaped = {name.removeprefix(OF_LOADS): item for name, item in parameters.items() if name.startswith(OF_LOADS)}
    return {name: item for name, item in parameters.items() if not name.startswith(OF_LOADS)}, shaped


@dataclass(frozen=True)
class Load:
    """A disturbance. Every background command must outlive the measurement."""

    name: str
    title: str
    background: tuple[Command, ...] = ()
    setup: tuple[Command, ...] = ()
    programs: tuple[str, ...] = ()  # what must be on the board
    modules: tuple[str, ...] = ()  # kernel modules it needs
    shape: type[Shape] = Shape
    shaped: Callable[[Any], tuple[Command, ...]] | None = None  # the background in another shape
    memory: bool = False  # it is meant to keep DRAM busy
    local: bool = True  # False: needs a guest (it would reconfigure this machine)

    def commands(self, shape: Shape | None) -> tuple[Command, ...]:
        """What it keeps running."""
        return self.shaped(shape) if self.shaped and shape else self.background

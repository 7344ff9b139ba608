# SPDX-License-Identifier: MIT
"""Loads: programs that disturb. A load is what it must set up and what it keeps running."""

from dataclasses import dataclass

from rtqual.board import Command


@dataclass(frozen=True)
class Load:
    """A disturbance. Every background command must outlive the measurement."""

    name: str
    title: str
    background: tuple[Command, ...] = ()
    setup: tuple[Command, ...] = ()
    programs: tuple[str, ...] = ()  # what must be on the board
    modules: tuple[str, ...] = ()  # kernel modules it needs
    local: bool = True  # False: needs a guest (it would reconfigure this machine)

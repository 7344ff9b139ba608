# SPDX-License-Identifier: MIT
"""Runners: parts that run cells of boards that repeat elsewhere than here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Runner:
    """`check` raises BadInput or ImportError where an address cannot be used, before anything is prepared.

    `run`: the address, the mission's file, the scale, cells with their places in the plan and their inputs, the
    campaign's folder, its store, who watches -> failures by group. Records are in the store when it returns.
    """

    check: Callable[[str], None]
    run: Callable[..., dict[Any, str]]

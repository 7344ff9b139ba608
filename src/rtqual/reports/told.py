# SPDX-License-Identifier: MIT
"""What a campaign says of its runs beside their records and annexes, for its report."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from rtqual.engine.campaign.lost import Lost


@dataclass(frozen=True)
class Told:
    """Nothing of records that belong to no campaign."""

    digest: str = ""  # of all that the campaign rests on
    configs: Mapping[str, str] = field(default_factory=dict)  # candidate -> SHA-256 of its kernel configuration
    lost: Mapping[str, Lost] = field(default_factory=dict)  # runs that left no record at least once, by their names
    again: int = 0  # second runs, which test whether records repeat


UNTOLD = Told()

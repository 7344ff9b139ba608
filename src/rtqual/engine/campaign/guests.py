# SPDX-License-Identifier: MIT
"""What ran in a campaign's guests, by package and version: its list of software (reports/machine/sbom_of_runs.py)."""

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from rtqual.base.cache import sha256_file
from rtqual.engine.campaign.annex import Annex
from rtqual.protocols.board.system import Kernel, Rtos


class Software(BaseModel):
    """A package, or a file of rtqual's or the user's."""

    model_config = ConfigDict(extra="forbid")
    name: str
    version: str = ""
    architecture: str = ""  # of Debian's packages, which have an address by it
    sha256: str = ""  # of its archive, or of the file; unknown of what a root has installed


class Guest(BaseModel):
    """What a candidate's guests were made of."""

    model_config = ConfigDict(extra="forbid")
    candidate: str
    software: tuple[Software, ...]


class Guests(BaseModel):
    """Of all candidates that rtqual prepared."""

    model_config = ConfigDict(extra="forbid")
    guests: tuple[Guest, ...] = ()


def _gathered(entries: Sequence[Guest]) -> Guests:
    return Guests(guests=tuple(entries))


GUESTS = Annex(
    file="guests.json", model=Guests, mend="run the campaign's command again", anew=True, gather=_gathered, indent=1
)


def guest(ready: Kernel | Rtos) -> Guest:
    """Of a candidate that was made ready."""
    if isinstance(ready, Rtos):
        image = Software(name=ready.system, sha256=sha256_file(ready.image))
        return Guest(candidate=ready.candidate, software=(image,))
    packages = [
        Software(name=held.name, version=held.version, architecture=held.architecture, sha256=held.sha256)
        for held in ready.packages
    ]
    files = [Software(name=f"/{place}", sha256=sha256_file(file)) for place, file in sorted(ready.carried.items())]
    return Guest(candidate=ready.candidate, software=(*packages, *files))

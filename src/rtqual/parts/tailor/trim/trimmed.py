# SPDX-License-Identifier: MIT
"""The result of an evidence-driven trim, as a campaign keeps it (trim.json) and its report shows it."""

from pydantic import BaseModel, ConfigDict

from rtqual.engine.campaign.annex import Annex, Making

ACCEPTED, REFUSED, UNTRIED = "accepted", "refused", "not tried"


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class JudgedSymbol(_Model):
    """A proposed symbol and what became of it; the other fields are those of search.Proposal."""

    symbol: str
    menu: str
    prompt: str
    takes: tuple[str, ...]
    brings: tuple[str, ...]
    objects: tuple[str, ...]
    size_b: int
    seen: str
    state: str  # ACCEPTED, REFUSED or UNTRIED
    why: str  # what failed, or why it was not tried; empty for what is accepted


class Unused(_Model):
    """A symbol that was not used and is not proposed (search.KeptSymbol)."""

    symbol: str
    size_b: int
    kind: str
    reason: str


class Size(_Model):
    """A kernel before or after. RAM as the footprint has it, where the scenario measures it."""

    image_size_b: int
    installed_size_b: int
    symbols_on: int
    ram_used_b: int | None
    kernel_memory_b: int | None


class Trimmed(_Model):
    candidate: str
    kernel_sha256: str  # of the kernel that was watched (Account.sha256)
    scale: str
    scenario: tuple[str, ...]  # the runs of which it consists
    modules: tuple[str, ...]  # loadable modules that were loaded in one of them
    objects: int  # in the image
    objects_entered: int  # of them, with a function that was entered once the system was up
    functions: int
    functions_entered: int
    functions_at_boot: int  # entered until the system was up, and not later
    proposals: tuple[JudgedSymbol, ...]
    kept: tuple[Unused, ...]
    builds: int
    before: Size
    after: Size | None  # of the kernel without all that is accepted; absent where nothing is


class Trims(_Model):
    schema_version: int = 1
    kernels: tuple[Trimmed, ...]


def still(made: Making) -> Trims | None:
    """What an earlier campaign found: each names the very kernel that it is of, so it holds where that is the same."""
    before: Trims | None = made.before
    return before


TRIMS = Annex("trim.json", Trims, "delete it or trim again", make="rtqual.parts.tailor.trim.trimmed:still", indent=1)

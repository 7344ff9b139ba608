# SPDX-License-Identifier: MIT
"""The instruments by the name a mission calls them, in the order of a report."""

from collections.abc import Mapping

from rtqual.protocols import part
from rtqual.protocols.instrument import Instrument


def all_instruments() -> Mapping[str, Instrument]:
    """Return those that parts bring."""
    return part.by_name("instruments")

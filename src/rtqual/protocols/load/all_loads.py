# SPDX-License-Identifier: MIT
"""The loads by the name a mission calls them."""

from collections.abc import Mapping

from rtqual.protocols import part
from rtqual.protocols.load import Load


def all_loads() -> Mapping[str, Load]:
    """Return those that parts bring."""
    return part.by_name("loads")

# SPDX-License-Identifier: MIT
"""`rtqual probe`."""

from pathlib import Path

from rtqual.face.commands.app import LITERAL


def probe(*, sources: Path) -> int:
    """Write the probe's sources, to link a real-time system with (docs/port.md).

    They are the battery, every port, and the page that says how a port is made. None of it is run.

    Parameters
    ----------
    sources
        A new folder, or an empty one.
    """
    from rtqual.engine.candidates.sources import own_state, probe_sources, write_to  # noqa: PLC0415 - slow to load

    write_to(sources, probe_sources())
    LITERAL.print(
        f"{sources}: the battery's state is {own_state()}; {sources / 'probe/port.md'} says how to go on, "
        f"{sources / 'probe/port.h'} is the contract",
        highlight=False,
        soft_wrap=True,
    )
    return 0

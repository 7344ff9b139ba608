# SPDX-License-Identifier: MIT
"""Whether a tailored kernel can be had, as far as its wishes tell."""

import re
from collections.abc import Sequence
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.engine.mission import Candidate
from rtqual.parts.tailor.configure.rules import merged, wishes


def contradiction(candidate: Candidate, needs: Sequence[str]) -> str:
    """What of a kernel's needs and symbols cannot be had together in any tree; empty where none is known.

    Rules differ by version, so a source that does not name its version is not judged."""
    wanted, architecture = candidate.tailor, candidate.architecture
    assert wanted and architecture, "a tailored candidate"  # noqa: S101
    version = re.search(r"(\d+)\.(\d+)", Path(wanted.source).name)
    if not version:
        return ""
    require = {symbol: str(value) for symbol, value in wanted.require.items()}
    number = (int(version[1]), int(version[2]))
    try:
        merged(wishes((*needs, *wanted.needs), architecture, number), require, wanted.forbid)
    except BadInput as error:
        return str(error)
    return ""

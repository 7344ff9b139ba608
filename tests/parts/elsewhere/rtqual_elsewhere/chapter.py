# SPDX-License-Identifier: MIT
"""The lines by which boards elsewhere were reached."""

from collections.abc import Iterator

from rtqual.reports.material import Material
from rtqual.reports.page.document import Bullets
from rtqual.reports.page.text import clean


def lines(material: Material) -> Iterator[Bullets]:
    """Yield a list of them, where records name some."""
    used = dict.fromkeys(one.inputs.artefacts["line"] for one in material.records if "line" in one.inputs.artefacts)
    if used:
        yield Bullets(tuple(clean(line) for line in used))

# SPDX-License-Identifier: MIT
"""The verdicts once more, and what would change them."""

from collections.abc import Iterator

from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, Paragraph, bullets
from rtqual.reports.page.text import prose


def conclusion(material: Material) -> Iterator[Block]:
    for _, verdict in material.evidence.headed:
        yield Paragraph(f"On the {verdict.board} board: {prose(verdict.headline)}")
        yield from bullets("What would change this", verdict.would_change)
    if not material.evidence.verdicts:
        yield Paragraph("The records support no verdict.")

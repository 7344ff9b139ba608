# SPDX-License-Identifier: MIT
"""Why the test was made: the mission, its requirements and its criteria."""

from collections.abc import Iterator

from rtqual.engine.mission import Criterion, Requirement
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, Column, Paragraph, TableCell, texts
from rtqual.reports.page.text import clean, load_text, number, prose, quantity


def purpose(material: Material) -> Iterator[Block]:
    mission = material.mission
    yield Paragraph(prose(mission.mission.purpose))
    measured = f"It measured {len(material.measured)} of the {len(material.candidates)} candidates."
    printed = f"The figures of {len(material.published)} are those a study printed." if material.published else ""
    asks = "This test asks which candidate operating system meets the mission's requirements, and by how much. "
    if not mission.requirements and not mission.mission.needs:
        asks = "The mission sets no requirement: this test compares the candidate operating systems. "
    yield Paragraph(
        asks
        + " ".join(filter(None, (measured if material.measured or not printed else "It measured nothing.", printed)))
    )
    if mission.requirements:
        yield material.numbering.table(
            "Requirements: a candidate that misses one is out",
            texts("Requirement", "Instrument", "Load", "Figure", "Limit", "Margin"),
            [[TableCell(clean(text)) for text in (*_asked(r), _limit(r), _margin(r))] for r in mission.requirements],
        )
    if mission.criteria:
        yield material.numbering.table(
            "Criteria: how candidates that meet every requirement are ranked",
            [*texts("Criterion", "Instrument", "Load", "Figure", "Better", "Margin"), Column("Weight")],
            [
                [
                    *(TableCell(clean(text)) for text in (*_asked(c), str(c.better), _margin(c))),
                    TableCell(number(c.weight)),
                ]
                for c in mission.criteria
            ],
        )


def _asked(asked: Requirement | Criterion) -> tuple[str, str, str, str]:
    figure = str(asked.statistic or asked.scalar)
    of = f"{figure} of {prose(asked.series)}" if asked.series else figure
    return prose(asked.name), asked.instrument, load_text(asked.load), of


def _margin(asked: Requirement | Criterion) -> str:
    return prose(asked.margin.text) if asked.margin else "-"


def _limit(requirement: Requirement) -> str:
    limit = requirement.limit
    written = prose(limit.text) if limit.unit is None else quantity(limit.value, limit.unit)
    return f"{'at most' if requirement.at_most else 'at least'} {written}"

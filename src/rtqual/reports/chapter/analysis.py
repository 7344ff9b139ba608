# SPDX-License-Identifier: MIT
"""What follows from the results: a section for each row of SECTIONS that has something to show."""

from collections.abc import Callable, Iterable, Iterator

from rtqual.parts.studies.chapter_beside import beside
from rtqual.parts.studies.chapter_repeated import repeated
from rtqual.parts.tailor.chapter import tailoring
from rtqual.reports.chapter.comparisons import comparisons
from rtqual.reports.chapter.dependence import dependence
from rtqual.reports.chapter.judgement import requirements, scores
from rtqual.reports.chapter.mechanisms import mechanisms
from rtqual.reports.chapter.stability import stability
from rtqual.reports.chapter.tails import tails
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, Heading
from rtqual_docking.chapter import camera
from rtqual_docking.chapter_docking import docking

Sections = tuple[tuple[str, Callable[[Material], Iterable[Block]]], ...]

SECTIONS: Sections = (
    ("Tailored kernels", tailoring),
    ("LIDAR", camera),
    ("Docking", docking),
    ("By operating system", mechanisms),
    ("Stability", stability),
    ("Comparisons", comparisons),
    ("Dependence of the samples", dependence),
    ("Tails", tails),
    ("Beside published figures", beside),
    ("Studies repeated", repeated),
)


JUDGEMENT = (("Requirements", requirements), ("Scores", scores))


def analysis(material: Material) -> Iterator[Block]:
    yield from _sections(material, SECTIONS)


def judgement(material: Material) -> Iterator[Block]:
    yield from _sections(material, JUDGEMENT)


def _sections(material: Material, sections: Sections) -> Iterator[Block]:
    for title, section in sections:
        if blocks := list(section(material)):
            yield Heading(title)
            yield from blocks

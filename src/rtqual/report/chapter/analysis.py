# SPDX-License-Identifier: MIT
"""What follows from the results: a section for each row of SECTIONS that has something to show."""

from collections.abc import Callable, Iterable, Iterator

from rtqual.report.chapter.beside import beside
from rtqual.report.chapter.comparisons import comparisons
from rtqual.report.chapter.dependence import dependence
from rtqual.report.chapter.docking import docking
from rtqual.report.chapter.judgement import requirements, scores
from rtqual.report.chapter.lidar import camera
from rtqual.report.chapter.mechanisms import mechanisms
from rtqual.report.chapter.repeated import repeated
from rtqual.report.chapter.stability import stability
from rtqual.report.chapter.tailor import tailoring
from rtqual.report.chapter.tails import tails
from rtqual.report.material import Material
from rtqual.report.page.document import Block, Heading

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

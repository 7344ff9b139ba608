# SPDX-License-Identifier: MIT
"""What follows from the results: a section of each part that has something to show."""

from collections.abc import Callable, Iterable, Iterator

from rtqual.protocols.part import Section, load, rows
from rtqual.reports.chapter.judgement import requirements, scores
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, Heading

Sections = Iterable[tuple[str, Callable[[Material], Iterable[Block]]]]
JUDGEMENT = (("Requirements", requirements), ("Scores", scores))


def analysis(material: Material) -> Iterator[Block]:
    yield from _sections(material, _brought())


def judgement(material: Material) -> Iterator[Block]:
    yield from _sections(material, JUDGEMENT)


def _brought() -> Iterator[tuple[str, Callable[[Material], Iterable[Block]]]]:
    for _, row in rows("sections"):
        assert isinstance(row, Section), "as the field of Part says"  # noqa: S101
        yield row.title, load(row.where)


def _sections(material: Material, sections: Sections) -> Iterator[Block]:
    for title, section in sections:
        if blocks := list(section(material)):
            yield Heading(title)
            yield from blocks

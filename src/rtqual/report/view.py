# SPDX-License-Identifier: MIT
"""From what was measured to the tree that all formats print: the verdict first, then numbered chapters."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import count

from rtqual.report.chapter.analysis import analysis
from rtqual.report.chapter.conclusion import conclusion
from rtqual.report.chapter.environment import environment
from rtqual.report.chapter.failures import failures
from rtqual.report.chapter.lidar import goals_box
from rtqual.report.chapter.method import method
from rtqual.report.chapter.purpose import purpose
from rtqual.report.chapter.reproduction import reproduction
from rtqual.report.chapter.results import results
from rtqual.report.chapter.systems import systems
from rtqual.report.chapter.tools import tools
from rtqual.report.chapter.verdicts import verdict_boxes
from rtqual.report.draw.canvas import standalone
from rtqual.report.formats import PAGES
from rtqual.report.material import Material
from rtqual.report.page.document import PLOT_FOLDER, Block, Chapter, Document, Heading
from rtqual.report.page.render import to_html, to_markdown, to_pdf
from rtqual.report.page.text import clean, duration, prose

# As a test report has them: purpose, systems, tools, environment, method, results, conclusion; then the appendices.
CHAPTERS: tuple[tuple[str, str, Callable[[Material], Iterable[Block]]], ...] = (
    ("1", "Test purpose", purpose),
    ("2", "Systems under test", systems),
    ("3", "Test tools", tools),
    ("4", "Test environment", environment),
    ("5", "Test method", method),
    ("6", "Test results", results),
    ("7", "Analysis", analysis),
    ("8", "Conclusion", conclusion),
    ("A", "Commands to reproduce every group", reproduction),
    ("B", "Failures and problems", failures),
)


def build(material: Material) -> Document:
    header = material.mission.mission
    known = {*material.measured, *material.published}
    return Document(
        title=prose(header.title),
        purpose=prose(header.purpose),
        facts=(
            ("Mission", header.name),
            ("Critical phase", duration(header.duration)),
            ("Needs", ", ".join(header.needs) or "none stated"),
            ("Scale", clean(material.evidence.scale) or "not stated"),
            ("Candidates measured", _names(material.measured)),
            *([("Of a published study", _names(material.published))] if material.published else []),
            ("Not measured at this scale", _names(c for c in material.candidates if c not in known)),
        ),
        # Before the chapters, so that their tables have the first numbers.
        verdicts=(*goals_box(material), *verdict_boxes(material)),
        chapters=tuple(
            Chapter(number, title, tuple(_numbered(number, blocks(material)))) for number, title, blocks in CHAPTERS
        ),
        colours=tuple((clean(name), material.palette.colour(name)) for name in material.candidates),
    )


def pages(material: Material, formats: Collection[str]) -> dict[str, bytes]:
    """The files of the formats that people read, by name."""
    document = build(material)
    files: dict[str, bytes] = {}
    if "html" in formats:
        files[PAGES["html"]] = to_html(document).encode()
    if "pdf" in formats:
        files[PAGES["pdf"]] = to_pdf(document)
    if "md" in formats:
        files[PAGES["md"]] = to_markdown(document).encode()
        files |= {f"{PLOT_FOLDER}/{plot.file}": standalone(plot.svg).encode() for plot in document.plots}
    return files


def _numbered(chapter: str, blocks: Iterable[Block]) -> Iterator[Block]:
    numbers = count(1)
    for block in blocks:
        yield replace(block, number=f"{chapter}.{next(numbers)}") if isinstance(block, Heading) else block


def _names(candidates: Iterable[str]) -> str:
    return clean(", ".join(candidates)) or "none"

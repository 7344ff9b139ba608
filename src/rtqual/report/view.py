# SPDX-License-Identifier: MIT
"""From what was measured to the tree that all formats print: the verdict first, then numbered chapters."""

from collections.abc import Callable, Iterable

from rtqual.report.chapter import chapters, executive, judgement, results
from rtqual.report.chapter.beside import beside
from rtqual.report.chapter.comparisons import comparisons
from rtqual.report.chapter.lidar import camera, goals_box
from rtqual.report.chapter.mechanisms import mechanisms
from rtqual.report.chapter.stability import stability
from rtqual.report.chapter.tailor import tailoring
from rtqual.report.chapter.tails import dependence, tails
from rtqual.report.material import Material
from rtqual.report.page.document import Block, Chapter, Document, Heading
from rtqual.report.page.text import clean, duration, prose


def build(material: Material) -> Document:
    """The structure of a test report: purpose, systems, tools, environment, method, results, conclusion."""
    header = material.mission.mission
    known = {*material.measured, *material.published}
    # First, so that their tables have the first numbers.
    verdicts = (*goals_box(material), *executive.verdict_boxes(material))
    contents: list[tuple[str, Callable[[str], Iterable[Block]]]] = [
        ("Test purpose", lambda _: chapters.purpose(material)),
        ("Systems under test", lambda _: chapters.systems(material)),
        ("Test tools", lambda _: chapters.tools(material)),
        ("Test environment", lambda number: chapters.environment(material, number)),
        ("Test method", lambda _: chapters.method(material)),
        ("Test results", lambda number: results.results(material, number)),
        ("Analysis", lambda number: _analysis(material, number)),
        ("Conclusion", lambda _: executive.conclusion(material)),
    ]
    appendices: list[tuple[str, Callable[[str], Iterable[Block]]]] = [
        ("Commands to reproduce every group", lambda _: chapters.reproduction(material)),
        ("Failures and problems", lambda _: chapters.failures(material)),
    ]
    numbered = [(str(n), *one) for n, one in enumerate(contents, 1)]
    numbered += [(letter, *one) for letter, one in zip("AB", appendices, strict=True)]
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
        verdicts=verdicts,
        chapters=tuple(Chapter(number, title, tuple(blocks(number))) for number, title, blocks in numbered),
        colours=tuple((clean(name), material.palette.colour(name)) for name in material.candidates),
    )


def _names(candidates: Iterable[str]) -> str:
    return clean(", ".join(candidates)) or "none"


def _analysis(material: Material, chapter: str) -> Iterable[Block]:
    verdicts = material.evidence.verdicts
    parts: list[tuple[str, list[Block]]] = [
        ("Tailored kernels", list(tailoring(material))),
        ("LIDAR", list(camera(material))),
        ("Requirements", [table for one in verdicts for table in judgement.requirements(material, one)]),
        ("Scores", [table for one in verdicts for table in judgement.scores(material, one)]),
        ("By operating system", list(mechanisms(material))),
        ("Stability", list(stability(material))),
        ("Comparisons", list(comparisons(material))),
        ("Dependence of the samples", list(dependence(material))),
        ("Tails", list(tails(material))),
        ("Beside published figures", list(beside(material))),
    ]
    for index, (title, blocks) in enumerate(((title, blocks) for title, blocks in parts if blocks), 1):
        yield Heading(f"{chapter}.{index}", title)
        yield from blocks

# SPDX-License-Identifier: MIT
"""From what was measured to the tree that all formats print: the verdict first, then numbered chapters."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from itertools import count
from string import ascii_uppercase

from rtqual import __version__
from rtqual.base.words import listed
from rtqual.engine.analysis.verdict.model import Ground
from rtqual.engine.campaign.sessions import SESSIONS
from rtqual.engine.mission import PUBLISHED
from rtqual.engine.mission.model import Paper
from rtqual.protocols.part import Chapter, load, rows
from rtqual.reports.chapter.decision import decision
from rtqual.reports.draw.canvas import standalone
from rtqual.reports.formats import PAGES
from rtqual.reports.material import Material
from rtqual.reports.page.document import PLOT_FOLDER, Block, Document, Heading, Printed, ReportChapter
from rtqual.reports.page.render import to_html, to_markdown, to_pdf
from rtqual.reports.page.text import clean, distinct, duration, prose

_RELEASE = 64  # characters; uname(2) has no more
_UNTOLD = "not told"
_HASH = 16  # digits of a hash; the whole stands in the records


def build(material: Material) -> Document:
    header = material.mission.mission
    paper = material.mission.document
    known = {*material.measured, *material.published}
    failed = {run.group.candidate for run in material.evidence.lost} - known
    return Document(
        title=prose(header.title),
        purpose=prose(header.purpose),
        facts=(
            ("Mission", header.name),
            ("Critical phase", duration(header.duration)),
            ("Needs", ", ".join(header.needs) or "none stated"),
            ("Scale", clean(material.evidence.scale) or "not stated"),
            ("Candidates measured", clean(", ".join(_with_kernels(material))) or "none"),
            *([("Of a published study", _names(material.published))] if material.published else []),
            *([("No run gave a record", _names(c for c in material.candidates if c in failed))] if failed else []),
            ("Not measured at this scale", _names(c for c in material.candidates if c not in known | failed)),
            *_conducted(material),
            *_programs(material),
            *made_with(paper),
        ),
        signatures=signatures(paper),
        # Before the chapters, so that their tables have the first numbers.
        decision=decision(material),
        verdicts=tuple(box for _, row in rows("boxes") for box in load(row.where)(material)),
        chapters=tuple(chapters(_brought(material))),
        colours=tuple((clean(name), material.palette.colour(name)) for name in material.candidates),
        digest=material.told.digest,
    )


def _brought(material: Material) -> Iterator[tuple[str, str, Iterable[Block]]]:
    for _, row in rows("chapters"):
        assert isinstance(row, Chapter), "as the field of Part says"  # noqa: S101
        yield row.number, row.title, load(row.where)(material)


def _with_kernels(material: Material) -> Iterator[str]:
    """What was measured, with the release of its kernel where it has one, and whether it is for comparison."""
    judged = [(s.candidate, verdict.ground) for verdict in material.evidence.verdicts for s in verdict.standings]
    for name in material.measured:
        kernels = {
            manifest.provenance.kernel.split(" ", 1)[0][:_RELEASE]
            for manifest in material.records
            if manifest.inputs.candidate == name and manifest.inputs.board != PUBLISHED and manifest.provenance.kernel
        }
        beside = {ground for candidate, ground in judged if candidate == name} == {Ground.REFERENCE}
        told = [*([distinct(kernels)] if kernels else []), *(["for comparison"] if beside else [])]
        yield f"{name} ({', '.join(told)})" if told else name


def _conducted(material: Material) -> Iterator[tuple[str, str]]:
    """From the first run's day to the last one's (UTC), by whom and where; nothing where nothing was measured."""
    records = [manifest for manifest in material.records if manifest.inputs.board != PUBLISHED]
    if not records:
        return
    days = {manifest.provenance.started[:10] for manifest in records if manifest.provenance.started}
    if days:
        yield "Measured", clean(" to ".join(dict.fromkeys((min(days), max(days)))))
    known, paper = SESSIONS.of(material.annexes), material.mission.document
    sessions = known.sessions if known else ()
    callers = distinct(session.by for session in sessions) if sessions else _UNTOLD
    yield "Measured by", prose(paper.tested) or callers
    machines = distinct(f"{session.processor}, {session.system}" for session in sessions) if sessions else ""
    yield "Measured at", prose("; ".join(filter(None, (paper.place, machines)))) or _UNTOLD


def _programs(material: Material) -> Iterator[tuple[str, str]]:
    """The mission's own programs, by the hashes of what was measured, and what was changed of the kernel for them."""
    for program in material.mission.programs:
        hashes = {
            f"{name.removeprefix('binary ')} {sha256[:_HASH]}" if name != "binary" else sha256[:_HASH]
            for record in material.records if record.inputs.instrument == program.instrument
            for name, sha256 in record.inputs.parameters.get("hashes", {}).items() if name.partition(" ")[0] == "binary"
        }  # fmt: skip
        raised = [f"{name} at FIFO {priority}" for name, priority in program.kernel_threads.items()]
        told = [f"sha256 {', '.join(sorted(hashes))}" if hashes else ", ".join(program.packages) or "not measured"]
        told += [f"with the kernel's threads {listed(raised)}"] if raised else []
        yield f"Program {clean(program.name)}", prose("; ".join(told))


def made_with(paper: Paper) -> Iterator[tuple[str, str]]:
    """The facts that end every document's."""
    yield "Software", f"rtqual {__version__}"
    if paper.number:
        yield "Document", prose(" issue ".join(filter(None, (paper.number, paper.issue))))


def signatures(paper: Paper) -> tuple[tuple[str, str], ...]:
    """The lines to sign: what for, and what the mission says already."""
    return (
        ("Date", prose(paper.date)),
        ("Prepared", prose(paper.prepared)),
        ("Reviewed", prose(paper.reviewed)),
        ("Approved", prose(paper.approved)),
    )


def pages(document: Document, formats: Collection[str], printed: Printed) -> dict[str, bytes]:
    """The files of the formats that people read, by name."""
    files: dict[str, bytes] = {}
    if "html" in formats:
        files[PAGES["html"]] = to_html(document).encode()
    if "pdf" in formats:
        files[PAGES["pdf"]] = to_pdf(document, annex=printed.annex, archive=printed.archive)
    if "md" in formats:
        files[PAGES["md"]] = to_markdown(document).encode()
        files |= {f"{PLOT_FOLDER}/{plot.file}": standalone(plot.svg).encode() for plot in document.plots}
    return files


def chapters(of: Iterable[tuple[str, str, Iterable[Block]]]) -> Iterator[ReportChapter]:
    """Those without a number, and those with a small letter, are there only where they have something to say; those
    that follow count on."""
    numbers, letters = count(1), iter(ascii_uppercase)
    for number, title, blocks in of:
        said = list(blocks)
        if said or (number and not number.islower()):
            own = next(letters) if number.isalpha() else str(next(numbers))
            yield ReportChapter(own, title, tuple(_numbered(own, said)))


def _numbered(chapter: str, blocks: Iterable[Block]) -> Iterator[Block]:
    numbers = count(1)
    for block in blocks:
        yield replace(block, number=f"{chapter}.{next(numbers)}") if isinstance(block, Heading) else block


def _names(candidates: Iterable[str]) -> str:
    return clean(", ".join(candidates)) or "none"

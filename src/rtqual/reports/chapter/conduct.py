# SPDX-License-Identifier: MIT
"""Who ran the tests, when, where and with what; what was interrupted, and which runs were made again."""

from collections.abc import Iterator

from rtqual.base.words import count
from rtqual.engine.campaign.lost import place
from rtqual.engine.campaign.sessions import SESSIONS
from rtqual.engine.mission import PUBLISHED
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, Paragraph, TableCell, bullets, texts
from rtqual.reports.page.text import clean, distinct, load_text, prose

_INTERRUPTED = "interrupted"


def conduct(material: Material) -> Iterator[Block]:
    """Nothing of a study's figures alone."""
    run = [manifest for manifest in material.records if manifest.inputs.board != PUBLISHED]
    if not run:
        return
    paper, known = material.mission.document, SESSIONS.of(material.annexes)
    began = sorted(manifest.provenance.started for manifest in run if manifest.provenance.started)
    when = f"between {_minute(began[0])} and {_minute(began[-1])} UTC" if began else "at times that no record tells"
    who = f" by {prose(paper.tested)}" if paper.tested else ""
    where = f" at {prose(paper.place)}" if paper.place else ""
    again = f" {count(material.told.again, 'run')} more tested whether they repeat." if material.told.again else ""
    yield Paragraph(f"The {count(len(run), 'run')} of this report began {when}{who}{where}.{again}")
    if known:
        rows = [
            (
                TableCell(_minute(session.began)), TableCell(_minute(session.ended) if session.ended else _INTERRUPTED),
                TableCell(clean(session.by)),
                TableCell(clean(f"{session.processor}; {session.system}")), TableCell(clean(session.rtqual)),
            )
            for session in known.sessions
        ]  # fmt: skip
        columns = texts("Began (UTC)", "Ended", "By", "On", "rtqual")
        yield material.numbering.table("Calls of rtqual that measured", columns, rows)
    yield from bullets("Runs that left no record and were made again, or were to be", _lost(material), "open")
    yield from _tools(material)


def _lost(material: Material) -> Iterator[str]:
    for name, lost in material.told.lost.items():
        ran = lost.inputs
        where = f"{ran.candidate}, {ran.instrument} {load_text(ran.load)}" if ran else lost.instrument
        yield f"{where}, {lost}" + (f"; rtqual explain {place(name)} says where it stands" if lost.died else "")


def _tools(material: Material) -> Iterator[Block]:
    """The programs that measured, and what emulated, by board."""
    found: dict[tuple[str, str], set[str]] = {}
    for manifest in material.records:
        known = {**manifest.provenance.tools, "rtqual": manifest.provenance.rtqual}
        known |= {
            title: manifest.inputs.artefacts[name]
            for name, title in _EMULATED.items()
            if name in manifest.inputs.artefacts
        }
        for program, version in known.items():
            found.setdefault((manifest.inputs.board, program), set()).add(version)
    rows = [(TableCell(clean(program)), TableCell(clean(board)), TableCell(distinct(versions)))
            for (board, program), versions in sorted(found.items())]  # fmt: skip
    if rows:
        yield material.numbering.table("Tools", texts("Program", "Board", "Version, or SHA-256"), rows)


_EMULATED = {"qemu": "QEMU", "clock": "rtqual's clock in QEMU"}


def _minute(moment: str) -> str:
    """'2026-11-26 17:09'."""
    return clean(moment[:16].replace("T", " "))

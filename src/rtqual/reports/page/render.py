# SPDX-License-Identifier: MIT
"""The document as HTML, PDF and Markdown. Its text is of unknown origin and is escaped here."""

import os
import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from rtqual.base.errors import BadInput
from rtqual.base.scratch import scratch
from rtqual.reports.page.document import PLOT_FOLDER, Block, Document, Explorer, Note, Plot, Table
from rtqual.reports.page.explorer.scripts import Scripts, scripts
from rtqual.reports.page.explorer.sort import keys_of
from rtqual.reports.page.markdown import literal

_TABLE = re.compile(r"^\|.*\|\n\|[-:| ]+\|\n(?:\|.*\|\n)*", re.MULTILINE)
_BORDER = re.compile(r"(?<!\\)\|")
_RAISED = str.maketrans("abcdefghijklmnoprstuvwxyz0123456789", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹", ",")
WIDEST = 72  # characters of a cell that its column of a Markdown table makes room for
LONG = 90  # characters of code that a cell holds
TEMPLATES = Path(__file__).parent / "templates"


def to_html(document: Document) -> str:
    """One page that asks for nothing from outside: plots are drawn inline, scripts stand in it.

    The scripts add to it: without them, and on paper, all plots and tables are there.
    """
    explorable = any(isinstance(block, Explorer) for chapter in document.chapters for block in chapter.blocks)
    return _page(document, lambda plot: plot.svg, scripts(explorer=explorable), ())


def to_pdf(document: Document, *, annex: bool = False, archive: bool = False) -> bytes:
    """The same page on paper, tagged for screen readers (PDF/UA-1), or for archives (PDF/A-3a); the annex if asked for.

    WeasyPrint writes no time and no random id, so equal pages give equal bytes. Plots are images here: WeasyPrint would
    apply the page's style to every stroke of an inline plot.
    """
    try:
        with _temporary_files_swept():  # it looks for libraries through gcc, which leaves files behind
            from weasyprint import HTML  # noqa: PLC0415 - slow to load, and needs Pango
    except (ImportError, OSError) as error:
        raise BadInput(
            f"the PDF report needs WeasyPrint and Pango ({error}): "
            "`pip install rtqual[report]` and `apt-get install libpango-1.0-0 libpangoft2-1.0-0`"
        ) from None
    left_out = [] if annex else [chapter.heading for chapter in document.chapters if chapter.annex]
    kept = replace(document, chapters=tuple(chapter for chapter in document.chapters if annex or not chapter.annex))
    variant = "pdf/a-3a" if archive else "pdf/ua-1"
    page = HTML(string=_page(kept, _as_image, None, left_out))
    pdf: bytes = page.write_pdf(pdf_variant=variant, pdf_identifier=document.digest.encode() or None)
    return pdf


@contextmanager
def _temporary_files_swept() -> Iterator[None]:
    before = os.environ.get("TMPDIR")
    with scratch() as folder:
        os.environ["TMPDIR"] = str(folder)
        try:
            yield
        finally:
            if before is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = before


def _as_image(plot: Plot) -> str:
    data = b64encode(plot.svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(plot.alt)}">'


def _page(document: Document, draw: Callable[[Plot], str], own: Scripts | None, left_out: Sequence[str]) -> str:
    environment = _environment(autoescape=True)
    environment.filters["draw"] = lambda plot: Markup(draw(plot))  # noqa: S704 - escaped where it is drawn
    environment.filters |= {"inert": _inert, "as_is": Markup, "keys": keys_of}
    style = Markup((TEMPLATES / "report.css").read_text())  # noqa: S704 - ours
    template = environment.get_template("report.html.j2")
    return template.render(document=document, style=style, own=own, left_out=left_out, kind=_kind).lstrip()


def _inert(json: str) -> Markup:
    """JSON that can neither end its script element nor open a comment in it."""
    return Markup(json.replace("<", "\\u003c"))  # noqa: S704 - escaped just now


def to_markdown(document: Document) -> str:
    environment = _environment(autoescape=False)
    environment.finalize = _markdown
    environment.filters |= {"fence": _fence, "image": _image, "raised": _raised, "brief": _brief}
    text = environment.get_template("report.md.j2").render(document=document, kind=_kind)
    text = re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
    return _TABLE.sub(lambda table: _aligned(table[0]), text)


def _environment(*, autoescape: bool) -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=autoescape,  # noqa: S701 - Markdown has its own escape, see finalize
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _kind(block: Block) -> str:
    """The name of a block's template macro."""
    return type(block).__name__


def _markdown(value: object) -> object:
    """Text on one line in which no character means anything to Markdown."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return Markup(literal(value))  # noqa: S704 - escaped just now


def _brief(table: Table) -> Table:
    """A table whose long code stands in notes below it."""
    long = dict.fromkeys(cell.text for row in table.rows for cell in row if cell.code and len(cell.text) > LONG)
    if not long:
        return table
    marks = {text: str(number).translate(_RAISED) for number, text in enumerate(long, 1)}
    rows = [
        tuple(replace(cell, text="see", marks=marks[cell.text]) if cell.text in marks else cell for cell in row)
        for row in table.rows
    ]
    return replace(table, rows=tuple(rows), notes=(*table.notes, *(Note(mark, text) for text, mark in marks.items())))


def _raised(marks: str) -> str:
    """Footnote marks as raised letters, so that they read well without a browser."""
    return marks.translate(_RAISED)


def _aligned(table: str) -> str:
    """The lines of a table with their columns below each other; a long cell sticks out rather than widen all."""
    rows = [[cell.strip() for cell in _BORDER.split(line)[1:-1]] for line in table.splitlines()]
    widths = [max(len(cell) if len(cell) <= WIDEST else 0 for cell in column) for column in zip(*rows, strict=True)]
    to_the_right = [cell.endswith(":") for cell in rows[1]]
    rows[1] = [
        ("-" * (width - 1) + ":") if right else "-" * width for width, right in zip(widths, to_the_right, strict=True)
    ]
    lines = (
        " | ".join(
            cell.rjust(w) if right else cell.ljust(w) for cell, w, right in zip(row, widths, to_the_right, strict=True)
        )
        for row in rows
    )
    return "".join(f"| {line} |\n" for line in lines)


def _fence(text: str) -> Markup:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return Markup(f"{fence}sh\n{text}\n{fence}")  # noqa: S704 - nothing in a fence is markup


def _image(plot: Plot) -> Markup:
    return Markup(f"![{_markdown(plot.alt)}]({PLOT_FOLDER}/{plot.file})")  # noqa: S704 - escaped just now

# SPDX-License-Identifier: MIT
"""The document as HTML, PDF and Markdown. Its text is of unknown origin and is escaped here."""

import re
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from rtqual.errors import BadInput
from rtqual.report.document import Document, Plot

_MARKDOWN_SPECIAL = re.compile(r"([\\`*{}\[\]<>#|~!&$]|\b_|_\b|(?<=_)_)")
_LIST_START = re.compile(r"^(\d*)([-+.)])(?=\s)")
PLOT_FOLDER = "plots"
TEMPLATES = Path(__file__).parent / "templates"


def to_html(document: Document) -> str:
    """One page that asks for nothing from outside: plots are drawn inline."""
    return _page(document, lambda plot: plot.svg)


def to_pdf(document: Document) -> bytes:
    """The same page on paper. WeasyPrint writes no time and no random id, so equal pages give equal bytes.

    Plots are images here: WeasyPrint would try the page's style on every stroke of an inline one.
    """
    try:
        from weasyprint import HTML  # noqa: PLC0415 - slow to load, and needs Pango
    except (ImportError, OSError) as error:
        raise BadInput(
            f"the PDF report needs WeasyPrint and Pango ({error}): "
            "`pip install rtqual[report]` and `apt-get install libpango-1.0-0 libpangoft2-1.0-0`"
        ) from None
    pdf: bytes = HTML(string=_page(document, _as_image)).write_pdf()
    return pdf


def _as_image(plot: Plot) -> str:
    data = b64encode(plot.svg.encode()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(plot.alt)}">'


def _page(document: Document, draw: Callable[[Plot], str]) -> str:
    environment = _environment(autoescape=True)
    environment.filters["draw"] = lambda plot: Markup(draw(plot))  # noqa: S704 - escaped where it is drawn
    style = Markup((TEMPLATES / "report.css").read_text())  # noqa: S704 - ours
    template = environment.get_template("report.html.j2")
    return template.render(document=document, style=style, kind=_kind).lstrip()


def to_markdown(document: Document) -> str:
    environment = _environment(autoescape=False)
    environment.finalize = _markdown
    environment.filters |= {"fence": _fence, "image": _image}
    text = environment.get_template("report.md.j2").render(document=document, kind=_kind)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def _environment(*, autoescape: bool) -> Environment:
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=autoescape,  # noqa: S701 - Markdown has its own escape, see finalize
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _kind(block: Any) -> str:
    """The name of a block's template macro."""
    return type(block).__name__


def _markdown(value: Any) -> Any:
    """Text on one line in which no character means anything to Markdown."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    line = _MARKDOWN_SPECIAL.sub(r"\\\1", " ".join(value.split()))
    line = line.replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\&", "&amp;")
    return Markup(_LIST_START.sub(r"\1\\\2", line))  # noqa: S704 - escaped just now


def _fence(text: str) -> Markup:
    """A code block whose fence is longer than any run of backticks in it."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return Markup(f"{fence}sh\n{text}\n{fence}")  # noqa: S704 - nothing in a fence is markup


def _image(plot: Plot) -> Markup:
    return Markup(f"![{_markdown(plot.alt)}]({PLOT_FOLDER}/{plot.file})")  # noqa: S704 - escaped just now

# SPDX-License-Identifier: MIT
"""The report as a tree of plain text: what HTML, PDF and Markdown print, each in its own way.

Every string here is text, not markup; a template escapes it for its format.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from string import ascii_lowercase

from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.verdict.model import Outcome
from rtqual.reports.page.text import TIMING_NOTE, marked, prose

PLOT_FOLDER = "plots"  # beside report.md
TONES = {Outcome.MET: "met", Outcome.NOT_MET: "failed", Outcome.UNDECIDED: "open", Outcome.INDICATIVE: "indicative"}
SIGNS = {Outcome.MET: "✓", Outcome.NOT_MET: "✗", Outcome.UNDECIDED: "?", Outcome.INDICATIVE: "~"}


@dataclass(frozen=True)
class Printed:
    """What is printed."""

    annex: bool = False  # the chapters that the others rest on
    archive: bool = False  # PDF/A in place of PDF/UA


AS_USUAL = Printed()


@dataclass(frozen=True)
class TableCell:
    text: str
    detail: str = ""  # smaller, below: an interval, a sample count
    marks: str = ""  # of the footnotes
    tone: str = ""  # met | failed | open
    code: bool = False


@dataclass(frozen=True)
class Column:
    title: str
    numeric: bool = True
    candidate: str = ""  # set: the column is about this candidate and shows its colour
    name: bool = False  # of short names: they are not broken into lines


def texts(*titles: str) -> list[Column]:
    """Columns of words."""
    return [Column(title, False) for title in titles]


def numbers(*titles: str) -> list[Column]:
    """Columns of figures."""
    return [Column(title) for title in titles]


@dataclass(frozen=True)
class Note:
    mark: str
    text: str


@dataclass(frozen=True)
class Table:
    """The first cell of every row is its heading."""

    number: int
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[TableCell, ...], ...]
    notes: tuple[Note, ...] = ()
    compact: bool = False  # details stand beside their figure, not below
    stacks: bool = (
        False  # where its columns have no room its cells stand below each other, so that none is out of sight
    )

    @property
    def all_figures(self) -> bool:
        """Whether every column but the first holds figures, so that all may be equally wide."""
        return all(column.numeric for column in self.columns[1:])

    @property
    def code_columns(self) -> tuple[int, ...]:
        """Columns of code, which may be broken anywhere: they take the width that the others leave."""
        return tuple(i for i in range(len(self.columns)) if any(row[i].code for row in self.rows))


@dataclass(frozen=True)
class Plot:
    number: int
    caption: str
    alt: str
    svg: str

    @property
    def ident(self) -> str:
        return f"figure-{self.number}"

    @property
    def file(self) -> str:
        return f"figure-{self.number:02d}.svg"


@dataclass(frozen=True)
class Plots:
    """Plots to see side by side where there is room."""

    plots: tuple[Plot, ...]
    notes: tuple[Note, ...] = ()


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Bullets:
    items: tuple[str, ...]
    title: str = ""
    tone: str = ""


def bullets(title: str, items: Iterable[str], tone: str = "") -> Iterator[Bullets]:
    """A list of sentences; nothing without any."""
    if written := tuple(map(prose, items)):
        yield Bullets(written, title, tone)


@dataclass(frozen=True)
class ShownCommand:
    title: str
    shell: str
    note: str


@dataclass(frozen=True)
class Commands:
    """Long command lines, folded away on a screen."""

    title: str
    commands: tuple[ShownCommand, ...]


@dataclass(frozen=True)
class Heading:
    """Starts a section within a chapter, which numbers it."""

    title: str
    number: str = ""


@dataclass(frozen=True)
class Beside:
    """Tables and the plots that show the same, side by side where there is room."""

    tables: tuple[Table, ...]
    plots: Plots

    @property
    def notes(self) -> tuple[Note, ...]:
        """Of all of them, each once: they stand below, as wide as the page."""
        of_tables = (note for table in self.tables for note in table.notes)
        return tuple(dict.fromkeys((*of_tables, *self.plots.notes)))


@dataclass(frozen=True)
class Explorer:
    """Samples to plot anew in a page whose scripts run: JSON for page/explorer/. Nothing on paper."""

    data: str


Block = Table | Plots | Paragraph | Bullets | Commands | Heading | Beside | Explorer


@dataclass(frozen=True)
class ReportChapter:
    number: str
    title: str
    blocks: tuple[Block, ...]

    @property
    def annex(self) -> bool:
        """Whether it is left out on paper unless asked for."""
        return self.number.isalpha()

    @property
    def ident(self) -> str:
        return f"chapter-{self.number.lower()}"

    @property
    def heading(self) -> str:
        return f"{'Annex ' if self.annex else ''}{self.number} {self.title}"


@dataclass(frozen=True)
class VerdictBox:
    """What one kind of board supports, or the docking camera, for the first page."""

    title: str
    decided: bool
    headline: str  # empty: the decision's, which is not said twice
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Document:
    title: str
    purpose: str
    facts: tuple[tuple[str, str], ...]
    signatures: tuple[tuple[str, str], ...]  # what is signed -> by whom, or empty: a line to sign
    decision: VerdictBox | None  # of the whole campaign, on the first page
    verdicts: tuple[VerdictBox, ...]  # what it rests on, board by board
    chapters: tuple[ReportChapter, ...]
    colours: tuple[tuple[str, str], ...]  # candidate -> its colour, as in the plots
    digest: str = ""  # of the campaign, in hexadecimal: what the report is of
    kind: str = "Real-time operating system test report"
    short_kind: str = "test report"  # beside the title

    @property
    def plots(self) -> Iterator[Plot]:
        """In the order they stand."""
        first = [self.decision] if self.decision else []
        parts: list[VerdictBox | ReportChapter] = [*first, *self.verdicts, *self.chapters]
        for block in (block for part in parts for block in part.blocks):
            shown = block.plots if isinstance(block, Beside) else block
            if isinstance(shown, Plots):
                yield from shown.plots


@dataclass
class Notes:
    """Footnotes of one table: the same remark gets the same letter.

    `method` is that of most intervals of the table; it stands below once, and only others are marked.
    """

    method: str = ""
    letters: dict[str, str] = field(default_factory=dict)
    timing: dict[str, str] = field(default_factory=dict)

    def mark(self, remark: str) -> str:
        """The mark of a remark; no mark for no remark."""
        if not remark:
            return ""
        count = len(self.letters)
        name = ascii_lowercase[count % 26] * (1 + count // 26)
        return self.letters.setdefault(remark, name)

    def timed(self, marks: str) -> str:
        """Timing marks, remembered so that their explanations stand below the table."""
        self.timing |= {mark: TIMING_NOTE[mark] for mark in marks}
        return marks

    def listed(self) -> tuple[Note, ...]:
        timing = tuple(Note(mark, text) for mark, text in sorted(self.timing.items(), reverse=True))
        if self.method:
            timing += (Note("", f"With a figure stands its 95 % interval: {self.method}, unless marked otherwise."),)
        return timing + tuple(Note(mark, text) for text, mark in self.letters.items())


def outcome_cell(outcome: Outcome, detail: str = "", marks: str = "") -> TableCell:
    return TableCell(f"{SIGNS[outcome]}\u00a0{outcome}", detail, marks, TONES[outcome])


def raised(row: Sequence[TableCell]) -> list[TableCell]:
    """A row whose cells all have the same marks, with these on its heading instead."""
    heading, *cells = row
    marks = {cell.marks for cell in cells if cell.text != "-"}
    if len(marks) != 1 or heading.marks:
        return [*row]
    return [replace(heading, marks=marks.pop()), *(replace(cell, marks="") for cell in cells)]


@dataclass
class Numbering:
    """Running numbers of tables and figures."""

    tables: int = 0
    figures: int = 0
    explained: dict[tuple[Group, int], str] = field(default_factory=dict)  # a sample in ns -> its timeline's id

    def table(
        self,
        caption: str,
        columns: Iterable[Column],
        rows: Iterable[Iterable[TableCell]],
        notes: Iterable[Note] = (),
        *,
        compact: bool = False,
        stacks: bool = False,
    ) -> Table:
        self.tables += 1
        cells = tuple(tuple(row) for row in rows)
        return Table(self.tables, caption, tuple(columns), cells, tuple(notes), compact, stacks)

    def figure(self) -> int:
        self.figures += 1
        return self.figures

    def plot(self, caption: str, alt: str, draw: Callable[[str, str], str], mark: str = "") -> Plot:
        """`draw` makes the SVG from an id that is unique on the page and the text for those who do not see it."""
        figure = self.figure()
        return Plot(figure, marked(caption, mark), alt, draw(f"f{figure}", alt))

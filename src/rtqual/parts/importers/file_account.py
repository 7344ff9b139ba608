# SPDX-License-Identifier: MIT
"""What became of every line of a file: used, of a kind that holds no figures (lines.py), or an error that names it.

A reader says of each line `use`, `begin` or `skip`. What it says nothing of is judged here, for all readers alike. A
line that nobody understands is told where it stands beside a run's figures, and refused where it stands inside them:
there it may be a damaged one. What stands above a run (a heading, a command, the kernel) is kept for it. So nothing
vanishes, and no reader can forget to ask.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.base.errors import BadInput
from rtqual.parts.importers.lines import LONGEST, LineKind, classify

_MOST_PROBLEMS = 5
_MOST_TOLD = 8
_VERSION = re.compile(
    r"(?:(?:kernel|linux) v?|\bv)(\d{1,2}\.\d{1,3}[\w.-]{0,40})|"
    r"(?<![\d.])(\d{1,2}\.\d{1,3}(?:\.\d{1,3}|-r[ct])[\w.-]{0,40})",
    re.ASCII | re.IGNORECASE,
)
_HEADING = 80  # characters of a heading that are kept


def bad(path: Path, line: int | None, what: str) -> BadInput:
    """The complaint to raise; `what` ends with what to do."""
    return BadInput(f"{path}{'' if line is None else f':{line}'}: {what}")


def refuse_damage(path: Path, cut: tuple[int, str] | None) -> None:
    """A row unlike the others may be the cut end of a file; followed by more, the file is damaged."""
    if cut:
        raise bad(path, cut[0], f"{cut[1]}: the file is damaged; take this line out if it is noise")


@dataclass(frozen=True)
class Above:
    """What stands above a run in its file. Kernel and machine go on to hold until others are named."""

    heading: str = ""
    commands: tuple[str, ...] = ()  # since the run before; the last of a program counts
    earlier: tuple[str, ...] = ()  # above other runs
    facts: Mapping[str, str] = field(default_factory=dict)
    run: int = 0  # its number in the file

    def command(self, program: str, *, earlier: bool = False) -> str:
        """The last command line that runs a program, from the program's name on; empty where there is none.

        `earlier`: one above other runs will do, where this run has none.
        """
        pattern = re.compile(rf"(?:^|[\s/'\"]){re.escape(program)}(?=[\s'\"]|$)")
        for text in reversed((*(self.earlier if earlier else ()), *self.commands)):
            if match := pattern.search(text):
                return text[match.start() :].lstrip(" \t/'\"")
        return ""

    @property
    def label(self) -> tuple[str, str]:
        """What tells a run's system from that of another run in the file: its heading, its kernel."""
        return self.heading, self.facts.get("kernel", "")


@dataclass(frozen=True)
class _Failure:
    """What a line reports that makes figures doubtful: of the runs `first` to `last`. None: of all that follow."""

    said: str
    first: int
    last: int | None


@dataclass
class FileAccount:
    """`used` and `skipped` (by reason) count lines; in JSON, XML and YAML values, in tables rows."""

    path: Path
    of: str = "lines"
    used: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    remarks: list[str] = field(default_factory=list)  # what the file says that is no figure and may matter
    _failures: list[_Failure] = field(default_factory=list)
    _behind: list[str] = field(default_factory=list)  # failures since the last figures, before any heading or command
    _below: list[str] = field(default_factory=list)  # failures since then
    _runs: int = 0  # that have begun
    _unknown: list[tuple[int, str]] = field(default_factory=list)  # not understood, since the last figures
    _headings: list[str] = field(default_factory=list)  # text since the last figures
    _commands: list[str] = field(default_factory=list)
    _earlier: list[str] = field(default_factory=list)
    _facts: dict[str, str] = field(default_factory=dict)
    _names_kernel: bool = False  # since the last figures
    _heading: str = ""  # the last that a run had
    _parted: bool = False
    _after: str = ""

    @property
    def total(self) -> int:
        return self.used + self.skipped.total()

    def problems(self, first: int = 0, end: int | None = None) -> tuple[str, ...]:
        """The failures that the file reports of its runs from `first` to before `end`; None: to the last."""
        here = self._here()
        found = [
            *(
                failure.said
                for failure in self._failures
                if (failure.last is None or failure.last >= first) and (end is None or failure.first < end)
            ),
            *(said for said in (*self._behind, *self._below) if end is None or here < end),
        ]
        more = len(found) - _MOST_PROBLEMS
        return (*found[:_MOST_PROBLEMS], *([f"{more} more lines report a failure"] if more > 0 else []))

    def fail(self, said: str) -> None:
        """A line makes figures doubtful: those above it, unless a heading or a command stands between."""
        (self._below if self._parted else self._behind).append(said)

    def _here(self) -> int:
        """The run at hand."""
        return max(self._runs - 1, 0)

    @property
    def parted(self) -> bool:
        """Whether a heading, a command or another kernel stands between the last figures and the line at hand."""
        return self._parted

    def told(self) -> str:
        reasons = [f"{count} {reason}" for reason, count in sorted(self.skipped.items())]
        return f"{self.used} {self.of} used" + (f", without data: {', '.join(reasons)}" if reasons else "")

    def beside(self) -> tuple[str, ...]:
        """The lines that are to be told: warnings, and what nobody understood."""
        more = len(self.remarks) - _MOST_TOLD
        return (*self.remarks[:_MOST_TOLD], *([f"{more} more such lines"] if more > 0 else []))

    def judge(self, number: int, text: str, own: re.Pattern[str] | None = None) -> None:
        """A line that the reader has no use for. `own`: how lines of its tool begin, which are never without data."""
        if text.strip() and own is not None and own.match(text):
            raise self._damaged(number, text)
        line = classify(text, self._after)
        self.skipped[line.kind] += 1
        if line.kind is not LineKind.FACT:
            self._after = line.command
        if line.kind is LineKind.COMMAND:
            self.note_command(line.command)
        elif line.kind is LineKind.FACT:
            facts = dict(line.facts)
            self._parted = self._parted or facts.get("kernel", "") != self._facts.get("kernel", "")
            self._facts |= facts
            self._names_kernel = self._names_kernel or "kernel" in facts
        elif line.kind in (LineKind.PROSE, LineKind.UNKNOWN):
            self._headings.append(text)
            self._parted = self._parted or line.kind is LineKind.PROSE or _is_marked(text)
        if line.kind is LineKind.UNKNOWN:
            if len(text) > LONGEST:
                raise self._damaged(number, text)
            self._unknown.append((number, text))
        elif line.kind is LineKind.FAILURE:
            self.fail(f"line {number} reports a failure: {shown(text)}")
        elif line.doubt:
            self.fail(f"line {number}: {line.said}")
        elif line.kind is LineKind.WARNING:
            self.remarks.append(f"line {number} warns: {shown(text)}")

    def note_command(self, text: str) -> None:
        """A command, whose output begins: what failed before any command failed elsewhere, and is told."""
        if not self._commands:
            self.remarks += self._below
            self._below.clear()
            if not self._runs:
                self.remarks += self._behind
                self._behind.clear()
        self._commands.append(text[:LONGEST])
        self._parted = True

    def inside(self) -> None:
        """Figures go on. Raises BadInput for a line that nobody understood among them."""
        if self._unknown and self.used:
            raise self._damaged(*self._unknown[0])
        self.settle()
        self._failures += [_Failure(said, self._here(), self._here() if self._runs else None)
                           for said in (*self._behind, *self._below)]  # fmt: skip
        self._next()

    @property
    def in_doubt(self) -> bool:
        """Whether lines wait that nobody understood."""
        return bool(self._unknown)

    def refuse_between(self, first: int, last: int) -> None:
        """Raises BadInput for a line that nobody understood between two of figures; tells the others."""
        if inside := [pair for pair in self._unknown if first < pair[0] < last]:
            raise self._damaged(*inside[0])
        self.settle()

    def begin(self) -> Above:
        """A run's first figures: what stands above it is its own."""
        heading = _heading(self._headings) or self._heading
        used = [pair for pair in self._unknown if _is_marked(pair[1]) and _heading([pair[1]]) == heading]
        self._unknown = [pair for pair in self._unknown if pair not in used]
        self.settle()
        if not self._names_kernel and _other_kernel(self._headings, self._facts.get("kernel", "")):
            self._facts.pop("kernel", None)
        above = Above(heading, tuple(self._commands), tuple(self._earlier), dict(self._facts), self._runs)
        self._heading = heading
        self._earlier += self._commands
        self._commands.clear()
        apart = self._here() if self._runs else None  # before the first run nothing tells whose a failure is
        self._failures += [_Failure(said, self._here(), apart if self._parted else self._runs or None)
                           for said in self._behind]  # fmt: skip
        self._failures += [_Failure(said, self._runs, self._runs) for said in self._below]
        self._runs += 1
        self._next()
        return above

    def _next(self) -> None:
        """Figures have been read: what comes next stands below them."""
        self._behind.clear()
        self._below.clear()
        self._headings.clear()
        self._parted = self._names_kernel = False

    def settle(self) -> None:
        """What was not understood stands beside the figures: it is told."""
        self.remarks += [
            f"line {number} is not understood, and not used: {shown(text)}" for number, text in self._unknown
        ]
        self._unknown.clear()

    def everything(self) -> Above:
        """Of a file with one run: what stands anywhere in it."""
        heading = self._heading or _heading(self._headings)
        return Above(heading, (*self._earlier, *self._commands), (), dict(self._facts))

    def _damaged(self, number: int, text: str) -> BadInput:
        what = "is damaged, or of another tool: take it out if it has nothing to say"
        return bad(self.path, number, f"{shown(text)} {what}")


def _other_kernel(headings: list[str], kernel: str) -> bool:
    """Whether headings speak of versions, and not of the kernel named further above."""
    versions = [named or bare for named, bare in _VERSION.findall("\n".join(headings))]
    return bool(versions) and not any(kernel.startswith(version) for version in versions)


def _heading(lines: list[str]) -> str:
    """The heading among the lines above a run: the last that is marked as one, else the last."""
    texts = [" ".join(line.split()).strip("#=*-_ \t") for line in lines]
    marked = [text for text, line in zip(texts, lines, strict=True) if text and _is_marked(line)]
    heading = (marked or [text for text in texts if text] or [""])[-1]
    return one_line(heading.rstrip(": ")[:_HEADING])


def _is_marked(text: str) -> bool:
    """Whether a line is set off as a heading."""
    return text.rstrip().endswith(":") or text.lstrip().startswith(("#", "==", "**", "--"))


def one_line(text: str) -> str:
    """Without what a terminal would not print as it stands."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def shown(text: str) -> str:
    """A piece of the file for a message: in one line, short."""
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else f"{text[:57]}...")

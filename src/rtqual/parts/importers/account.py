# SPDX-License-Identifier: MIT
"""What became of every line of a file: used, known to be without data, or an error that names it.

A reader says of each line `use` or `skip`. What it says nothing of is judged here, for all readers alike: some lines
are known to hold no figure of any tool, some report a failure, which makes the file's figures doubtful, and everything
else is refused. So nothing vanishes, and no reader can forget to ask.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from rtqual.base.errors import BadInput

# Of lines that are no tool's: what they are known to be.
_WITHOUT_DATA = {
    "a kernel message": re.compile(r"\s*(<\d{1,3}>)?\[ *\d{1,10}\.\d{6}\] .*", re.ASCII),
    "a command": re.compile(r"\s*([\w.-]+@\S*[$#%]|[$%>]|\++|->)\s+[A-Za-z./_~].*", re.ASCII),
    "a time": re.compile(
        r"\s*(real|user|sys)\s+\d+m\d+\.\d+s\s*|\s*([01]\d|2[0-3]):[0-5]\d:[0-5]\d\s*|"
        r"\s*\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d)?\S*)?( \S{1,6})?\s*|"
        r"\s*(Mon|Tue|Wed|Thu|Fri|Sat|Sun),? [A-Za-z0-9: +]{10,30}",
        re.ASCII,
    ),
    "a load's output": re.compile(
        r"\s*(Running in (process|threaded) mode with \d+ groups using \d+ file descriptors each \(== \d+ tasks\)|"
        r"Each sender will pass \d+ messages of \d+ bytes|Time: \d+\.\d{3}|stress-ng: (info|metrc|debug): .*)\s*",
        re.ASCII,
    ),
}
# What programs and shells print when something went wrong.
_TROUBLE = re.compile(
    r"\b(fatal|error|errno|failed|failure|killed|aborted|segmentation fault|bus error|broken pipe|out of memory|"
    r"cannot|could not|unable to|not permitted|permission denied|terminated|core dumped|"
    r"high resolution timers not available)\b",
    re.IGNORECASE,
)
_WARNING = re.compile(r"\s*WARN(ING)?: (?!.*high resolution timers)", re.IGNORECASE)
_MOST_PROBLEMS = 5
_LONGEST = 4096  # characters of a line that is no tool's


def bad(path: Path, line: int | None, what: str) -> BadInput:
    """The complaint to raise; `what` ends with what to do."""
    return BadInput(f"{path}{'' if line is None else f':{line}'}: {what}")


def refuse_damage(path: Path, cut: tuple[int, str] | None) -> None:
    """A row unlike the others may be the cut end of a file; followed by more, the file is damaged."""
    if cut:
        raise bad(path, cut[0], f"{cut[1]}: the file is damaged; take this line out if it is noise")


@dataclass
class Account:
    """`used` and `skipped` (by reason) count lines; in JSON, XML and YAML values, in tables rows."""

    path: Path
    of: str = "lines"
    used: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.used + self.skipped.total()

    @property
    def problems(self) -> tuple[str, ...]:
        """The failures that the file reports: they concern every run in it."""
        more = len(self.failures) - _MOST_PROBLEMS
        return (*self.failures[:_MOST_PROBLEMS], *([f"{more} more lines report a failure"] if more > 0 else []))

    def told(self) -> str:
        reasons = [f"{count} {reason}" for reason, count in sorted(self.skipped.items())]
        return f"{self.used} {self.of} used" + (f", without data: {', '.join(reasons)}" if reasons else "")

    def judge(self, number: int, text: str, own: re.Pattern[str] | None = None) -> None:
        """A line that the reader has no use for. `own`: how lines of its tool begin, which are never without data."""
        if not text.strip():
            self.skipped["blank"] += 1
            return
        if len(text) <= _LONGEST and (own is None or not own.match(text)):
            reason = next((reason for reason, known in _WITHOUT_DATA.items() if known.fullmatch(text)), None)
            if reason is not None:
                self.skipped[reason] += 1
                return
            if _WARNING.match(text):
                self.skipped["a warning"] += 1
                return
            if _TROUBLE.search(text):
                self.skipped["a failure"] += 1
                self.failures.append(f"line {number} reports a failure: {shown(text)}")
                return
            if not any(character.isnumeric() for character in text):
                self.skipped["text without figures"] += 1
                return
        raise bad(
            self.path, number, f"{shown(text)} is damaged, or of another tool: take it out if it has nothing to say"
        )


def one_line(text: str) -> str:
    """Without what a terminal would not print as it stands."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in text)


def shown(text: str) -> str:
    """A piece of the file for a message: in one line, short."""
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else f"{text[:57]}...")

# SPDX-License-Identifier: MIT
"""What the judge of procedures says: checks, where steps stand in the log, which report serves which expectation."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from rtqual.engine.mission.language_table import Stage
from rtqual.engine.procedure.described import Awaited, TimedStep
from rtqual.engine.procedure.line import Line
from rtqual.engine.procedure.log import Entry, Unsent, Unsound

_LOOKS_MOST = 4_000_000  # lines of a log times what is expected and forbidden: some seconds. A log may be a stranger's


@dataclass(frozen=True)
class Check:
    """Something that must, or must not, come."""

    step: int  # from 0; -1: of the answers that end every procedure
    action: str
    what: str
    passed: bool
    detail: str = ""
    after_ns: int | None = None  # the step, where it came
    fault: bool = False  # whether the step is one


@dataclass(frozen=True)
class Judgement:
    """`unsound`: why the log is no evidence at all; `wrong`: what sound.py found, or nobody expected. `untold`: what
    the program has no word for; `unknown`: packets that its dictionary lacks."""

    checks: tuple[Check, ...] = ()
    wrong: tuple[str, ...] = ()
    unsound: str = ""
    untold: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        return bool(self.checks) and not self.unsound and not self.wrong and all(check.passed for check in self.checks)

    @property
    def why(self) -> str:
        """The first reason not to pass; empty where it passed."""
        if self.unsound:
            return f"no evidence: the log {self.unsound}"
        failed = next((check for check in self.checks if not check.passed), None)
        if failed:
            at = f"step {failed.step + 1}" if failed.step >= 0 else "at the end"
            return f"{at} ({failed.action}): {failed.what}: {failed.detail}"
        return self.wrong[0] if self.wrong else "" if self.checks else "nothing was checked"


class Expected(Awaited, Protocol):
    """A report that must come. `since`: an answer that it counts from, in place of its step."""

    @property
    def within(self) -> int: ...
    @property
    def answer(self) -> Stage | None: ...
    @property
    def since(self) -> Stage | None: ...
    @property
    def loses_link(self) -> bool: ...


@dataclass(frozen=True)
class Anchor:
    """Where a step stands in the log. `line`: what it sent, or did."""

    step: int
    place: int
    at_ns: int
    action: str
    line: Line | None = None
    fault: bool = False

    def check(self, expect: Awaited, after_ns: int | None, why_not: str) -> Check:
        """Return what became of an expectation. `after_ns`: from what it counts from, where the report came."""
        passed = after_ns is not None
        return Check(self.step, self.action, expect.said, passed, "" if passed else why_not, after_ns, self.fault)

    def check_absent(self, forbid: Awaited, times_ns: Iterable[int]) -> Check:
        """Return what became of what must not come. `times_ns`: of the reports after the step that are meant."""
        until = self.at_ns + forbid.within if forbid.within else None
        came = next((at_ns for at_ns in times_ns if until is None or at_ns <= until), None)
        detail = "" if came is None else f"came after {(came - self.at_ns) / 10**6:.3f} ms"
        return Check(self.step, self.action, f"no {forbid.said}", came is None, detail)


def anchors_of(steps: Sequence[TimedStep], lines: Sequence[Line], entries: Sequence[Entry]) -> list[Anchor]:
    return [_anchor(number, step, lines, entries) for number, step in enumerate(steps)]


def _anchor(number: int, step: TimedStep, lines: Sequence[Line], entries: Sequence[Entry]) -> Anchor:
    for at, line in enumerate(lines):
        if line.step == number:
            place, entry = next((n, e) for n, e in enumerate(entries) if e.line == at)
            return Anchor(number, place, entry.at_ns, step.said, line, step.fault is not None)
    place = next((n for n, entry in enumerate(entries) if entry.at_ns >= step.at), len(entries))
    return Anchor(number, place - 1, step.at, step.said)


def no_evidence(why: Unsound) -> Judgement:
    """Judge a log of which nothing more can be read."""
    return Judgement(wrong=(str(why),)) if isinstance(why, Unsent) else Judgement(unsound=str(why))


def require_few(lines: int, looked_at: int, asked: int) -> None:
    """Raise Unsound where judging would take too long. `looked_at`: lines and reports of the log."""
    if looked_at * asked > _LOOKS_MOST:
        raise Unsound(f"has {lines:,} lines for {asked} expectations, more than are judged")


def did_not_come(expect: Expected, after_ns: int | None = None, values: Mapping[str, Any] | None = None) -> str:
    """Say so, and what came in its place. `after_ns`, `values`: of the next that is like it."""
    why = f"did not come within {expect.within / 10**6:g} ms"
    if after_ns is None or values is None:
        return why
    with_ = ", ".join(f"{name} {values[name]}" for name in expect.values if name in values)
    return f"{why}; the next {'with ' + with_ + ' ' if with_ else ''}came after {after_ns / 10**6:.3f} ms"


def assigned(wanted: Sequence[Iterable[int]]) -> dict[int, int]:
    """Return which report serves which expectation: as many as possible, each report once (Kuhn's augmenting paths).
    Reports are tried in the order they came, so an expectation that nobody else needs gets the first."""
    taken: dict[int, int] = {}  # report -> expectation
    # Others need fewer reports than there are expectations, so that many candidates are enough for each.
    enough = [list(islice(iterable, len(wanted))) for iterable in wanted]

    def serve(count: int, tried: set[int]) -> bool:
        for report in enough[count]:
            if report not in tried:
                tried.add(report)
                if report not in taken or serve(taken[report], tried):
                    taken[report] = count
                    return True
        return False

    for number in range(len(wanted)):
        serve(number, set())
    return {expectation: report for report, expectation in taken.items()}

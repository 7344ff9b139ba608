# SPDX-License-Identifier: MIT
"""Whether what came back is what must: one judge for all programs, which reads the ground's log and speaks meanings.

Silence is never a pass. A report serves one expectation; it counts if it came after its step, in time, and, where it is
an answer, to this very telecommand as far as the program tells which it means. A telecommand that is answered twice, or
was not sent, refusals and severe events that nobody expects, a lost link and damaged packets fail the procedure.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rtqual.engine.dialogue.framing import Cut, OutOfStep
from rtqual.engine.dialogue.language import Damaged, Language, counted, follows
from rtqual.engine.dialogue.meaning import BEGINS, ENDS, Meant, by
from rtqual.engine.dialogue.model import Expect, Forbid, Holds, Match, Procedure
from rtqual.engine.dialogue.script import CLOSING, SETUP, Said, compiled, expected, implied
from rtqual.engine.mission.language import Stage
from rtqual.engine.procedure.described import Bounds
from rtqual.engine.procedure.judging import (
    Anchor,
    Check,
    Judgement,
    anchors_of,
    assigned,
    did_not_come,
    no_evidence,
    require_few,
)
from rtqual.engine.procedure.log import Entry, Unsound, What, read_log
from rtqual.protocols.dictionary import Refused, Report

_UNASKED = (Stage.REFUSED, Stage.FAILED)
_GROWN_MOST = 1000  # answers that one counter tells at once
_LINKS = (What.UP, What.LOST, What.CLOSED, What.RESET)


@dataclass(frozen=True)
class Got:
    """A report in a log. `place`: of its entry. `again`: it is told before, and only its counter means more."""

    place: int
    at_ns: int
    report: Report
    meant: Meant | None
    again: bool = False


@dataclass(frozen=True)
class Heard:
    """What a log holds: reports, packets that the dictionary lacks, and what is wrong with others."""

    got: tuple[Got, ...]
    unknown: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Due:
    anchor: Anchor[Said]
    expect: Expect
    since_ns: int = 0

    @property
    def until_ns(self) -> int:
        return self.since_ns + self.expect.within


def judge(procedure: Procedure, log: str, language: Language, ended: str = "") -> Judgement:
    """Whatever the log holds; nothing is raised. `ended`: how the program did, where it ended by itself."""
    lines = compiled(procedure, language)
    try:
        return _judged(procedure, lines, read_log(log, lines), language, ended)
    except Unsound as why:
        return no_evidence(why)


def _judged(
    procedure: Procedure, lines: Sequence[Said], entries: Sequence[Entry], language: Language, ended: str
) -> Judgement:
    heard = hear(entries, language)
    asked = sum(len(step.forbid) + len(step.expect) + len(step.is_) + len(_IMPLIED) for step in procedure.done)
    require_few(len(entries), len(entries) + len(heard.got), asked)
    anchors = anchors_of(procedure.done, lines, entries)
    steps = list(zip(anchors, procedure.done, strict=True))
    asked_of = (SETUP,) if procedure.ends_program else (SETUP, CLOSING)  # one that has ended answers nothing
    fixed = [_fixed(line, number, entries) for number, line in enumerate(lines) if line.step in asked_of]
    due = [(anchor, expect) for anchor, step in steps for expect in step.expect]
    due += [
        (anchor, Expect(answer=stage, within=within))
        for anchor, step in steps
        if step.send and anchor.line and not anchor.line.unanswered
        for stage, within in expected(step, language)
    ]
    due += [
        (anchor, Expect(answer=stage, within=within))
        for anchor in fixed
        if anchor.line and not anchor.line.unanswered
        for stage, within in implied(language)
    ]
    meets = _Meets(heard.got)
    checks, claimed = _expected(due, meets)
    free = [got for number, got in enumerate(heard.got) if number not in claimed]
    checks += [_forbidden(anchor, forbid, free, meets) for anchor, step in steps for forbid in step.forbid]
    checks += [_held(anchor, holds, meets) for anchor, step in steps for holds in step.is_]
    checks.sort(key=lambda check: {SETUP: -1, CLOSING: len(steps)}.get(check.step, check.step))
    wrong = [
        *heard.wrong,
        *_answers(entries, lines, heard.got),
        *(() if procedure.tolerant else _unasked(procedure, free, language)),
    ]
    if procedure.ends_program:
        wrong += [] if ended else ["the program still ran at the end, and was to end"]
    else:
        lost = [entry.at_ns for entry in entries if entry.what is What.LOST]
        wrong += [f"at {at_ns} ns the link was lost, which no step expects" for at_ns in lost]
        wrong += [f"the program {ended}"] if ended else []
    if language.spoken.unknown == "fails":
        wrong += heard.unknown
    untold = tuple(stage for stage in _IMPLIED if stage not in language.told)
    return Judgement(tuple(checks), tuple(wrong), untold=untold, unknown=heard.unknown)


_IMPLIED = (Stage.ACCEPTED, Stage.COMPLETED)


def hear(entries: Sequence[Entry], language: Language) -> Heard:
    """Cut what came into packets, and these into reports with their meanings."""
    got: list[Got] = []
    unknown: list[str] = []
    wrong: list[str] = []
    counters: dict[tuple[str, str], int] = {}
    counts: dict[int, int] = {}
    cut, lost = Cut(language.framing), False
    for place, entry in enumerate(entries):
        if entry.what in _LINKS:
            wrong += [_left(cut, entry.at_ns)] if cut.held and not lost else []
            cut, lost, counts = Cut(language.framing), False, {}
        if entry.what is not What.RECEIVED or lost:
            continue
        try:
            for packet in cut.take(entry.octets):
                told = f"at {entry.at_ns} ns came"
                wrong += [f"{told} {why}" for why in _miscounted(packet, counts, language)]
                try:
                    reports = language.decode(packet)
                except Damaged as why:
                    wrong.append(f"{told} {why}")
                except Refused as why:
                    unknown.append(f"{told} {len(packet)} octets that the dictionary lacks: {why}")
                else:
                    for report in reports:
                        got += _meaning(place, entry.at_ns, report, language, counters)
        except OutOfStep as why:
            wrong.append(f"at {entry.at_ns} ns came {why}: nothing after it on this link can be read")
            lost = True
    wrong += [_left(cut, entries[-1].at_ns)] if cut.held and not lost and entries else []
    return Heard(tuple(got), tuple(unknown), tuple(wrong))


def _left(cut: Cut, at_ns: int) -> str:
    return f"at {at_ns} ns {len(cut.held)} octets were left that are no whole packet"


def _miscounted(packet: bytes, counts: dict[int, int], language: Language) -> Iterator[str]:
    known = counted(packet) if "ccsds-sequence" in language.spoken.check else None
    if known is None:
        return
    apid, count = known
    if apid in counts and not follows(count, counts[apid]):
        yield f"packet {count} of APID {apid} after {counts[apid]}: lost, there twice, or out of order"
    counts[apid] = count


def _meaning(
    place: int, at_ns: int, report: Report, language: Language, counters: dict[tuple[str, str], int]
) -> Iterator[Got]:
    """A report once, with its first meaning; and for each step that a counter in it makes."""
    meant = language.meant(report)
    growing = [row for row in language.rows if row.grows]
    if not growing or meant is None or not meant.row.grows:
        yield Got(place, at_ns, report, meant)
        return
    yield Got(place, at_ns, report, None)
    for row in growing:
        other = by(row, report)
        value = report.values.get(str(row.grows))
        if other is None or not isinstance(value, int):
            continue
        before = counters.get((report.name, str(row.grows)))
        counters[report.name, str(row.grows)] = value
        for _ in range(min(max(value - before, 0), _GROWN_MOST) if before is not None else 0):
            yield Got(place, at_ns, report, other, again=True)


def _fixed(line: Said, number: int, entries: Sequence[Entry]) -> Anchor[Said]:
    place, entry = next((n, e) for n, e in enumerate(entries) if e.line == number)
    return Anchor(line.step or 0, place, entry.at_ns, line.command, line)


class _Meets:
    """Whether a report is one that is meant."""

    def __init__(self, got: Sequence[Got]) -> None:
        self.got = got
        self._places = [arrival.place for arrival in got]
        self._before: dict[int, Report] = {}  # number of a report -> that of its name before
        last: dict[str, Report] = {}
        for number, each in enumerate(got):
            if each.again:
                continue
            if each.report.name in last:
                self._before[number] = last[each.report.name]
            last[each.report.name] = each.report

    def in_time(self, due: _Due) -> Iterator[int]:
        """Which of the reports, in their order."""
        for number in range(bisect_right(self._places, due.anchor.place), len(self.got)):
            if self.got[number].at_ns > due.until_ns:
                return
            if self.got[number].at_ns >= due.since_ns and self.match(due.expect, due.anchor, number):
                yield number

    def kind(self, match: Match, anchor: Anchor[Said], got: Got) -> bool:
        """All but the values."""
        meant = got.meant
        if match.report:
            return got.report.name == match.report and not got.again
        if meant is None:
            return False
        if match.event:
            return meant.stage is None and meant.event == match.event
        answers = anchor.line is not None and meant.answers(anchor.line.command, anchor.line.encoded)
        return answers and meant.stage is match.answer and match.cause in (None, meant.cause)

    def match(self, match: Match, anchor: Anchor[Said], number: int) -> bool:
        got = self.got[number]
        if not self.kind(match, anchor, got):
            return False
        before = self._before.get(number)
        return all(
            name in got.report.values
            and fits(got.report.values[name], wanted, before.values.get(name) if before else None)
            for name, wanted in match.values.items()
        )

    def why_not(self, due: _Due) -> str:
        """What came in its place, where something like it did."""
        place, since_ns = due.anchor.place, due.since_ns
        later = (
            g for g in self.got if g.place > place and g.at_ns >= since_ns and self.kind(due.expect, due.anchor, g)
        )
        came = next(later, None)
        if came is None:
            return did_not_come(due.expect)
        return did_not_come(due.expect, came.at_ns - due.since_ns, came.report.values)

    def last(self, report: str, anchor: Anchor[Said]) -> Got | None:
        """The report of this name that holds at a step's time."""
        before = (got for got in reversed(self.got) if got.place <= anchor.place and got.at_ns <= anchor.at_ns)
        return next((got for got in before if got.report.name == report and not got.again), None)


def fits(value: Any, wanted: Any, earlier: Any = None) -> bool:
    """Whether a field's value is as a procedure wants it."""
    if isinstance(wanted, str):
        return bool((value.hex() if isinstance(value, bytes) else str(value)) == wanted)
    if not isinstance(value, int | float):
        return False
    return wanted.hold(value, earlier) if isinstance(wanted, Bounds) else bool(value == wanted)


def _expected(asked: Iterable[tuple[Anchor[Said], Expect]], meets: _Meets) -> tuple[list[Check], set[int]]:
    """Those that count from their step first, then those that count from an answer."""
    checks: list[Check] = []
    came: dict[tuple[int, Stage], int] = {}  # step and answer -> when
    claimed: set[int] = set()
    every = list(asked)
    due = [_Due(anchor, expect, anchor.at_ns) for anchor, expect in every if not expect.since]
    served = assigned([meets.in_time(wanted) for wanted in due])
    for number, wanted in enumerate(due):
        got = meets.got[served[number]] if number in served else None
        if got and wanted.expect.answer:
            came[wanted.anchor.place, wanted.expect.answer] = got.at_ns
        checks.append(_check(wanted, got, meets))
    claimed |= set(served.values())
    between: list[_Due] = []
    for anchor, expect in every:
        if not expect.since:
            continue
        since_ns = came.get((anchor.place, expect.since))
        if since_ns is None:
            why = f"there was no answer {expect.since} to count from"
            checks.append(Check(anchor.step, anchor.action, expect.said, passed=False, detail=why))
        else:
            between.append(_Due(anchor, expect, since_ns))
    served = assigned([(n for n in meets.in_time(wanted) if n not in claimed) for wanted in between])
    checks += [_check(wanted, meets.got[served[n]] if n in served else None, meets) for n, wanted in enumerate(between)]
    return checks, claimed | set(served.values())


def _check(due: _Due, got: Got | None, meets: _Meets) -> Check:
    return due.anchor.check(due.expect, got.at_ns - due.since_ns if got else None, "" if got else meets.why_not(due))


def _forbidden(anchor: Anchor[Said], forbid: Forbid, free: Sequence[Got], meets: _Meets) -> Check:
    numbers = {id(got): number for number, got in enumerate(meets.got)}
    later = (got for got in free if got.place > anchor.place)
    return anchor.check_absent(forbid, (got.at_ns for got in later if meets.match(forbid, anchor, numbers[id(got)])))


def _held(anchor: Anchor[Said], holds: Holds, meets: _Meets) -> Check:
    got = meets.last(holds.report, anchor)
    if got is None:
        return Check(anchor.step, anchor.action, holds.said, passed=False, detail="nothing was reported before")
    values = got.report.values
    passed = all(name in values and fits(values[name], wanted) for name, wanted in holds.values.items())
    have = ", ".join(f"{name} {values[name]}" if name in values else f"no {name}" for name in holds.values)
    return Check(anchor.step, anchor.action, holds.said, passed, "" if passed else f"it was {have}"[:200])


def _answers(entries: Sequence[Entry], lines: Sequence[Said], got: Sequence[Got]) -> Iterator[str]:
    """Each telecommand is answered once in each of its stages, and none that was not sent. One that was sent twice is
    answered twice. Where the program does not tell which it means, all that may be meant are counted together."""
    sent = [(place, lines[entry.line]) for place, entry in enumerate(entries) if entry.what is What.SENT]
    seen: Counter[object] = Counter()
    for arrival in got:
        meant = arrival.meant
        if meant is None or meant.stage is None or meant.stage is Stage.PROGRESS:
            continue
        of = [line for place, line in sent if place < arrival.place and meant.answers(line.command, line.encoded)]
        life = next((stages for stages in (BEGINS, ENDS) if meant.stage in stages), (meant.stage,))
        key = (life, meant.app, repr(meant.token))
        seen[key] += 1
        told = f"at {arrival.at_ns} ns came {arrival.report.name}: {meant.stage}"
        if not of:
            yield f"{told}, of a telecommand that had not been sent"
        elif seen[key] > len(of):
            yield f"{told}, of {of[-1].command}, which had been answered before"


def _unasked(procedure: Procedure, free: Sequence[Got], language: Language) -> Iterator[str]:
    """Refusals, and events that matter."""
    for got in free:
        meant = got.meant
        if meant is None:
            continue
        if meant.stage in _UNASKED:
            cause = f" ({meant.cause})" if meant.cause else ""
            yield f"at {got.at_ns} ns a telecommand {_was(meant.stage)}{cause}, which no step expects"
        elif meant.stage is None and meant.severity in language.spoken.severe and meant.event not in procedure.allow:
            yield f"at {got.at_ns} ns came {meant.event} ({meant.severity}), which no step expects"


def _was(stage: Stage | None) -> str:
    return "was refused" if stage is Stage.REFUSED else "failed"

# SPDX-License-Identifier: MIT
"""Whether what came back is what must: one judge for all programs, which reads the ground's log and speaks meanings.

Silence is never a pass. A report serves one expectation; it counts if it came after its step, in time, and, where it is
an answer, to this very telecommand as far as the program tells which it means. A telecommand that is answered twice, or
was not sent, refusals and severe events that nobody expects, a lost link and damaged packets fail the procedure.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

from rtqual.engine.dialogue.framing import Cut, OutOfStep, framed
from rtqual.engine.dialogue.language import Damaged, Got, Language, counted, follows
from rtqual.engine.dialogue.liveness import gone
from rtqual.engine.dialogue.meaning import by
from rtqual.engine.dialogue.model import Holds
from rtqual.engine.mission.language_table import Stage
from rtqual.engine.procedure.described import Awaited, Bounds
from rtqual.engine.procedure.judging import (
    Anchor,
    Check,
    Expected,
    Judgement,
    anchors_of,
    assigned,
    did_not_come,
    no_evidence,
    require_few,
)
from rtqual.engine.procedure.line import CLOSING, SETUP, Line
from rtqual.engine.procedure.log import Entry, Unsound, What, read_log
from rtqual.protocols.dictionary import Refused, Report, Several

_UNASKED = (Stage.REFUSED, Stage.FAILED)
_ROUND = 16  # a counter that falls has come round where it then grew by less than this part of its range
_GROWN_MOST = 1000  # answers that one counter tells at once
_LOSSES = (What.LOST, What.RESET)
_LINKS = (What.UP, What.CLOSED, *_LOSSES)


@dataclass(frozen=True)
class Heard:
    """What a log holds: reports, packets that the dictionary lacks, and what is wrong with others."""

    got: tuple[Got, ...]
    unknown: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Due:
    anchor: Anchor
    expect: Expected
    since_ns: int

    @property
    def until_ns(self) -> int:
        return self.since_ns + self.expect.within


def judge(procedure: Any, lines: Sequence[Line], log: str, language: Language, ended: str = "") -> Judgement:
    """Whatever the log holds; nothing is raised. `lines`: the procedure's script. `ended`: how the program did, where
    it ended by itself."""
    try:
        return _judged(procedure, lines, read_log(log, lines), language, ended)
    except Unsound as why:
        return no_evidence(why)


def _judged(
    procedure: Any, lines: Sequence[Line], entries: Sequence[Entry], language: Language, ended: str
) -> Judgement:
    heard = hear(entries, language)
    steps = list(zip(anchors_of(procedure.done, lines, entries), procedure.done, strict=True))
    every = [
        (anchor, expect)
        for anchor, step in steps
        for expect in (*step.expect, *(language.implied(step) if anchor.line and anchor.line.sound else ()))
    ]
    asked = len(every) + sum(len(step.forbid) + len(step.is_) for step in procedure.done)
    require_few(len(entries), max(len(entries), len(heard.got)), asked)
    fixed = (SETUP,) if procedure.ends_program else (SETUP, CLOSING)  # one that has ended answers nothing
    every += [
        (_fixed(line, number, entries), expect)
        for number, line in enumerate(lines)
        if line.step in fixed and line.sound
        for expect in language.implied(None)
    ]
    due = [_Due(anchor, expect, anchor.at_ns) for anchor, expect in every]
    meets = _Meets(heard.got, language)
    checks, claimed = _expected(due, meets)
    free = [(number, got) for number, got in enumerate(heard.got) if number not in claimed]
    checks += [_forbidden(anchor, forbid, free, meets) for anchor, step in steps for forbid in step.forbid]
    checks += [_held(anchor, holds, meets) for anchor, step in steps for holds in step.is_]
    checks.sort(key=lambda check: {SETUP: -1, CLOSING: len(steps)}.get(check.step, check.step))
    wrong = [*heard.wrong]
    wrong += _lost_early(lines, entries) if procedure.ends_program else _lost(due, entries)
    wrong += language.misconduct(entries, lines, heard.got)
    wrong += [] if procedure.tolerant else _unasked(procedure.allow, (got for _, got in free), language)
    if procedure.ends_program:
        wrong += _ended_otherwise(procedure, ended)
    elif not ended:
        wrong += [f"its thread {name} had ended at the end" for name in gone(entries, language.verify.may_end)]
    if ended and not procedure.ends_program:
        wrong.append(f"the program {ended}")
    if language.spoken.unknown == "fails":
        wrong += heard.unknown
    untold = tuple(stage for stage in (Stage.ACCEPTED, Stage.COMPLETED) if stage not in language.told)
    return Judgement(tuple(checks), tuple(wrong), untold=untold, unknown=heard.unknown)


def _lost(due: Sequence[_Due], entries: Sequence[Entry]) -> Iterator[str]:
    """The losses of the link at times when none is expected: a program that ends and is started again would show
    nothing else. A link may flap while it goes: who dies still listens."""
    times = [(wanted.anchor.place, wanted.until_ns) for wanted in due if wanted.expect.loses_link]
    for place, entry in enumerate(entries):
        if entry.what in _LOSSES and not any(at < place and entry.at_ns <= to for at, to in times):
            yield f"at {entry.at_ns} ns the link was lost, which no step expects"


def _lost_early(lines: Sequence[Line], entries: Sequence[Entry]) -> Iterator[str]:
    """The losses of the link before the first thing that is done to a program that is to end."""
    for entry in entries:
        if entry.line >= 0 and lines[entry.line].step != SETUP:
            return
        if entry.what in _LOSSES:
            yield f"at {entry.at_ns} ns the link was lost, before anything was done"


def _ended_otherwise(procedure: Any, ended: str) -> Iterator[str]:
    """How a program that is to end did not end, or ended by what the procedure does not do to it."""
    signals = {step.fault.signal for step in procedure.done if step.fault and step.fault.signal} - {"STOP", "CONT"}
    by = ended.removeprefix("was ended by SIG") if ended.startswith("was ended by SIG") else ""
    if not ended:
        yield "the program still ran at the end, and was to end"
    elif signals and by not in signals and (by or signals == {"KILL"}):
        yield f"the program {ended}, and was to end by SIG{' or SIG'.join(sorted(signals))}"


def hear(entries: Sequence[Entry], language: Language) -> Heard:
    """Cut what came into packets, and these into reports with their meanings."""
    got: list[Got] = []
    unknown: list[str] = []
    wrong: list[str] = []
    counters = _Counters(language)
    counts: dict[int, int] = {}
    cut, lost = Cut(language.framing), False
    sent: set[bytes] = set()
    for place, entry in enumerate(entries):
        if entry.what is What.SENT:
            counters.sent += 1
            sent.add(entry.octets)
        if entry.what in _LINKS:
            wrong += [_left(cut, entry.at_ns)] if cut.held and not lost else []
            cut, lost, counts = Cut(language.framing), False, {}
        if entry.what is not What.RECEIVED or lost:
            continue
        try:
            for packet in cut.take(entry.octets):
                told = f"at {entry.at_ns} ns came"
                if framed(packet, language.framing) in sent:
                    wrong.append(f"{told} the very octets that were sent: an echo answers nothing")
                    continue
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
    got = sorted([*got, *language.happened(entries)], key=attrgetter("place"))
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


def _meaning(place: int, at_ns: int, report: Report, language: Language, counters: "_Counters") -> Iterator[Got]:
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
        for _ in range(min(counters.steps(report.name, str(row.grows), value), _GROWN_MOST)):
            yield Got(place, at_ns, report, other, again=True)


class _Counters:
    """How far counters of telecommands have grown. `sent`: telecommands so far."""

    def __init__(self, language: Language) -> None:
        self.language, self.sent = language, 0
        self._last: dict[tuple[str, str], int] = {}
        self._told: dict[tuple[str, str], int] = {}

    def steps(self, report: str, field: str, value: int) -> int:
        """From the report before. One that falls has come round if that tells no more telecommands than were sent and
        are not told yet; else it was set back, which tells of none."""
        name = report, field
        grown = value - self._last.get(name, value)
        self._last[name] = value
        if grown < 0:
            bits = self.language.dictionary.bits(report, field)
            round_ = grown + (1 << bits) if bits else 0
            grown = round_ if 0 < round_ <= self.sent - self._told.get(name, 0) else 0
        self._told[name] = self._told.get(name, 0) + grown
        return grown


def _fixed(line: Line, number: int, entries: Sequence[Entry]) -> Anchor:
    place, entry = next((n, e) for n, e in enumerate(entries) if e.line == number)
    return Anchor(line.step or 0, place, entry.at_ns, line.said or line.command, line)


class _Meets:
    """Whether a report is one that is meant."""

    def __init__(self, got: Sequence[Got], language: Language) -> None:
        self.got, self.language = got, language
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

    def match(self, match: Awaited, anchor: Anchor, number: int) -> bool:
        got = self.got[number]
        if not self.language.fits(match, anchor, got):
            return False
        values = got.report.values
        return all(
            name in values and fits(values[name], wanted, self._earlier(number, name))
            for name, wanted in match.values.items()
        )

    def _earlier(self, number: int, name: str) -> Any:
        """A value in the report before; less by its range where a counter has come round since."""
        before = self._before.get(number)
        earlier, value = before.values.get(name) if before else None, self.got[number].report.values[name]
        if not isinstance(earlier, int) or not isinstance(value, int) or value >= earlier:
            return earlier
        bits = self.language.dictionary.bits(self.got[number].report.name, name)
        came_round = bits is not None and value - earlier + (1 << bits) < (1 << bits) // _ROUND
        return earlier - (1 << bits) if bits is not None and came_round else earlier

    def why_not(self, due: _Due) -> str:
        """What came in its place, where something like it did."""
        place, since_ns = due.anchor.place, due.since_ns
        later = (got for got in self.got if got.place > place and got.at_ns >= since_ns)
        came = next((got for got in later if self.language.fits(due.expect, due.anchor, got)), None)
        if came is None:
            return did_not_come(due.expect)
        return did_not_come(due.expect, came.at_ns - due.since_ns, came.report.values)

    def last(self, report: str, anchor: Anchor) -> Got | None:
        """The report of this name that holds at a step's time."""
        before = (got for got in reversed(self.got) if got.place <= anchor.place and got.at_ns <= anchor.at_ns)
        return next((got for got in before if got.report.name == report and not got.again), None)


def fits(value: Any, wanted: Any, earlier: Any = None) -> bool:
    """Whether a field's value is as a procedure wants it."""
    if isinstance(value, Several):
        return any(fits(each, wanted, earlier) for each in value)
    if isinstance(wanted, str):
        return bool((value.hex() if isinstance(value, bytes) else str(value)) == wanted)
    if not isinstance(value, int | float):
        return False
    return wanted.hold(value, earlier) if isinstance(wanted, Bounds) else bool(value == wanted)


def _expected(every: Sequence[_Due], meets: _Meets) -> tuple[list[Check], set[int]]:
    """Those that count from their step first, then those that count from an answer."""
    checks: list[Check] = []
    came: dict[tuple[int, Stage], int] = {}  # step and answer -> when
    due = [wanted for wanted in every if not wanted.expect.since]
    served = assigned([meets.in_time(wanted) for wanted in due])
    for number, wanted in enumerate(due):
        got = meets.got[served[number]] if number in served else None
        if got and wanted.expect.answer:
            came[wanted.anchor.place, wanted.expect.answer] = got.at_ns
        checks.append(_check(wanted, got, meets))
    claimed = set(served.values())
    between: list[_Due] = []
    for wanted in every:
        since = wanted.expect.since
        since_ns = came.get((wanted.anchor.place, since)) if since else None
        if since_ns is not None:
            between.append(replace(wanted, since_ns=since_ns))
        elif since:
            checks.append(wanted.anchor.check(wanted.expect, None, f"there was no answer {since} to count from"))
    served = assigned([(n for n in meets.in_time(wanted) if n not in claimed) for wanted in between])
    checks += [_check(wanted, meets.got[served[n]] if n in served else None, meets) for n, wanted in enumerate(between)]
    return checks, claimed | set(served.values())


def _check(due: _Due, got: Got | None, meets: _Meets) -> Check:
    return due.anchor.check(due.expect, got.at_ns - due.since_ns if got else None, "" if got else meets.why_not(due))


def _forbidden(anchor: Anchor, forbid: Awaited, free: Iterable[tuple[int, Got]], meets: _Meets) -> Check:
    later = ((number, got) for number, got in free if got.place > anchor.place)
    return anchor.check_absent(forbid, (got.at_ns for number, got in later if meets.match(forbid, anchor, number)))


def _held(anchor: Anchor, holds: Holds, meets: _Meets) -> Check:
    got = meets.last(holds.report, anchor)
    if got is None:
        return Check(anchor.step, anchor.action, holds.said, passed=False, detail="nothing was reported before")
    values = got.report.values
    passed = all(name in values and fits(values[name], wanted) for name, wanted in holds.values.items())
    have = ", ".join(f"{name} {values[name]}" if name in values else f"no {name}" for name in holds.values)
    return Check(anchor.step, anchor.action, holds.said, passed, "" if passed else f"it was {have}"[:200])


def _unasked(allow: Collection[str], free: Iterable[Got], language: Language) -> Iterator[str]:
    """Refusals, and events that matter."""
    for got in free:
        meant = got.meant
        if meant is None:
            continue
        if meant.stage in _UNASKED:
            cause = f" ({meant.cause})" if meant.cause else ""
            yield f"at {got.at_ns} ns a telecommand {_was(meant.stage)}{cause}, which no step expects"
        elif meant.stage is None and meant.severity in language.spoken.severe and meant.event not in allow:
            yield f"at {got.at_ns} ns came {meant.event} ({meant.severity}), which no step expects"


def _was(stage: Stage | None) -> str:
    return "was refused" if stage is Stage.REFUSED else "failed"

# SPDX-License-Identifier: MIT
"""Whether what came back is what must: one judge for all boards, which reads the ground's log (and peer.py's counts).

Silence is never a pass. A report serves one expectation; it counts if it came after its step, in time, and, of service
1, for this very telecommand. A lost link, refusals and events of severity medium and high that nobody expects fail the
procedure, as does whatever sound.py finds.
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rtqual.engine.dictionary.definition import Definition
from rtqual.engine.procedure.described import Bounds
from rtqual.engine.procedure.files import File
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
from rtqual.engine.procedure.model import Expect, Match, Procedure, Step
from rtqual.engine.procedure.script import CLOSING, CLOSING_NS, Line, compiled
from rtqual.engine.procedure.sound import ANSWERS, EVENTS, REFUSALS, SEVERE, Arrival, conduct, reports

ACCEPT_NS, COMPLETE_NS = 100 * 10**6, 10**9  # what a telecommand has where its step does not say
_ACCEPTANCE, _END = ({"1.1", "1.2"}, {"1.2", "1.4", "1.7", "1.8"})


@dataclass(frozen=True)
class _Due:
    anchor: Anchor[Line]
    expect: Expect

    @property
    def until_ns(self) -> int:
        return self.anchor.at_ns + self.expect.within


def judge(procedure: Procedure, log: str, definition: Definition) -> Judgement:
    """Whatever the log holds; nothing is raised."""
    lines = compiled(procedure, definition)
    try:
        return _judged(procedure, lines, read_log(log, lines), definition)
    except Unsound as why:
        return no_evidence(why)


def _judged(procedure: Procedure, lines: Sequence[Line], entries: Sequence[Entry], definition: Definition) -> Judgement:
    asked = sum(len(step.forbid) + len([*_expected(step)]) for step in procedure.done)
    require_few(len(entries), len(entries), asked)
    got, wrong = reports(entries, definition)
    anchors = anchors_of(procedure.done, lines, entries)
    last = next(entry for entry in reversed(entries) if entry.what is What.SENT)
    closing = Anchor(-1, entries.index(last), last.at_ns, "the end", lines[last.line])
    due = [_Due(a, e) for a, s in zip(anchors, procedure.done, strict=True) for e in _expected(s)]
    due += [_Due(closing, expect) for expect in _closing()]
    meets = _Meets(definition, got)
    links, lost = _links([wanted for wanted in due if wanted.expect.link or wanted.expect.file], entries, meets)
    due = [wanted for wanted in due if not wanted.expect.link and not wanted.expect.file]
    served = assigned([meets.in_time(wanted) for wanted in due])
    checks = [*links, *(_check(d, got[served[n]] if n in served else None, meets) for n, d in enumerate(due))]
    claimed = set(served.values())
    checks += _forbidden(procedure.done, anchors, [arrival for n, arrival in enumerate(got) if n not in claimed], meets)
    checks.sort(key=lambda check: check.step if check.step >= 0 else len(anchors))
    wrong += [f"at {entry.at_ns} ns the link was lost, which no step expects" for entry in lost]
    wrong += conduct(entries, got)
    wrong += _unasked(procedure, [arrival for n, arrival in enumerate(got) if n not in claimed])
    return Judgement(tuple(checks), tuple(wrong))


def _expected(step: Step) -> Iterator[Expect]:
    """What a step says, and what every sound telecommand must bring."""
    yield from step.expect
    if step.send and step.damage in (None, "gap"):
        said = {_kind(expect.report) for expect in step.expect if expect.report}
        if not said & _ACCEPTANCE:
            yield Expect(report="1.1", within=ACCEPT_NS)
        if not said & _END:
            yield Expect(report="1.7", within=COMPLETE_NS)


_NAMES = {
    "ACCEPTED": "1.1", "NOT_ACCEPTED": "1.2", "STARTED": "1.3", "NOT_STARTED": "1.4", "STEP": "1.5", "COMPLETED": "1.7",
    "FAILED": "1.8",
}  # fmt: skip


def _kind(report: str) -> str:
    return _NAMES.get(report, report)


def _closing() -> Iterator[Expect]:
    for report in ("1.1", *(f"HK_{name}" for name in CLOSING), "1.7"):
        yield Expect(report=report, within=CLOSING_NS)


def _request(anchor: Anchor[Line]) -> bytes:
    return anchor.line.request if anchor.line else b""


class _Meets:
    """Whether a report is one that is meant."""

    def __init__(self, definition: Definition, got: Sequence[Arrival]) -> None:
        self._definition, self._got = definition, got
        self._places = [arrival.place for arrival in got]
        self._before: dict[int, Arrival] = {}  # by place: the report of the same name before
        last: dict[str, Arrival] = {}
        for arrival in got:
            if arrival.report.name in last:
                self._before[arrival.place] = last[arrival.report.name]
            last[arrival.report.name] = arrival

    def in_time(self, due: _Due) -> Iterator[int]:
        """Which of the reports, in their order."""
        for number in range(bisect_right(self._places, due.anchor.place), len(self._got)):
            if self._got[number].at_ns > due.until_ns:
                return
            if self.match(due.expect, due.anchor, self._got[number]):
                yield number

    def kind(self, match: Match, anchor: Anchor[Line], got: Arrival) -> bool:
        """All but the values."""
        report = got.report
        return (
            (match.report is None or match.report in (report.name, got.kind))
            and (report.service != ANSWERS or report.request == _request(anchor))
            and (match.event is None or (report.service == EVENTS and report.fields.get("event") == match.event))
            and (match.failure is None or report.fields.get("failure") == match.failure)
        )

    def why_not(self, due: _Due) -> str:
        """What came in its place, where something like it did."""
        later = (got for got in self._got if got.place > due.anchor.place and self.kind(due.expect, due.anchor, got))
        came = next(later, None)
        if came is None:
            return did_not_come(due.expect)
        return did_not_come(due.expect, came.at_ns - due.anchor.at_ns, came.report.fields)

    def match(self, match: Match, anchor: Anchor[Line], got: Arrival) -> bool:
        return self.kind(match, anchor, got) and all(self._value(match, got, *pair) for pair in match.values.items())

    def file(self, match: Match, file: File) -> bool:
        values = match.values.items()
        return not file.wrong and all(self._is(match, name, getattr(file, name), item, None) for name, item in values)

    def _value(self, match: Match, got: Arrival, name: str, wanted: Any) -> bool:
        rows: list[Mapping[str, Any]] = [got.report.fields, *got.report.fields.get("entries", ())]
        before = self._before.get(got.place)
        earlier = before.report.fields.get(name) if before else None
        return any(name in row and self._is(match, name, row[name], wanted, earlier) for row in rows)

    def _is(self, match: Match, name: str, value: Any, wanted: Any, earlier: Any) -> bool:
        if isinstance(wanted, str):
            labels = self._definition.labels("", name, match.event or "")
            return bool(value == (labels.get(wanted, wanted) if isinstance(value, int) else wanted))
        if not isinstance(value, int | float):
            return False
        if not isinstance(wanted, Bounds):
            return bool(value == wanted)
        return wanted.hold(value, earlier)


def _links(due: Sequence[_Due], entries: Sequence[Entry], meets: _Meets) -> tuple[list[Check], list[Entry]]:
    """Each change of the link, and each file that came whole and began after the step, serves one expectation. And the
    losses at times when none is expected: a program that ends and is started again would show nothing else. A link may
    flap while it goes: who dies still listens."""
    kinds = {"lost": (What.LOST, What.RESET), "up": (What.UP,), None: (What.FILE,)}
    found = [
        (place, entry) for place, entry in enumerate(entries) if any(entry.what in kind for kind in kinds.values())
    ]
    began = [place for place, entry in enumerate(entries) if entry.what is What.BEGUN]

    def in_time(due: _Due) -> Iterator[int]:
        for number, (place, seen) in enumerate(found):
            if seen.at_ns > due.until_ns:
                return
            since = began[bisect_right(began, place) - 1] if seen.file else place
            is_it = since > due.anchor.place and seen.what in kinds[due.expect.link]
            if is_it and (not seen.file or meets.file(due.expect, seen.file)):
                yield number

    served = assigned([in_time(wanted) for wanted in due])
    checks = []
    for number, wanted in enumerate(due):
        after = found[served[number]][1].at_ns - wanted.anchor.at_ns if number in served else None
        what = "come whole, as asked," if wanted.expect.file else "happen"
        checks.append(
            wanted.anchor.check(wanted.expect, after, f"it did not {what} within {wanted.expect.within / 10**6:g} ms")
        )
    times = [(wanted.anchor.place, wanted.until_ns) for wanted in due if wanted.expect.link == "lost"]
    losses = [(place, entry) for place, entry in found if entry.what in kinds["lost"]]
    return checks, [entry for at, entry in losses if not any(place < at and entry.at_ns <= to for place, to in times)]


def _check(due: _Due, got: Arrival | None, meets: _Meets) -> Check:
    return due.anchor.check(
        due.expect, got.at_ns - due.anchor.at_ns if got else None, "" if got else meets.why_not(due)
    )


def _forbidden(
    steps: Sequence[Step], anchors: Sequence[Anchor[Line]], unclaimed: Sequence[Arrival], meets: _Meets
) -> Iterator[Check]:
    for step, anchor in zip(steps, anchors, strict=True):
        for forbid in step.forbid:
            matching = (got for got in unclaimed if got.place > anchor.place and meets.match(forbid, anchor, got))
            yield anchor.check_absent(forbid, (got.at_ns for got in matching))


def _unasked(procedure: Procedure, unclaimed: Sequence[Arrival]) -> Iterator[str]:
    """Refusals, and events that matter."""
    for got in unclaimed:
        report = got.report
        if report.service == ANSWERS and report.subtype in REFUSALS:
            request = report.request.hex() if report.request else ""
            failure = report.fields.get("failure")
            yield f"at {got.at_ns} ns telecommand {request} was refused ({failure}), which no step expects"
        elif (
            report.service == EVENTS and report.subtype >= SEVERE and report.fields.get("event") not in procedure.allow
        ):
            yield f"at {got.at_ns} ns came {got.kind} {report.fields.get('event')}, which no step expects"

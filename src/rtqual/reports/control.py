# SPDX-License-Identifier: MIT
"""The verification control document (ECSS-E-ST-10-02C, annex B) of what `rtqual verify` played, as HTML, PDF, Markdown.

A pure function of the mission, its procedures and the records; no time of day stands in it.
"""

import json
import shlex
from collections.abc import Collection, Iterator, Mapping
from itertools import chain
from pathlib import Path

import numpy as np

from rtqual.base.errors import BadInput
from rtqual.base.words import count, listed, under
from rtqual.engine.analysis.figure.model import Distribution
from rtqual.engine.dialogue.answer_times import ACCEPTED, COMPLETED
from rtqual.engine.dialogue.liveness import THREAD, THREADS, THREADS_ENDED
from rtqual.engine.mission.verify_table import Camera
from rtqual.engine.procedure.compliance import Compliance, ControlRow, RunResult
from rtqual.engine.procedure.played_log import how_it_ended
from rtqual.protocols.record.schema import Scalar, SeriesKind, Timing
from rtqual.reports.draw.canvas import Palette
from rtqual.reports.draw.plots import Bar, Limit, Panel, bars, ccdf
from rtqual.reports.formats import FORMATS, PAGES
from rtqual.reports.page.document import (  # fmt: skip
    AS_USUAL,
    Block,
    Column,
    Commands,
    Document,
    Note,
    Numbering,
    Paragraph,
    Plot,
    Plots,
    Printed,
    ShownCommand,
    TableCell,
    VerdictBox,
    bullets,
    numbers,
    texts,
)
from rtqual.reports.page.text import TIMING_MARK, TIMING_NOTE, clean, number, prose, quantity, readable
from rtqual.reports.verification import LatencyOver, Verified, as_dict, headline, latencies, to_junit
from rtqual.reports.view import chapters, made_with, pages, signatures
from rtqual.reports.write import put

FORMS = (*PAGES, "junit")  # what there is of a verification
JSON = "verification.json"
_SIGNS = {Compliance.YES: ("✓", "met"), Compliance.NO: ("✗", "failed"), Compliance.OPEN: ("?", "open")}
_RESULTS = {RunResult.PASSED: ("✓", "met"), RunResult.FAILED: ("✗", "failed"), RunResult.UNKNOWN: ("?", "open")}
_CAMERAS = {Camera.UVCVIDEO: "uvcvideo", Camera.DRIVER: "the camera's own driver"}
_BESIDE = (
    "frames", "frames_lost", "frames_refused", "emulator_lost", "deadline_misses", "control_late_most",
    "frame_latency_most", "packets_lost", "memory", "boots",
)  # fmt: skip
_MEDIAN, _LARGEST = "median", "largest"
_METHOD = (
    "Telecommands and faults are played from a timed script beside the flight program, the software camera and the "
    "load, on the kernel of the candidate.",
    "The judge reads the log of what was sent and what came back, and what a peer counted, and nothing else; the "
    "records keep it to the last octet. Silence is never a pass: what a procedure expects must come in its time, and "
    "each ends with housekeeping that must come.",
    "A procedure fails by an answer to what was not sent, a second answer, a gap in the telemetry, a wrong checksum, a "
    "lost link or a refusal that nobody expects, and an event of severity medium or high that nobody expects.",
    "What comes again is the same run again: it shows that the log repeats, and adds no samples.",
)

_METHOD_OF_YOURS = (
    "Telecommands and faults are played from a timed script over the program's link, beside the load, on the kernel of "
    "the candidate. The ground is on the same board, above the program.",
    "The judge reads the log of what was sent and what came back, by the program's dictionary and by what the mission "
    "says that its reports mean; the records keep it to the last octet. Silence is never a pass: what a procedure "
    "expects must come in its time. What the program has no word for is not told, and not passed.",
    "A procedure fails by an answer to what was not sent, a second answer, a report that is not as its sender made it, "
    "a lost link, a refusal or a severe event that nobody expects, and by the program's end.",
    "What comes again is the same run again: it shows that the log repeats, and adds no samples.",
)


def write_control(
    folder: Path,
    verified: Verified,
    formats: Collection[str] = FORMS,
    out: Path | None = None,
    printed: Printed = AS_USUAL,
) -> tuple[Path, ...]:
    """Write the document into a folder, or its only format into `out`. Raises BadInput for a format it has not."""
    for name in formats:
        if name not in FORMS:
            raise BadInput(f"--format {name}: a verification has none; write {', '.join(FORMS)}")
    contents = contents_of(verified, formats, printed)
    if out is not None:
        del contents[JSON]
    written = put(folder, contents, formats, out)
    return tuple(written if out else (*written, folder / JSON))


def contents_of(verified: Verified, formats: Collection[str], printed: Printed = AS_USUAL) -> dict[str, bytes]:
    """What the documents hold, by their files."""
    contents = pages(build(verified), formats, printed)
    if "junit" in formats:
        contents[FORMATS["junit"]] = to_junit(verified).encode()
    contents[JSON] = (json.dumps(as_dict(verified), indent=1) + "\n").encode()
    return contents


def build(verified: Verified) -> Document:
    mission = verified.mission
    header, paper = mission.mission, mission.document
    numbering, mark = Numbering(), _mark(verified)
    return Document(
        title=prose(header.title),
        purpose=prose(header.purpose),
        facts=(
            ("Mission", header.name),
            ("Scale", clean(verified.scale)),
            ("Candidate", clean(verified.candidate)),
            *_program(verified),
            ("Board", clean(listed(sorted({run.board for run in verified.runs})))),
            ("Beside it", clean(under(verified.load))),
            ("Procedures played", number(len({run.procedure for run in verified.runs}))),
            *made_with(paper),
        ),
        signatures=signatures(paper),
        decision=_answer(verified, numbering),
        verdicts=(),
        chapters=tuple(
            chapters(
                (
                    ("1", "Verification control", _control(verified, numbering)),
                    ("2", "Procedures", _procedures(verified, numbering)),
                    ("", "What followed each fault", _faults(verified, numbering, mark)),
                    ("", "How long telecommands take", _latencies(verified, numbering, mark)),
                    ("", "Beside each procedure", _beside(verified, numbering, mark)),
                    ("", "Trends over the soak", _trends(verified, numbering, mark)),
                    ("3", "Method", bullets("", _METHOD_OF_YOURS if verified.dictionary else _METHOD)),
                    ("A", "Commands to reproduce", _commands(verified)),
                )
            )
        ),
        colours=(),
        digest=verified.digest,
        kind="Verification control document",
        short_kind="verification control document",
    )


def _program(verified: Verified) -> Iterator[tuple[str, str]]:
    """What is verified: by the hashes of its files; or how the frames come to rtqual's own."""
    verify = verified.mission.verify
    if verify is None or verify.program is None or verify.dictionary is None:
        yield "Frames by", _CAMERAS[verified.camera]
        return
    yield "Program", clean(f"{verify.program}, {verified.program}" if verified.program else verify.program)
    yield "Dictionary", clean(f"{verify.dictionary.format}, {verified.dictionary}")
    if verified.untold:
        yield "Not reported by this program", clean(listed(verified.untold))


def _mark(verified: Verified) -> str:
    """Of the clock that all figures rest on: the least of those that there were."""
    found = {TIMING_MARK[run.timing] for run in verified.runs}
    return "".join(sorted(found - {""}, reverse=True))


def _notes(mark: str) -> tuple[Note, ...]:
    return tuple(Note(name, TIMING_NOTE[name]) for name in mark)


def _answer(verified: Verified, numbering: Numbering) -> VerdictBox:
    rows = [
        (TableCell(row.requirement.id), TableCell(prose(row.requirement.text)), _said(row)) for row in verified.rows
    ]
    columns = [Column("Requirement", False, name=True), *texts("What is asked", "Compliance")]
    blocks: list[Block] = [numbering.table("What is asked and what was shown", columns, rows)]
    if any(run.timing is not Timing.REAL for run in verified.runs):
        said = (
            "The virtual board's evidence ranks and finds faults; it closes no requirement. Evidence that does comes "
        )
        blocks.append(Paragraph(f"{said}from a board in real time."))
    wrong = [f"{row.requirement.id}: {row.why}" for row in verified.rows if row.compliance is Compliance.NO]
    blocks += bullets("Not compliant", wrong, "failed")
    blocks += bullets("Procedures without evidence", (f"{n}: {why}" for n, why in verified.unknown.items()), "open")
    met = bool(verified.rows) and all(row.compliance is Compliance.YES for row in verified.rows)
    return VerdictBox("Compliance", met, headline(verified), tuple(blocks))


def _said(row: ControlRow, why: str = "") -> TableCell:
    sign, tone = _SIGNS[row.compliance]
    return TableCell(f"{sign} {row.compliance}", prose(why), tone=tone)


def _control(verified: Verified, numbering: Numbering) -> Iterator[Block]:
    rows = []
    for row in verified.rows:
        system_requirement = row.requirement
        evidence = dict.fromkeys(run.record[:12] for run in row.runs)
        rows.append(
            (
                TableCell(system_requirement.id, prose(system_requirement.text)),
                TableCell(str(system_requirement.method), f"{system_requirement.level}, {system_requirement.stage}"),
                TableCell(clean(", ".join(row.procedures)) or "none"),
                TableCell(", ".join(evidence) or "none"),
                _said(row, row.why),
                TableCell(row.closed),
            )
        )
    titles = ("Requirement", "Method", "Procedures", "Evidence", "Compliance", "Close-out")
    note = Note("", "Evidence: the first digits of the records' hashes. After ECSS-E-ST-10-02C, annex B.")
    yield numbering.table("Verification control", texts(*titles), rows, [note])
    yield from bullets("The mission has no such requirement", verified.unasked, "open")
    verifies = {name for procedure in verified.procedures for name in procedure.verifies}
    alone = [row.requirement.id for row in verified.rows if row.requirement.id not in verifies]
    yield from bullets("No procedure verifies it", alone, "open")


def _procedures(verified: Verified, numbering: Numbering) -> Iterator[Block]:
    rows = []
    first = {run.procedure: run for run, _ in verified.first}
    for run in verified.runs:
        before = first.get(run.procedure)
        if run.repeat and before and (before.record, before.passed) == (run.record, run.passed):
            continue
        sign, tone = _RESULTS[run.result]
        result = TableCell(f"{sign} {run.result}", prose(run.why), tone=tone)
        shown = "again" if run.repeat else prose(verified.titles.get(run.procedure, ""))
        times = sum((other.procedure, other.record) == (run.procedure, run.record) for other in verified.runs)
        record = TableCell(run.record[:12], f"{count(times, 'run')}, equal" if times > 1 else "")
        rows.append((TableCell(clean(run.procedure)), TableCell(shown), result, record, TableCell(str(run.timing))))
    for name, why in verified.failures.items():
        shown = prose(verified.titles.get(name, ""))
        rows.append(
            (
                TableCell(clean(name)),
                TableCell(shown),
                TableCell("? no record", prose(why), tone="open"),
                TableCell(""),
                TableCell(""),
            )
        )
    yield numbering.table("What was played", texts("Procedure", "What it shows", "Result", "Record", "Clock"), rows)
    yield from bullets("Runs that left no record", verified.again, "open")
    played = {run.procedure for run in verified.runs} | set(verified.failures)
    left = [procedure.name for procedure in verified.procedures if procedure.name not in played]
    if left:
        yield Paragraph(prose(f"Not played: {listed(left)}."))


def _faults(verified: Verified, numbering: Numbering, mark: str) -> Iterator[Block]:
    rows = [
        (
            TableCell(clean(run.procedure)),
            TableCell(prose(check.action)),
            TableCell(prose(check.what)),
            _time(check.after_ns, TIMING_MARK[run.timing]),
        )
        for run, _ in verified.first
        for check in run.judgement.checks
        if check.fault and check.after_ns is not None
    ]
    if rows:
        columns = [*texts("Procedure", "Fault", "What followed"), Column("After")]
        yield numbering.table("What followed each fault, and when", columns, rows, _notes(mark))


def _time(value_ns: float, mark: str) -> TableCell:
    return TableCell(quantity(value_ns, "ns"), marks=mark)


def _latencies(verified: Verified, numbering: Numbering, mark: str) -> Iterator[Block]:
    found = latencies(verified)
    if not found:
        return
    plots = list(_plots(verified, found, numbering, mark))
    yield Plots(tuple(plots), _notes(mark))
    note = Note("", "Below a figure: its 95 % interval, from how the runs differ, where there are ten or more.")
    columns = [Column("Latency", False), *numbers("Samples", "p50", "p99", "p99.9", "Largest")]
    rows = [_latency_row(latency, mark) for latency in found]
    yield numbering.table("Latencies, all procedures together", columns, rows, (*_notes(mark), note))


def _latency_row(latency: LatencyOver, mark: str) -> list[TableCell]:
    cells = [TableCell(clean(latency.name), marks=mark), TableCell(number(latency.samples))]
    for known in latency.ends.values():
        value, low, high = known or (None, None, None)
        between = "" if low is None or high is None else f"{quantity(low, 'ns')} to {quantity(high, 'ns')}"
        cells.append(TableCell("-" if value is None else quantity(value, "ns"), between))
    return [*cells, TableCell(quantity(latency.most, "ns"))]


def _plots(verified: Verified, found: Collection[LatencyOver], numbering: Numbering, mark: str) -> Iterator[Plot]:
    samples = verified.samples()
    together = {
        kind: list(chain.from_iterable(values for name, values in samples.items() if name.startswith(f"{kind} ")))
        for kind in (ACCEPTED, COMPLETED)
    }
    shown = {kind: _distribution(values) for kind, values in together.items() if values}
    if shown:
        panel = Panel(shown, "After it was sent", mark, _limits(verified))
        palette = Palette(tuple(shown))
        asked = "; the limit is what procedures ask of acceptance" if panel.limits else ""
        caption = f"Telecommands accepted and completed: the share that took longer{asked}"
        yield numbering.plot(caption, caption, lambda ident, alt: ccdf(panel, palette, ident, alt), mark)
    rows = [latency for latency in found if latency.name.startswith(f"{ACCEPTED} ")]
    if rows:
        both = [bar for latency in rows for bar in _bars(latency)]
        caption = "From sending a telecommand to its acceptance"
        palette = Palette((_MEDIAN, _LARGEST))
        yield numbering.plot(
            caption, caption, lambda ident, alt: bars({"Accepted after": both}, "ns", mark, palette, ident, alt), mark
        )


def _bars(latency: LatencyOver) -> Iterator[Bar]:
    row = readable(latency.name.partition(" ")[2])
    if median := latency.ends["p50"]:
        yield Bar(row, _MEDIAN, *median)
    yield Bar(row, _LARGEST, latency.most)


def _distribution(values: list[int]) -> Distribution:
    every, counts = np.unique(np.asarray(values, np.int64), return_counts=True)
    return Distribution(every, counts.astype(np.int64), "ns", SeriesKind.RAW)


def _limits(verified: Verified) -> tuple[Limit, ...]:
    asked = [within for procedure in verified.procedures for within in procedure.acceptances]
    return (Limit("acceptance", min(asked)),) if asked else ()


def _lived(verified: Verified, numbering: Numbering, mark: str) -> Iterator[Block]:
    """What became of the program's threads and of their jobs, beside each procedure."""
    program = verified.mission.verify.program if verified.mission.verify else None
    tasks = [task.name for known in verified.mission.programs if known.name == program for task in known.tasks]
    seen = [(run, record, record.manifest.scalars) for run, record in verified.first]
    seen = [each for each in seen if THREADS in each[2]]
    tasks = [task for task in tasks if any(f"{task} jobs" in scalars for _, _, scalars in seen)]
    rows = []
    for run, record, scalars in seen:
        row = [
            TableCell(clean(run.procedure), marks=TIMING_MARK[run.timing]),
            _threads(scalars),
            _busiest(scalars),
        ]
        for task in tasks:
            jobs, missed = scalars.get(f"{task} jobs"), scalars.get(f"{task} missed")
            longest = max(
                (int(series.values[-1]) for series in record.series if series.info.name == f"{task} response"),
                default=None,
            )
            said = "-" if longest is None else quantity(longest, "ns")
            counted = "" if jobs is None else f"{count(int(jobs.value), 'job')}"
            counted += "" if missed is None else f", {number(missed.value)} missed"
            row.append(TableCell(said, counted, tone="failed" if missed and missed.value else ""))
        rows.append(row)
    if rows:
        columns = [Column("Procedure", False, name=True), *numbers("Threads at its end"), *texts("Busiest thread")]
        columns += numbers(*(f"{readable(task)}, longest job" for task in tasks))
        note = Note("", "Of a CPU, from a procedure's first telecommand to its end. A job: from due to finished.")
        yield numbering.table("The program's threads and their jobs", columns, rows, (*_notes(mark), note))
        unseen = (text for _, record, _ in seen for text in record.manifest.cautions or () if text.startswith("task "))
        yield from bullets("Jobs that were not seen", dict.fromkeys(unseen), "open")


def _threads(scalars: Mapping[str, Scalar]) -> TableCell:
    """How many there were at the end, and what became of others; a program that has ended has none."""
    ended = int(scalars[THREADS_ENDED].value)
    said = how_it_ended(scalars) or (f"{ended} had ended" if ended else "")
    return TableCell(number(scalars[THREADS].value), said, tone="failed" if said else "")


def _busiest(scalars: Mapping[str, Scalar]) -> TableCell:
    shares = {name: scalar.value for name, scalar in scalars.items() if name.startswith(THREAD)}
    name = max(shares, key=lambda each: shares[each], default="")
    shown = name.removeprefix(THREAD).removesuffix(" CPU share")
    return TableCell(clean(shown), f"{shares[name]:.2g} %" if name else "")


def _beside(verified: Verified, numbering: Numbering, mark: str) -> Iterator[Block]:
    yield from _lived(verified, numbering, mark)
    first = [(run, record.manifest.scalars) for run, record in verified.first]
    names = [name for name in _BESIDE if any(name in scalars for _, scalars in first)]
    none = [name for name in names if not any(name in scalars and scalars[name].value for _, scalars in first)]
    names = [name for name in names if name not in none]
    if names:
        rows = [
            (
                TableCell(clean(run.procedure), marks=TIMING_MARK[run.timing]),
                *(_scalar(scalars[n].value, scalars[n].unit) if n in scalars else TableCell("-") for n in names),
            )
            for run, scalars in first
        ]
        columns = [Column("Procedure", False, name=True), *numbers(*(readable(name) for name in names))]
        yield numbering.table("Frames, deadlines and memory at its end", columns, rows, _notes(mark))
    if none:
        yield Paragraph(prose(f"0 in all of them: {listed([readable(name) for name in none])}."))


def _trends(verified: Verified, numbering: Numbering, mark: str) -> Iterator[Block]:
    if not verified.trends:
        return
    rows = [
        (
            TableCell(readable(trend.name), marks=mark),
            TableCell(trend.hourly(trend.per_hour)),
            TableCell(" to ".join(map(trend.hourly, trend.interval or ())) or "none", trend.why_none),
            TableCell(number(len(trend.slopes))),
            TableCell(trend.said),
        )
        for trend in verified.trends
    ]
    note = Note("", "The mean of the segments' slopes, without a segment's first fifth; a segment is one sample.")
    columns = [Column("Quantity", False, name=True), *numbers("In an hour", "95 % interval", "Segments"), *texts("")]
    yield numbering.table("What grows", columns, rows, (*_notes(mark), note))
    yield Paragraph("Each segment starts the program anew: what takes longer than a segment to grow is not seen.")


def _scalar(value: float, unit: str) -> TableCell:
    return TableCell(number(value) if unit == "1" else quantity(value, unit))


def _commands(verified: Verified) -> Iterator[Block]:
    commands = tuple(
        ShownCommand(
            clean(run.procedure),
            clean(shlex.join(record.manifest.provenance.command)),
            f"seed {run.seed}; record {run.record[:16]}; {run.timing} {TIMING_MARK[run.timing]}".strip(),
        )
        for run, record in verified.first
    )
    yield Commands("What played each procedure, in the folder where it ran", commands)

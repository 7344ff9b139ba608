# SPDX-License-Identifier: MIT
"""Records on the terminal: one of them, or a campaign's."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from rtqual.base import words
from rtqual.base.units import format_bytes
from rtqual.engine.analysis.figure import wording
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.face.terminal.plain import plain
from rtqual.face.terminal.tables import table
from rtqual.protocols.board.registry import this_machine
from rtqual.protocols.instrument.output import refused
from rtqual.protocols.record.schema import Record
from rtqual.protocols.record.store import read

_SHA256 = re.compile(r"[0-9a-f]{64}")


def record_dict(path: Path) -> dict[str, object]:
    record = read(path)
    figures = [measure(group, members).summary.figures for group, members in groups([record]).items()]
    return {
        "path": str(path),
        **record.manifest.model_dump(mode="json"),
        "figures": plain(figures[0] if figures else {}),
    }


def show_record(console: Console, path: Path) -> None:
    record = read(path)
    manifest, inputs = record.manifest, record.manifest.inputs
    made = manifest.provenance
    rows: list[tuple[str, object]] = [
        ("candidate", f"{inputs.candidate} on the {inputs.board} board, {words.count(inputs.cpus, 'CPU')}"),
        ("instrument", f"{inputs.instrument} {words.under(inputs.load)}, seed {inputs.seed}"),
        ("clock", manifest.timing),
        ("started", made.started),
        ("took", None if made.wall_s is None else f"{made.wall_s} s"),
        ("kernel", made.kernel),
        ("command line", made.kernel_cmdline),
        ("clock source", made.clocksource),
        ("clock resolution", None if made.clock_resolution_ns is None else f"{made.clock_resolution_ns} ns"),
        *((f"version of {name}", version) for name, version in made.tools.items()),
        *(_fact(name, value) for name, value in made.facts.items()),
        *(
            (f"{name}{', sha256' if _SHA256.fullmatch(value) else ''}", value)
            for name, value in inputs.artefacts.items()
        ),
        *(("problem", text) for text in manifest.problems),
    ]
    known = [(name, "unknown" if value is None else value) for name, value in rows]
    console.print(table(("what", "value"), known, f"Record {manifest.hash[:16]}"), "")
    for group, members in groups([record]).items():
        figures = [
            (
                name,
                wording.figure(replace(figure, interval=None)),
                wording.span(figure.interval, figure.unit).strip() or figure.why_no_interval,
            )
            for name, figure in measure(group, members).summary.figures.items()
            if not name.startswith("median run")  # of a single run it would repeat the figures
        ]
        console.print(table(("statistic", "value", "95 % interval, or why none"), figures, "Figures"), "")
    if made.command:
        console.print("Run it again by hand:", shlex.join(made.command), soft_wrap=True, highlight=False)


def show_records(console: Console, found: Sequence[Record]) -> None:
    """A table for each board, its records in the order of what they measure."""
    records = sorted(found, key=_order)
    places = dict.fromkeys((shown.inputs.board, shown.inputs.cpus) for shown in records)
    for board, cpus in sorted(places, key=lambda place: (place[0] == this_machine().name, place)):
        rows = []
        for record in records:
            manifest, inputs = record.manifest, record.inputs
            if (inputs.board, inputs.cpus) == (board, cpus):
                measured = f"{inputs.instrument} {words.under(inputs.load)}"
                seed = f"{inputs.seed}{' again' if manifest.repeat else ''}"
                samples = sum(series.total for series in record.series)
                shown = refused(manifest.problems) if manifest.problems else f"{samples:,}" if samples else "-"
                rows.append((manifest.hash[:8], inputs.candidate, measured, seed, manifest.timing, shown))
        heads = ("record", "candidate", "measured", "seed", "clock", "samples")
        console.print(table(heads, rows, f"{board} board, {words.count(cpus, 'CPU')}", right=("samples",)), "")


def _order(record: Record) -> tuple[object, ...]:
    inputs = record.inputs
    return inputs.instrument, inputs.load, inputs.candidate, inputs.seed, record.manifest.repeat


def _fact(name: str, value: str) -> tuple[str, str]:
    size = name.removesuffix("_b")
    shown = format_bytes(int(value)) if size != name and value.isdecimal() else value
    return size.replace("_", " "), shown

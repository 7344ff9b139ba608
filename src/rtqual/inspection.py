# SPDX-License-Identifier: MIT
"""Looking at records: one, a campaign's, or two beside each other."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from rtqual import kept
from rtqual.analysis import wording
from rtqual.analysis.cells import Asked
from rtqual.analysis.compare import compare_pair, is_constant
from rtqual.analysis.model import Comparison, Figure
from rtqual.analysis.statement import Margins, margins_of, relation
from rtqual.analysis.summary import groups, measure
from rtqual.errors import BadInput
from rtqual.mission import Quantity, load_mission
from rtqual.plain import plain
from rtqual.record.schema import Record
from rtqual.record.store import MANIFEST, Store, read, read_manifest
from rtqual.units import format_bytes

_SHA256 = re.compile(r"[0-9a-f]{64}")


def find(what: Path) -> list[Path]:
    """The records a user means: a record's folder, a campaign's folder, or the start of a hash below out/."""
    if (what / MANIFEST).exists():
        return [what]
    if what.is_dir():
        found = Store(what / "records" if (what / "records").is_dir() else what).paths()
    else:
        stores = [Store(folder) for folder in sorted(Path("out").glob("*/records"))]
        held = [path for store in stores for path in store.paths()] if len(str(what)) >= 4 else []
        found = [path for path in held if read_manifest(path).hash.startswith(str(what)) or path.name == str(what)][:1]
    if not found:
        raise BadInput(f"{what}: no record there, nor one with such a hash below out/: give a folder or 4 characters")
    return found


def record_dict(path: Path) -> dict[str, Any]:
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
        ("candidate", f"{inputs.candidate} on the {inputs.board} board, {wording.count(inputs.cpus, 'CPU')}"),
        ("instrument", f"{inputs.instrument} {wording.under(inputs.load)}, seed {inputs.seed}"),
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
    facts = _table(f"Record {manifest.hash[:16]}", "what", "value")
    for name, value in rows:
        facts.add_row(name, str(value if value is not None else "unknown"))
    console.print(facts, "")
    for group, members in groups([record]).items():
        figures = _table("Figures", "statistic", "value", "95 % interval, or why none")
        for name, figure in measure(group, members).summary.figures.items():
            if not name.startswith("median run"):  # of one run, the same again
                between = wording.span(figure.interval, figure.unit).strip() or figure.why_no_interval
                figures.add_row(name, wording.figure(replace(figure, interval=None)), between)
        console.print(figures, "")
    if made.command:
        console.print("Run it again by hand:", shlex.join(made.command), soft_wrap=True, highlight=False)


def show_campaign(console: Console, paths: Sequence[Path]) -> None:
    """A table for each board, its records in the order of what they measure."""
    records = sorted(map(read, paths), key=_order)
    places = dict.fromkeys((one.inputs.board, one.inputs.cpus) for one in records)
    for board, cpus in sorted(places, key=lambda place: (place[0] == "local", place)):
        table = _table(
            f"{board} board, {wording.count(cpus, 'CPU')}", "record", "candidate", "measured", "seed", "clock"
        )
        table.add_column("samples", justify="right")
        for one in records:
            manifest, inputs = one.manifest, one.inputs
            if (inputs.board, inputs.cpus) == (board, cpus):
                measured = f"{inputs.instrument} {wording.under(inputs.load)}"
                seed = f"{inputs.seed}{' again' if manifest.repeat else ''}"
                samples = sum(series.total for series in one.series)
                shown = "refused" if manifest.problems else f"{samples:,}" if samples else "-"
                table.add_row(manifest.hash[:8], inputs.candidate, measured, seed, str(manifest.timing), shown)
        console.print(table, "")


def _order(one: Record) -> tuple[object, ...]:
    inputs = one.inputs
    return inputs.instrument, inputs.load, inputs.candidate, inputs.seed, one.manifest.repeat


def _fact(name: str, value: str) -> tuple[str, str]:
    size = name.removesuffix("_b")
    shown = format_bytes(int(value)) if size != name and value.isdecimal() else value
    return size.replace("_", " "), shown


def _table(title: str, *columns: str) -> Table:
    """Without upright lines, so that 80 characters hold much."""
    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.show_edge = False
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def margins_in(*whats: Path) -> dict[tuple[str, str, str], tuple[Quantity, ...]]:
    """The margins that the missions of campaigns state; a record has no mission."""
    missions = [load_mission(what / kept.MISSION) for what in whats if (what / kept.MISSION).is_file()]
    asked: list[Asked] = []
    for one in missions:
        asked += [*one.requirements, *one.criteria]
    return margins_of(asked)


def compare_paths(a: Sequence[Path], b: Sequence[Path], margins: Margins | None = None) -> list[Comparison]:
    """Groups of `a` beside those of `b` that measure the same. Raises BadInput where nothing matches."""
    of_a, of_b = (groups([r for r in map(read, paths) if r.manifest.repeat == 0]) for paths in (a, b))
    comparisons: list[Comparison] = []
    for group_a, records_a in of_a.items():
        for group_b, records_b in of_b.items():
            same = (group_a.instrument, group_a.load, group_a.board) == (
                group_b.instrument,
                group_b.load,
                group_b.board,
            )
            if same and group_a.cpus == group_b.cpus and (group_a.candidate == group_b.candidate or len(of_a) == 1):
                other = _named_apart(measure(group_b, records_b), group_a)
                comparisons += compare_pair(measure(group_a, records_a), other, margins=margins)
    if not comparisons:
        raise BadInput(f"{a[0]} and {b[0]}: nothing to compare: instrument, load, board and CPUs must be the same")
    return comparisons


def _named_apart(measured: Any, other: Any) -> Any:
    """Two campaigns measure the same candidate: call the second one so."""
    if measured.group != other:
        return measured
    group = replace(measured.group, candidate=f"{measured.group.candidate} (second)")
    return replace(measured, summary=replace(measured.summary, group=group))


def comparison_dict(one: Comparison) -> dict[str, Any]:
    result: dict[str, Any] = plain(one)
    return result


def print_comparisons(console: Console, comparisons: Sequence[Comparison]) -> None:
    """A table for each pair, the reasons for what is undecided below it."""
    for (a, b), pair in groupby(comparisons, key=lambda one: (one.a, one.b)):
        where = f"{a.instrument} {wording.under(a.load)}, {a.board} board, {wording.count(a.cpus, 'CPU')}"
        table = _table(f"{where}\na = {a.candidate}, b = {b.candidate}", "statistic")
        for column in ("a / b", "a - b", "P(a > b)"):
            table.add_column(column, justify="right")
        table.add_column("statement")
        reasons: dict[str, list[str]] = {}
        for one in (one for one in pair if not is_constant(one)):
            statement, _, reason = one.statement.partition(": ")
            if reason:
                reasons.setdefault(reason, []).append(one.statistic)
            else:
                statement = f"a {relation(one.difference, one.margin)[0]} b"
            superior = "-" if one.superiority is None else f"{one.superiority:.3f}"
            table.add_row(one.statistic, _lines(one.ratio), _lines(one.difference), superior, statement)
        console.print(table)
        for reason, statistics in reasons.items():
            console.print(f"  undecided, {wording.listed(statistics)}: {reason}", highlight=False)
        console.print()


def _lines(figure: Figure | None) -> str:
    """A figure, its interval below it."""
    return "-" if figure is None else wording.figure(figure).replace(" [", "\n[")

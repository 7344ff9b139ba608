# SPDX-License-Identifier: MIT
"""Looking at records: one, a campaign's, or two beside each other."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from rtqual.analysis import wording
from rtqual.analysis.compare import compare_pair
from rtqual.analysis.model import Comparison
from rtqual.analysis.summary import groups, measure
from rtqual.errors import BadInput
from rtqual.record.store import MANIFEST, Store, read, read_manifest
from rtqual.verdict_text import plain


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
    facts = Table("what", "value", title=f"Record {manifest.hash[:16]}", title_justify="left")
    rows: list[tuple[str, object]] = [
        ("candidate", f"{inputs.candidate} on the {inputs.board} board, {inputs.cpus} CPU"),
        ("instrument", f"{inputs.instrument}, load {inputs.load}, seed {inputs.seed}"),
        ("clock", manifest.timing),
        ("started", manifest.provenance.started),
        ("took", f"{manifest.provenance.wall_s} s" if manifest.provenance.wall_s is not None else None),
        ("kernel", manifest.provenance.kernel),
        ("command line", manifest.provenance.kernel_cmdline),
        ("clock source", manifest.provenance.clocksource),
        ("clock resolution (ns)", manifest.provenance.clock_resolution_ns),
        *((f"tool {name}", version) for name, version in manifest.provenance.tools.items()),
        *((name, value) for name, value in manifest.provenance.facts.items()),
        *((f"hash of {name}", value[:60]) for name, value in inputs.artefacts.items()),
        *(("problem", text) for text in manifest.problems),
    ]
    for name, value in rows:
        facts.add_row(name, str(value if value is not None else "unknown"))
    console.print(facts)
    for group, members in groups([record]).items():
        figures = Table("statistic", "value and 95 % interval, or why none", title="Figures", title_justify="left")
        for name, figure in measure(group, members).summary.figures.items():
            figures.add_row(
                name, wording.figure(figure) + (f" ({figure.why_no_interval})" if not figure.interval else "")
            )
        console.print(figures)
    console.print("Run it again by hand:", " ".join(manifest.provenance.command), soft_wrap=True, highlight=False)


def show_campaign(console: Console, paths: Sequence[Path]) -> None:
    table = Table("record", "candidate", "board", "CPUs", "instrument", "load", "seed", "clock", "samples", "problems")
    for path in paths:
        manifest = read_manifest(path)
        inputs = manifest.inputs
        count = sum(series.total for series in read(path).series)
        row = (
            inputs.candidate,
            inputs.board,
            inputs.cpus,
            inputs.instrument,
            inputs.load,
            inputs.seed,
            manifest.timing,
        )
        table.add_row(manifest.hash[:12], *map(str, row), str(count or "-"), str(len(manifest.problems) or "-"))
    console.print(table)


def compare_paths(a: Sequence[Path], b: Sequence[Path]) -> list[Comparison]:
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
                comparisons += compare_pair(
                    measure(group_a, records_a), _named_apart(measure(group_b, records_b), group_a)
                )
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
    table = Table("instrument", "load", "statistic", "a", "b", "a / b", "a - b", "P(a > b)", "statement")
    for one in comparisons:
        table.add_row(
            one.a.instrument,
            one.a.load,
            one.statistic,
            one.a.candidate,
            one.b.candidate,
            wording.figure(one.ratio) if one.ratio else "-",
            wording.figure(one.difference),
            "-" if one.superiority is None else f"{one.superiority:.3f}",
            one.statement,
        )
    console.print(table)

# SPDX-License-Identifier: MIT
"""What tailoring a kernel gained: figures before and after, the removal list entry by entry, what changed by menu."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from rtqual.engine.analysis.difference.model import Comparison
from rtqual.engine.analysis.figure.model import Figure, Group, Interval, Summary
from rtqual.parts.tailor.chapter_lint import linted
from rtqual.parts.tailor.chapter_roots import LATENCY, STATISTICS, cells_of, root_systems
from rtqual.parts.tailor.chapter_steps import step_by_step
from rtqual.parts.tailor.tailor_account import Account, with_trims
from rtqual.parts.tailor.trim.chapter import trimming
from rtqual.reports.chapter.reached import goal_cell
from rtqual.reports.material import FOOTPRINT, Material, figure_cell, notes_for, timing_mark
from rtqual.reports.page.document import Block, Bullets, Notes, Paragraph, Table, TableCell, numbers, texts
from rtqual.reports.page.text import clean, load_text, marked, number, place, prose, readable

_TONES = {"gone": "met", "no longer exists": "met", "kept": "open", "not asked": "open"}
_MOST_MENUS = 25


def tailoring(material: Material) -> Iterator[Block]:
    yield from step_by_step(material)
    yield from _kernels(material)
    yield from root_systems(material)


def _kernels(material: Material) -> Iterator[Block]:
    """A kernel under two roots stands here once."""
    rooted = {candidate.name for candidate in material.mission.candidates if candidate.root}
    for account in with_trims(material.annexes):
        if account.candidate in rooted:
            continue
        yield Paragraph(prose(_how(account)))
        yield from _figures(material, account)
        yield from _latencies(material, account)
        yield _removals(material, account)
        yield from linted(material, account)
        yield from trimming(material, account)
        yield from _changes(material, account)
        if account.explanations:
            yield Bullets(
                tuple(prose(explanation) for explanation in account.explanations), "The way to the configuration"
            )


def _how(account: Account) -> str:
    modules = ", ".join(account.modules) or "none"
    return (
        f"{account.candidate} is Linux {account.version} of {account.source}, built for {account.architecture} by "
        f"{account.compiler}; tailoring began at the {account.start} configuration. {number(account.symbols_on)} "
        f"symbols are on, {number(account.files_compiled)} files were compiled. Loadable modules, not in the "
        f"image: {modules}. Release {account.release}; SHA-256 of its files: {account.sha256}."
    )


def _both(material: Material, account: Account, instrument: str) -> Iterator[tuple[Summary, Summary]]:
    """The tailored kernel and its baseline, wherever an instrument measured the two alike."""
    if account.baseline is not None:
        for found in cells_of(material, (account.baseline, account.candidate), instrument).values():
            if len(found) > 1:
                yield found[account.candidate], found[account.baseline]


def _figures(material: Material, account: Account) -> Iterator[Block]:
    """The footprint of the baseline and of the tailored kernel, with their ratio and the mission's goals."""
    if account.baseline is None:
        yield Paragraph("No other kernel was measured on this board, so there are no figures from before.")
        return
    goals = next((c.tailor.goals for c in material.mission.candidates if c.name == account.candidate and c.tailor), {})
    accept_virtual = material.mission.mission.accept_virtual
    for a, b in _both(material, account, FOOTPRINT):
        notes = notes_for([*a.figures.values(), *b.figures.values()])
        rows = [
            [
                TableCell(readable(name)),
                *(figure_cell(s.figures.get(name), notes, of=s) for s in (b, a)),
                *_ratio(b.figures.get(name), a.figures.get(name)),
                goal_cell(goals.get(name), name, b, a, accept_virtual=accept_virtual),
            ]
            for name in dict.fromkeys((*b.figures, *a.figures))
        ]
        rows += [
            [
                TableCell(readable(name)),
                *[TableCell("-")] * 3,
                goal_cell(goal, name, None, None, accept_virtual=accept_virtual),
            ]
            for name, goal in goals.items()
            if name not in a.figures and name not in b.figures
        ]
        yield _beside(material, f"Before and after, {place(a.group)}", (a, b), rows, notes)


def _beside(
    material: Material,
    caption: str,
    both: tuple[Summary, Summary],
    rows: list[list[TableCell]],
    notes: Notes,
    last: str = "Goal",
) -> Table:
    mark = notes.timed(timing_mark(both))
    pair = material.columns([s.group.candidate for s in both[::-1]])
    columns = [*texts("Figure"), *pair, *numbers("After / before"), *texts(last)]
    return material.numbering.table(marked(clean(caption), mark), columns, rows, notes.listed())


def _ratio(before: Figure | None, after: Figure | None) -> tuple[TableCell, ...]:
    if before is None or after is None or before.value <= 0:
        return (TableCell("-"),)
    return (TableCell(number(after.value / before.value)),)


def _latencies(material: Material, account: Account) -> Iterator[Block]:
    """Wake-up latency under each load, with what the comparison of the two supports."""
    for a, b in _both(material, account, LATENCY):
        names = [name for name in STATISTICS if name in a.figures or name in b.figures]
        compared = {name: _comparison(material, a.group, b.group, name) for name in names}
        ratios = {name: _turned(comparison, a.group) for name, comparison in compared.items()}
        notes = notes_for([*(s.figures.get(name) for s in (a, b) for name in names), *ratios.values()])
        rows = []
        for name in names:
            compared_with, ratio = compared[name], ratios[name]
            outcome, why = (compared_with.outcome, compared_with.why) if compared_with else ("not compared", "")
            rows.append(
                [
                    TableCell(readable(name)),
                    *(figure_cell(s.figures.get(name), notes, of=s) for s in (b, a)),
                    figure_cell(ratio, notes, counted=False),
                    TableCell(prose(outcome), marks=notes.mark(prose(why))),
                ]
            )
        caption = f"Wake-up latency before and after, {load_text(a.group.load)}, {place(a.group)}"
        yield _beside(material, caption, (a, b), rows, notes, "Statement")


def _comparison(material: Material, a: Group, b: Group, statistic: str) -> Comparison | None:
    found = (c for c in material.evidence.comparisons if c.statistic == statistic and {c.a, c.b} == {a, b})
    return next(found, None)


def _turned(comparison: Comparison | None, a: Group) -> Figure | None:
    """The ratio with `a` above."""
    if comparison is None or comparison.ratio is None or comparison.a == a or comparison.ratio.value <= 0:
        return comparison.ratio if comparison else None
    ends: Interval | None = comparison.ratio.interval
    if ends and ends.low > 0:
        ends = replace(ends, low=1 / ends.high, high=1 / ends.low)
        return replace(comparison.ratio, value=1 / comparison.ratio.value, interval=ends)
    return replace(
        comparison.ratio, value=1 / comparison.ratio.value, interval=None, why_no_interval="The ratio's lower end is 0."
    )


def _removals(material: Material, account: Account) -> Table:
    counts: Mapping[str, int] = {state: sum(e.state == state for e in account.entries) for state in _TONES}
    states = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    rows = [
        [
            TableCell(_path(entry.menu)),
            TableCell(entry.state, tone=_TONES.get(entry.state, "")),
            TableCell(
                prose(entry.text), prose("; ".join(f"{symbol}: {chain}" for symbol, chain in entry.held.items()))
            ),
        ]
        for entry in account.entries
    ]
    columns = texts("Entry of the removal list", "Now", "Why")
    caption = f"The {len(account.entries)} entries of the AAReST study's removal list in {account.candidate}: {states}"
    return material.numbering.table(clean(caption), columns, rows)


def _path(menu: str) -> str:
    return clean(menu).replace(" -> ", " → ")


def _changes(material: Material, account: Account) -> Iterator[Table]:
    if not account.changes:
        return
    shown, rest = account.changes[:_MOST_MENUS], account.changes[_MOST_MENUS:]
    rows = [
        [
            TableCell(_path(menu_change.menu)),
            TableCell(number(menu_change.removed)),
            TableCell(number(menu_change.added)),
        ]
        for menu_change in shown
    ]
    if rest:
        sums = (sum(menu_change.removed for menu_change in rest), sum(menu_change.added for menu_change in rest))
        rows.append([TableCell(f"{len(rest)} further menus"), *(TableCell(number(n)) for n in sums)])
    columns = [*texts("Menu"), *numbers("Symbols removed", "Symbols added")]
    caption = f"What changed from the {account.start} configuration to that of {account.candidate}, by menu"
    yield material.numbering.table(clean(caption), columns, rows)

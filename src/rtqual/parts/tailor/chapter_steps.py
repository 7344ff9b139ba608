# SPDX-License-Identifier: MIT
"""What each step of the stepwise mode gained: a row a kernel, beside the kernel before it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rtqual.engine.analysis.figure.model import Figure, Summary
from rtqual.parts.tailor.tailor_account import Account, with_trims
from rtqual.reports.material import FOOTPRINT, Material, figure_cell, notes_for, timing_mark
from rtqual.reports.page.document import Block, TableCell, numbers, texts
from rtqual.reports.page.text import clean, marked, number, place, prose, quantity, readable

_FIGURES = ("image_size", "installed_size", "ram_used", "boot_to_user_space", "symbols")
_SHORTEST = 3  # kernels: two are a before and an after
_LATENCY, _LOAD, _STATISTIC = "cyclictest", "hackbench", "p99"


def chain(accounts: Sequence[Account]) -> tuple[Account, ...]:
    """The kernels of which each is the baseline of the next, first to last; empty where there is no such row."""
    rows: list[Account] = []
    for account in accounts:
        if rows and account.baseline != rows[-1].candidate:
            if len(rows) >= _SHORTEST:
                break
            rows.clear()
        rows.append(account)
    return tuple(rows) if len(rows) >= _SHORTEST else ()


def step_by_step(material: Material) -> Iterator[Block]:
    """One table: every kernel's figures, and below each what changed against the kernel before."""
    steps = chain(with_trims(material.annexes))
    measured = {account.candidate: _measured(material, account.candidate) for account in steps}
    names = [name for name in (*_FIGURES, _wakeup_name()) if any(name in of for of in measured.values())]
    if not names:
        return
    notes = notes_for([of.get(name) for of in measured.values() for name in names])
    rows: list[list[TableCell]] = []
    before: Account | None = None
    for step in steps:
        symbols = TableCell(number(step.symbols_on), _signed(step.symbols_on - before.symbols_on, "") if before else "")
        then: Mapping[str, Figure] = measured[before.candidate] if before else {}
        now = measured[step.candidate]
        cells = [_beside(figure_cell(now.get(name), notes), then.get(name), now.get(name)) for name in names]
        rows.append([TableCell(prose(step.candidate)), symbols, *cells])
        before = step
    summaries = [summary for step in steps for summary in _summaries(material, step.candidate)]
    mark = notes.timed(timing_mark(summaries))
    columns = [*texts("Kernel"), *numbers("Symbols on", *map(readable, names))]
    where = place(summaries[0].group)
    caption = marked(clean(f"Step by step, below each figure its difference to the kernel before, {where}"), mark)
    yield material.numbering.table(caption, columns, rows, notes.listed())


def _wakeup_name() -> str:
    return f"wake-up {_STATISTIC} under {_LOAD}"


def _summaries(material: Material, candidate: str) -> list[Summary]:
    found = (s for s in material.evidence.summaries if s.group.candidate == candidate)
    wanted = ((FOOTPRINT, "none"), (_LATENCY, _LOAD))
    return [s for s in found if (s.group.instrument, s.group.load) in wanted]


def _measured(material: Material, candidate: str) -> Mapping[str, Figure]:
    figures: dict[str, Figure] = {}
    for summary in _summaries(material, candidate):
        if summary.group.instrument == FOOTPRINT:
            figures |= {name: summary.figures[name] for name in _FIGURES if name in summary.figures}
        elif _STATISTIC in summary.figures:
            figures[_wakeup_name()] = summary.figures[_STATISTIC]
    return figures


def _beside(cell: TableCell, before: Figure | None, now: Figure | None) -> TableCell:
    if before is None or now is None:
        return cell
    change = _signed(now.value - before.value, now.unit)
    return replace(cell, detail="; ".join(filter(None, (change, cell.detail))))


def _signed(change: float, unit: str) -> str:
    sign = "+" if change > 0 else "-" if change < 0 else "±"
    return f"{sign}{quantity(abs(change), unit)}"

# SPDX-License-Identifier: MIT
"""What a scenario showed no use of in a tailored kernel, what could go, and what that gains."""

from collections.abc import Iterator

from rtqual.parts.tailor.tailor_account import Account
from rtqual.parts.tailor.trim.trimmed import ACCEPTED, REFUSED, UNTRIED, Size, Trimmed
from rtqual.reports.material import Material
from rtqual.reports.page.document import Block, Paragraph, TableCell, numbers, texts
from rtqual.reports.page.text import clean, number, prose, quantity

_TONES = {ACCEPTED: "met", REFUSED: "failed", UNTRIED: "open"}
_MOST_KEPT = 25


def trimming(material: Material, account: Account) -> Iterator[Block]:
    trim = account.trim
    if trim is None:
        return
    yield Paragraph(prose(_seen(trim)))
    if trim.proposals:
        columns = [*texts("Symbol"), *numbers("Code and data"), *texts("Seen", "Outcome")]
        rows = [
            [
                TableCell(judged.symbol, prose(judged.menu)),
                TableCell(quantity(judged.size_b, "B"), f"{len(judged.objects)} object files"),
                TableCell(judged.seen, prose(_along(judged.takes, judged.brings))),
                TableCell(judged.state, prose(judged.why), tone=_TONES.get(judged.state, "")),
            ]
            for judged in trim.proposals
        ]
        yield material.numbering.table(clean(f"Proposed to be removed from {trim.candidate}"), columns, rows)
    yield Paragraph(prose(_outcome(trim)))
    if trim.after:
        columns = [*texts("Figure"), *numbers("Tailored", "Trimmed", "After / before")]
        rows = list(_figures(trim.before, trim.after))
        yield material.numbering.table(clean(f"{trim.candidate} before and after the trim, 1 run"), columns, rows)
    if trim.kept:
        columns = [*texts("Symbol"), *numbers("Code and data"), *texts("Stays")]
        rows = [
            [
                TableCell(unused.symbol),
                TableCell(quantity(unused.size_b, "B")),
                TableCell(unused.kind, prose(unused.reason)),
            ]
            for unused in trim.kept[:_MOST_KEPT]
        ]
        shown = f"the largest {len(rows)} of {len(trim.kept)} symbols" if len(rows) < len(trim.kept) else "all symbols"
        caption = f"Not used by the scenario and not proposed in {trim.candidate}: {shown}"
        yield material.numbering.table(clean(caption), columns, rows)


def _seen(trim: Trimmed) -> str:
    loaded = ", ".join(trim.modules) or "none"
    return (
        f"Evidence-driven trim of {trim.candidate}: the scenario ({len(trim.scenario)} runs: "
        f"{'; '.join(trim.scenario)}) entered {number(trim.functions_entered)} of {number(trim.functions)} functions "
        f"of the kernel's image once the system was up, and {number(trim.functions_at_boot)} more until then; "
        f"{number(trim.objects_entered)} of {number(trim.objects)} object files have one of the former. Loadable "
        f"modules that it used: {loaded}."
    )


def _along(takes: tuple[str, ...], brings: tuple[str, ...]) -> str:
    parts = [f"takes along {', '.join(takes)}"] if takes else []
    parts += [f"switches on {', '.join(brings)}"] if brings else []
    return "; ".join(parts)


def _outcome(trim: Trimmed) -> str:
    accepted = [judged.symbol for judged in trim.proposals if judged.state == ACCEPTED]
    if not trim.proposals:
        return (
            "Nothing is proposed: of every symbol that a person can switch off, part was used, a need or a rule asks "
            "for it, what stays holds it on, or it is protected."
        )
    if not accepted:
        return f"Nothing is accepted; {number(trim.builds)} kernels were built to find out."
    quoted = ", ".join(f'"{symbol}"' for symbol in accepted)
    return (
        f"The kernel without {', '.join(accepted)} got through the scenario ({number(trim.builds)} built to find out). "
        f"To fly it, write into the candidate's table: forbid = [{quoted}]. A scenario does not show what a mission "
        "needs on its worst day: look at each symbol first."
    )


def _figures(before: Size, after: Size) -> Iterator[list[TableCell]]:
    rows = (
        ("Image size", before.image_size_b, after.image_size_b, "B"),
        ("Installed size", before.installed_size_b, after.installed_size_b, "B"),
        ("RAM used", before.ram_used_b, after.ram_used_b, "B"),
        ("Kernel memory", before.kernel_memory_b, after.kernel_memory_b, "B"),
        ("Symbols on", before.symbols_on, after.symbols_on, "1"),
    )
    for name, count, other, unit in rows:
        if count is None or other is None:
            yield [TableCell(name), *[TableCell("-", "the scenario has no footprint")] * 2, TableCell("-")]
        else:
            yield [
                TableCell(name),
                TableCell(quantity(count, unit)),
                TableCell(quantity(other, unit)),
                TableCell(f"{other / count:.4f}"),
            ]

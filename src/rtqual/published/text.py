# SPDX-License-Identifier: MIT
"""Studies, audits and choices as Markdown for people and as plain values for machines."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rtqual.published.audit import Audit, Finding
from rtqual.published.choice import Place, Redone
from rtqual.published.study import Study, Table
from rtqual.published.wording import listed, plain
from rtqual.units import format_ns


def catalogue(studies: Sequence[Study]) -> str:
    """The studies, one line each."""
    rows = [(study.key, study.source.title, study.source.hardware, str(len(study.tables))) for study in studies]
    return _table(("key", "title", "hardware", "tables"), rows)


def study_text(study: Study) -> str:
    """A study's tables as printed, with units."""
    source = study.source
    facts = {
        "Author": source.author,
        "Hardware": source.hardware,
        "Systems": "; ".join(source.systems),
        "Tools": "; ".join(source.tools),
        "Method": source.method,
    }
    lines = [f"# {source.title}", "", *(f"- {name}: {fact}" for name, fact in facts.items() if fact)]
    for table in study.tables:
        lines += ["", f"## {table.id}: {table.caption} ({table.place})", "", _printed(table)]
    return "\n".join(lines) + "\n"


def _printed(table: Table) -> str:
    units = [table.unit_of(column) for column in table.columns]
    heads = [f"{column} [{unit}]" if unit else column for column, unit in zip(table.columns, units, strict=True)]
    rows = [[cell if isinstance(cell, str) else plain(cell) for cell in row] for row in table.rows]
    return _table(("", *heads), rows)


def audit_text(audit: Audit) -> str:
    """What an audit found, and what it could not judge."""
    figures, claims = _count(audit.figures, "figure"), _count(audit.claims, "claim")
    found = _count(len(audit.findings), "finding")
    lines = [f"## {audit.study}: {audit.title}", "", f"{figures} and {claims} checked: {found}."]
    if audit.findings:
        lines += [
            "",
            _table(("where", "row", "figure", "printed", "recomputed", "kind", "why"), map(_row, audit.findings)),
        ]
    broken = {one.claim: one.place for one in audit.findings if one.claim}
    if broken:
        lines += ["", "The sentences that do not hold:", ""]
        lines += [f"- {place}: “{text}”" for text, place in broken.items()]
    if audit.not_judged:
        lines += ["", "Not judged:", ""]
        lines += [f"- {claim.place}: “{claim.text}” {claim.not_judged}" for claim in audit.not_judged]
    return "\n".join(lines) + "\n"


def _row(one: Finding) -> tuple[str, ...]:
    return (one.place, one.row, one.column, one.printed, one.recomputed_text, one.kind, one.explanation)


def redone_text(redone: Redone) -> str:
    """The choice made again, in figures."""
    names = [points.criterion for points in redone.places[0].points]
    heads = ["criterion", "weight", *(place.system for place in redone.places)]
    rows = [[name, *_criterion(redone.places, k)] for k, name in enumerate(names)]
    totals = ["**total**", "", *(f"**{place.total:.3f}**" for place in redone.places)]
    printed = ["total as printed", "", *(f"{place.total_as_printed:.3f}" for place in redone.places)]
    return "\n".join(
        [
            "## The choice made again",
            "",
            f"The rule ({redone.place}): {redone.rule}",
            "",
            _table(heads, [*rows, totals, printed]),
            "",
            " ".join(_conclusion(redone)),
            "",
        ]
    )


def _criterion(places: Sequence[Place], k: int) -> Iterator[str]:
    yield f"{places[0].points[k].weight:g}"
    for place in places:
        points = place.points[k]
        misprint = "" if points.figure_ns == points.printed_ns else f" (printed {format_ns(points.printed_ns)})"
        yield f"{points.points:.3f}: {format_ns(points.figure_ns)}{misprint}"


def _conclusion(redone: Redone) -> Iterator[str]:
    able = [place for place in redone.places if place.eligible]
    totals = listed([f"{place.system} {place.total:.3f}" for place in able])
    verb = "as the study did" if redone.agrees else f"where the study chose {redone.chosen}"
    yield f"With correct arithmetic the rule picks {redone.picked}, {verb}: {totals}."
    by_print = sorted(able, key=lambda place: -place.total_as_printed)
    printed = listed([f"{place.system} {place.total_as_printed:.3f}" for place in by_print])
    yield f"From the differences as they were printed it picks {redone.picked_as_printed}: {printed}."
    without = [place.system for place in redone.places if not place.eligible]
    if without:
        yield f"{listed(without)} are no real-time systems and stand beside them for comparison."
    for other, weights in redone.turns_at.items():
        least = min(weights, key=lambda name: weights[name], default="")
        if least:
            yield f"{other} would draw level if '{least}' weighed {weights[least]:.1f}."
    if not redone.certain:
        yield "The study prints one run of each system, so no interval: rtqual ranks them and calls no lead certain."


def audit_values(audit: Audit) -> dict[str, Any]:
    """An audit for machines; decimals as text, so that no digit is lost."""
    return {
        "study": audit.study,
        "title": audit.title,
        "checked": {"figures": audit.figures, "claims": audit.claims},
        "findings": [_finding_values(one) for one in audit.findings],
        "not_judged": [{"place": one.place, "text": one.text, "why": one.not_judged} for one in audit.not_judged],
    }


def _finding_values(one: Finding) -> dict[str, Any]:
    texts = ("place", "table", "row", "column", "printed", "explanation", "claim")
    interval = {"value": one.recomputed.value, "low": one.recomputed.low, "high": one.recomputed.high}
    return {
        **{name: getattr(one, name) for name in texts},
        "kind": one.kind.value,
        "recomputed": {name: str(end) if end.is_finite() else None for name, end in interval.items()},
    }


def study_values(study: Study) -> dict[str, Any]:
    return study.model_dump(mode="json", include={"source", "tables"})


def _count(n: int, one: str) -> str:
    return f"{n} {one}" if n == 1 else f"{n} {one}s"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)

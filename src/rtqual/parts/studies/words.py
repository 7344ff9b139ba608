# SPDX-License-Identifier: MIT
"""Studies and audits as Markdown for people and as plain values for machines."""

from collections.abc import Sequence

from rtqual.base.words import count, table
from rtqual.parts.studies.audit import Audit, Contradiction
from rtqual.parts.studies.catalogue import PrintedTable, Study
from rtqual.parts.studies.misprint_words import plain


def catalogue(studies: Sequence[Study]) -> str:
    """The studies, one line each."""
    rows = [(study.key, study.source.title, study.source.hardware, str(len(study.tables))) for study in studies]
    return table(("key", "title", "hardware", "tables"), rows)


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
    for printed in study.tables:
        lines += ["", f"## {printed.id}: {printed.caption} ({printed.place})", "", _printed(printed)]
    return "\n".join(lines) + "\n"


def _printed(printed: PrintedTable) -> str:
    units = [printed.unit_of(column) for column in printed.columns]
    heads = [f"{column} [{unit}]" if unit else column for column, unit in zip(printed.columns, units, strict=True)]
    rows = [[cell if isinstance(cell, str) else plain(cell) for cell in row] for row in printed.rows]
    return table(("", *heads), rows)


def audit_text(audit: Audit) -> str:
    """What an audit found, and what it could not judge."""
    figures, claims = count(audit.figures, "figure"), count(audit.claims, "claim")
    found = count(len(audit.findings), "finding")
    lines = [f"## {audit.study}: {audit.title}", "", f"{figures} and {claims} checked: {found}."]
    if audit.findings:
        lines += [
            "",
            table(("where", "row", "figure", "printed", "recomputed", "kind", "why"), map(_row, audit.findings)),
        ]
    broken = {finding.claim: finding.place for finding in audit.findings if finding.claim}
    if broken:
        lines += ["", "The sentences that do not hold:", ""]
        lines += [f"- {place}: “{text}”" for text, place in broken.items()]
    if audit.not_judged:
        lines += ["", "Not judged:", ""]
        lines += [f"- {claim.place}: “{claim.text}” {claim.not_judged}" for claim in audit.not_judged]
    return "\n".join(lines) + "\n"


def _row(finding: Contradiction) -> tuple[str, ...]:
    return (
        finding.place,
        finding.row,
        finding.column,
        finding.printed,
        finding.recomputed_text,
        finding.kind,
        finding.explanation,
    )


def audit_values(audit: Audit) -> dict[str, object]:
    """An audit for machines; decimals as text, so that no digit is lost."""
    return {
        "study": audit.study,
        "title": audit.title,
        "checked": {"figures": audit.figures, "claims": audit.claims},
        "findings": [_finding_values(finding) for finding in audit.findings],
        "not_judged": [
            {"place": claim.place, "text": claim.text, "why": claim.not_judged} for claim in audit.not_judged
        ],
    }


def _finding_values(finding: Contradiction) -> dict[str, object]:
    texts = ("place", "table", "row", "column", "printed", "explanation", "claim")
    interval = {"value": finding.recomputed.value, "low": finding.recomputed.low, "high": finding.recomputed.high}
    return {
        **{name: getattr(finding, name) for name in texts},
        "kind": finding.kind.value,
        "recomputed": {name: str(end) if end.is_finite() else None for name, end in interval.items()},
    }


def study_values(study: Study) -> dict[str, object]:
    return study.model_dump(mode="json", include={"source", "tables"})

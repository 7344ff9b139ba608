# SPDX-License-Identifier: MIT
"""Boards of one model beside each other: they are measured as one, so a difference between them is a finding."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from rtqual.base.words import clean, under
from rtqual.engine.analysis.difference.compare import COMPARED, compare_pair
from rtqual.engine.analysis.difference.model import Comparison, Relation
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.figure.summary import Measured, measure
from rtqual.engine.analysis.figure.wording import value
from rtqual.protocols.record.schema import Record

_LONGEST = 60  # characters of a name, whatever a record says


def between_boards(grouped: Mapping[Group, Sequence[Record]]) -> dict[str, list[str]]:
    """Model -> a sentence for each pair of its boards and each thing measured on both, where they differ or it cannot
    be told."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for group, records in grouped.items():
        of: dict[str, list[Record]] = defaultdict(list)
        for record in records:
            if name := record.manifest.provenance.facts.get("board"):
                of[clean(name)[:_LONGEST]].append(record)
        each = [_measured(group, name, some) for name, some in sorted(of.items())]
        for a, b in combinations(each, 2):
            found[group.board] += _sentences(group, a, b)
    return dict(found)


def _measured(group: Group, name: str, records: Sequence[Record]) -> Measured:
    """As if the board were the candidate."""
    measured = measure(group, records)
    named = replace(group, candidate=name)
    return replace(measured, summary=replace(measured.summary, group=named))


def _sentences(group: Group, a: Measured, b: Measured) -> Iterator[str]:
    compared = compare_pair(a, b, COMPARED)
    differing = [comparison for comparison in compared if comparison.relation in (Relation.LESS, Relation.MORE)]
    where = f"{group.candidate}, {group.instrument} {under(group.load)}"
    if differing:
        findings = "; ".join(_finding(comparison, a, b) for comparison in differing)
        yield f"boards of one model differ: {where}: {findings}."
    elif compared and all(comparison.relation == Relation.UNDECIDED for comparison in compared):
        names = " and ".join(measured.group.candidate for measured in (a, b))
        yield f"{where}: whether {names} differ is undecided: {compared[0].why}."


def _finding(comparison: Comparison, a: Measured, b: Measured) -> str:
    figures = " against ".join(value(of.summary.figures[comparison.statistic]) for of in (a, b))
    return f"{comparison.statement} ({comparison.statistic} {figures})"

# SPDX-License-Identifier: MIT
"""Summaries in GitHub's Markdown, for $GITHUB_STEP_SUMMARY or a comment on a pull request. GitLab renders them too."""

from collections.abc import Iterable, Iterator, Sequence

from rtqual.base.words import table
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.regression.course import Course, Regressions
from rtqual.engine.analysis.regression.origin import cell_name
from rtqual.engine.analysis.verdict.headline import result
from rtqual.engine.analysis.verdict.model import Gate, Outcome, Standing, Verdict
from rtqual.engine.mission import Mission
from rtqual.reports.machine.gate_sections import headline, overall, sections
from rtqual.reports.page.markdown import literal
from rtqual.reports.page.text import clean, number, prose

_SIGNS = {Outcome.MET: "✅", Outcome.NOT_MET: "❌", Outcome.UNDECIDED: "❓", Outcome.INDICATIVE: "🔶"}
_COURSES = {Course.WORSE: "❌ ", Course.UNDECIDED: "❓ ", Course.BETTER: "✅ "}


def to_github(mission: Mission, evidence: Evidence) -> str:
    """Verdicts, gates and what failed; the report has the figures."""
    text = f"## {_line(mission.mission.title)}\n\nScale {literal(evidence.scale)}.\n"
    for goals in evidence.goals:
        if goals.places:
            text += f"\n### {_line(goals.title)}\n\n> **{_line(goals.text)}**\n"
    if evidence.answer is not None and len(evidence.answer.boards) > 1:
        text += f"\n### Verdict\n\n> **{_line(evidence.answer.headline)}**\n"
    for heading, verdict in evidence.headed:
        text += "".join(_verdict(verdict, heading))
    failed = [f"{cell_name(group)}: {reason}" for group, reason in sorted(evidence.failures.items())]
    return text + _bullets("Gave no record", failed)


def gate_github(found: Regressions) -> str:
    sign = _COURSES[overall(found)]
    text = f"## {sign}{_line(headline(found))}\n\nBaseline {_line(found.before)}, now {_line(found.after)}.\n"
    for section in sections(found):
        text += f"\n### {_COURSES.get(section.course, '')}{section.title}\n"
        for part in section.parts:
            text += f"\n{_line(part.heading)}\n" if part.heading else ""
            if any(how or why for _, how, why in part.rows):
                text += _table(("", "Baseline to now", "Why"), [[prose(cell) for cell in row] for row in part.rows])
            else:
                text += "\n" + "".join(f"- {_line(what)}\n" for what, _, _ in part.rows)
    return text


def _verdict(verdict: Verdict, heading: str) -> Iterator[str]:
    yield f"\n### {_line(heading)}\n\n> **{_line(verdict.headline)}**\n"
    yield _bullets("The candidates differ", verdict.differs)
    part = "" if verdict.scored in (None, 1.0) else f", over {100 * (verdict.scored or 0):.0f} % of the weight"
    yield _table(
        ("Candidate", "Result", f"Score{part}"),
        [_standing(verdict, other_standing) for other_standing in verdict.standings],
    )
    gates = [[other_standing.candidate, *row] for other_standing in verdict.standings for row in _gates(other_standing)]
    if gates:
        yield _table(("Candidate", "Requirement", "", "Why"), gates)
    for standing in verdict.standings:
        told = {f"'{gate.requirement}': {gate.reason}" for gate in standing.gates}
        yield _bullets(f"Refused: {standing.candidate}", [reason for reason in standing.refusals if reason not in told])
    yield _bullets("Found", verdict.findings)
    yield _bullets("To keep in mind", verdict.caveats)


def _standing(verdict: Verdict, standing: Standing) -> list[str]:
    said, outcome = result(verdict, standing)
    score = "-" if standing.total is None else number(standing.total)
    return [clean(standing.candidate), f"{_SIGNS[outcome]} {said}", score]


def _gates(standing: Standing) -> Iterator[list[str]]:
    """The needs that are met in one row."""
    met = [gate for gate in standing.gates if gate.is_need and gate.outcome == Outcome.MET]
    yield from (_gate(gate) for gate in standing.gates if gate not in met)
    if met:
        names = ", ".join(gate.name for gate in met)
        yield ["needs", f"{_SIGNS[Outcome.MET]} {Outcome.MET}", prose(names)]


def _gate(gate: Gate) -> list[str]:
    return [prose(gate.requirement), f"{_SIGNS[gate.outcome]} {gate.outcome}", prose(gate.reason or gate.limit)]


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    return f"\n{table(heads, rows, literal)}\n"


def _bullets(title: str, items: Iterable[str]) -> str:
    lines = "".join(f"- {_line(item)}\n" for item in items)
    return f"\n**{_line(title)}**\n\n{lines}" if lines else ""


def _line(text: str) -> str:
    return literal(prose(text))

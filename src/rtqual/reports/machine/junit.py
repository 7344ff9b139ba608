# SPDX-License-Identifier: MIT
"""JUnit XML, as Jenkins, GitLab and others read it: a requirement is a test case.

Not met is a failure. Undecided is an error, never a pass: nobody knows. A limit in time that counted instructions
judge is skipped, with what they indicate: it has neither passed nor failed. What the scale does not
measure, a candidate that it does not run, and all of a machine that does not fly are skipped. Where the mission
requires nothing, a skipped case says so in place of an empty suite, which would look like a pass. Goals
are no gates: one that is met passes, any other is skipped, with what it is. What else differs between candidates
stands in skipped cases of its own. No time stands in it, so equal evidence
gives equal bytes.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from xml.etree import ElementTree

from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.regression.course import Course, Moved, Regressions
from rtqual.engine.analysis.regression.origin import cell_name
from rtqual.engine.analysis.verdict.gates import limit_text
from rtqual.engine.analysis.verdict.goals import GoalPlace, Goals
from rtqual.engine.analysis.verdict.judge import ACCEPTED_LINE
from rtqual.engine.analysis.verdict.model import Gate, Ground, Outcome, Standing, Verdict, need_name
from rtqual.engine.mission import Mission
from rtqual.reports.machine.gate_sections import change, outcomes
from rtqual.reports.page.text import clean

_NOT_MEASURED = "this scale measures it of no candidate"
_RESULTS = {
    Outcome.MET: "",
    Outcome.NOT_MET: "failure",
    Outcome.UNDECIDED: "error",
    Outcome.INDICATIVE: "skipped",
}


@dataclass(frozen=True)
class Case:
    """`result`: failure, error, skipped, or nothing for a pass."""

    name: str
    result: str
    kind: str  # of result, in a word or two
    text: str


@dataclass(frozen=True)
class Suite:
    name: str
    classname: str  # dots part it into packages
    cases: tuple[Case, ...]


_NOTHING_ASKED = Case(
    Outcome.UNASKED, "skipped", Outcome.UNASKED, "the mission sets no requirement and no need: nothing was tested"
)


def to_junit(mission: Mission, evidence: Evidence) -> str:
    """A suite for each candidate on each board. A cell that gave no record is an error of its own, or skipped where
    nothing is judged by it."""
    suites = [suite for verdict in evidence.verdicts for suite in _differing(mission, verdict)]
    suites += [_standing(mission, verdict, standing) for verdict in evidence.verdicts for standing in verdict.standings]
    judged = {standing.candidate for verdict in evidence.verdicts for standing in verdict.standings}
    suites += [
        _unplanned(mission, candidate.name, evidence)
        for candidate in mission.candidates
        if candidate.name not in judged
    ]
    suites += [_goals(mission, goals, place) for goals in evidence.goals for place in goals.places]
    failures = sorted(evidence.failures.items())
    for candidate, cells in groupby(failures, key=lambda item: item[0].candidate):
        cases = [
            Case(cell_name(group), "error" if group in evidence.lacking else "skipped", "no record", reason)
            for group, reason in cells
        ]
        suites.append(Suite(f"{candidate}, runs that failed", f"{mission.mission.name}.failed", tuple(cases)))
    return as_xml(f"rtqual select: {mission.mission.title}, scale {evidence.scale}", suites)


def gate_junit(found: Regressions) -> str:
    """A suite for each cell, a case for each figure; what cannot be judged is skipped, or an error with --strict."""
    suites = []
    for group, figures in groupby(found.figures, key=lambda moved: moved.group):
        cases = [Case(moved.figure, *_course(moved.course, found.strict), _moved(moved)) for moved in figures]
        classname = f"gate.{group.board}.{group.candidate}"
        suites.append(Suite(cell_name(group), classname, tuple(cases)))
    for (candidate, board), answers in groupby(found.answers, key=lambda answer: (answer.candidate, answer.board)):
        cases = [
            Case(answer.requirement, *_course(answer.course, found.strict), f"{outcomes(answer)}: {answer.reason}")
            for answer in answers
        ]
        suites.append(Suite(f"{candidate}, {board} board", f"gate.{board}.{candidate}", tuple(cases)))
    if found.lost:
        missing = tuple(Case(lost.what, "failure", "missing", lost.reason) for lost in found.lost)
        suites.append(Suite("in the baseline only", "gate.missing", missing))
    return as_xml(f"rtqual gate: {found.after} against {found.before}", suites)


def _standing(mission: Mission, verdict: Verdict, standing: Standing) -> Suite:
    compared = verdict.ground == Ground.REFERENCE
    judged = [
        Case(gate.requirement, "skipped", "for comparison", f"for comparison: {gate.outcome}: {_said(gate)}")
        if compared
        else Case(gate.requirement, _RESULTS[gate.outcome], gate.outcome, _said(gate))
        for gate in standing.gates
    ]
    cases = (*(Case(name, "skipped", "not run", _NOT_MEASURED) for name in verdict.not_measured), *judged)
    names = (mission.mission.name, verdict.board, standing.candidate)
    return Suite(f"{standing.candidate}, {verdict.board} board", ".".join(names), cases or (_NOTHING_ASKED,))


def _differing(mission: Mission, verdict: Verdict) -> Iterator[Suite]:
    """What differs between candidates besides their kernels has neither passed nor failed. That counted instructions
    are taken for time is said by each reason."""
    cases = [
        Case(differ.partition(":")[0], "skipped", "differs", differ)
        for differ in verdict.differs
        if differ != ACCEPTED_LINE
    ]
    if cases:
        classname = f"{mission.mission.name}.{verdict.board}.differs"
        yield Suite(f"what else differs, {verdict.board} board", classname, tuple(cases))


def _goals(mission: Mission, goals: Goals, place: GoalPlace) -> Suite:
    cases = [
        Case(f"{way}: {goal}", "" if gate.outcome == Outcome.MET else "skipped", gate.outcome, _said(gate))
        for way, reach in place.reaches.items()
        for goal, gate in reach.gates.items()
    ]
    classname = f"{mission.mission.name}.{goals.name}.{place.group.candidate}"
    return Suite(f"goals of the {goals.name}, {place.text}", classname, tuple(cases))


def _said(gate: Gate) -> str:
    return gate.reason or gate.limit


def _unplanned(mission: Mission, candidate: str, evidence: Evidence) -> Suite:
    why = f"scale '{evidence.scale}' does not run {candidate}"
    names = [
        *((requirement.name, limit_text(requirement)) for requirement in mission.requirements),
        *((need_name(need), "") for need in mission.mission.needs),
    ]
    cases = [Case(name, "skipped", "not run", f"{why}; {limit} asked" if limit else why) for name, limit in names]
    classname = f"{mission.mission.name}.not-run.{candidate}"
    return Suite(f"{candidate}, not run", classname, tuple(cases) or (_NOTHING_ASKED,))


def _course(course: Course, strict: bool) -> tuple[str, str]:
    if course == Course.UNDECIDED:
        return ("error" if strict else "skipped"), "not judged"
    return ("failure" if course == Course.WORSE else ""), str(course)


def _moved(moved: Moved) -> str:
    return f"{moved.course}: {change(moved)}{f', {moved.reason}' if moved.reason else ''}"


def as_xml(title: str, suites: Iterable[Suite]) -> str:
    """Only what Jenkins' schema (junit-10.xsd of its xUnit plugin) has."""
    root = ElementTree.Element("testsuites", name=clean(title))
    totals = dict.fromkeys(("tests", "failures", "errors"), 0)
    for suite in suites:
        results = [case.result for case in suite.cases]
        counts = {
            "tests": len(results),
            "failures": results.count("failure"),
            "errors": results.count("error"),
            "skipped": results.count("skipped"),
        }
        element = ElementTree.SubElement(root, "testsuite", {"name": clean(suite.name), **_text(counts)})
        for case in suite.cases:
            attributes = {"name": clean(case.name), "classname": clean(suite.classname)}
            _fill(ElementTree.SubElement(element, "testcase", attributes), case)
        totals = {name: total + counts[name] for name, total in totals.items()}
    root.attrib |= _text(totals)
    ElementTree.indent(root, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _fill(element: ElementTree.Element, case: Case) -> None:
    """A pass has its figures as output, anything else has its reason."""
    if case.result:
        result = ElementTree.SubElement(element, case.result, message=clean(case.text), type=clean(case.kind))
        result.text = clean(case.text)
    else:
        ElementTree.SubElement(element, "system-out").text = clean(case.text)


def _text(counts: dict[str, int]) -> dict[str, str]:
    return {name: str(number) for name, number in counts.items()}

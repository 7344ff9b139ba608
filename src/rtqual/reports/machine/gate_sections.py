# SPDX-License-Identifier: MIT
"""What the regression gate found, in sections of plain text: terminal and Markdown summary print the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from rtqual.base import words
from rtqual.base.units import format_value
from rtqual.base.words import count
from rtqual.engine.analysis.figure import wording
from rtqual.engine.analysis.figure.model import Figure, Group
from rtqual.engine.analysis.regression.course import Course, Moved, Regressions, RequirementCourse
from rtqual.engine.analysis.regression.origin import cell_name

Row = tuple[str, str, str]  # what, how it changed, why


@dataclass(frozen=True)
class RegressionRows:
    """Rows about one cell or one candidate."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class RegressionSection:
    title: str
    course: Course
    parts: tuple[RegressionRows, ...]


def headline(found: Regressions) -> str:
    """'Regression: 9 figures worse.', 'No regression found: 12 figures better, 3 figures the same.'"""
    same = found.of(Course.SAME)
    equal = [moved for moved in same if moved.before.value == moved.after.value]
    counted = [
        (len(found.of(Course.WORSE)), "figure", "worse"),
        (len(found.answered(Course.WORSE)), "requirement", "not kept any more"),
        (len(found.lost), "result", "missing"),
        (len(found.of(Course.BETTER)), "figure", "better"),
        (len(found.answered(Course.BETTER)), "requirement", "kept that had not been"),
        (len(found.of(Course.CHANGED)), "figure", "changed"),
        (len(found.of(Course.UNDECIDED)), "figure", "not judged"),
        (len(found.answered(Course.UNDECIDED)), "requirement", "not judged"),
        (len(equal), "figure", "the same"),
        (len(same) - len(equal), "figure", "not told apart"),
    ]
    parts = [f"{count(number, what)} {how}" for number, what, how in counted if number]
    return f"{'Regression' if found.failed else 'No regression found'}: {', '.join(parts)}."


def overall(found: Regressions) -> Course:
    """Of everything together; what is not judged keeps a pass from looking better than it is."""
    if found.failed:
        return Course.WORSE
    open_ = found.of(Course.UNDECIDED) or found.answered(Course.UNDECIDED)
    return Course.UNDECIDED if open_ else Course.BETTER


def sections(found: Regressions) -> Iterator[RegressionSection]:
    """The worst first; empty ones left out."""
    every = (
        RegressionSection("Worse", Course.WORSE, tuple(_figures(found, Course.WORSE))),
        RegressionSection("Not kept any more", Course.WORSE, tuple(_answers(found.answered(Course.WORSE)))),
        RegressionSection("Missing", Course.WORSE, _flat([(lost.what, "", lost.reason) for lost in found.lost])),
        RegressionSection("Not judged", Course.UNDECIDED, tuple(_undecided(found))),
        RegressionSection("Better", Course.BETTER, tuple(_figures(found, Course.BETTER))),
        RegressionSection("Newly kept", Course.BETTER, tuple(_answers(found.answered(Course.BETTER)))),
        RegressionSection("Changed, neither better nor worse", Course.CHANGED, tuple(_changed(found))),
        RegressionSection("New", Course.CHANGED, _flat([(what, "", "not in the baseline") for what in found.added])),
        RegressionSection("Other inputs than the baseline's", Course.SAME, tuple(_inputs(found))),
        RegressionSection("Notes", Course.SAME, _flat([(note, "", "") for note in found.notes])),
    )
    return (section for section in every if section.parts)


def change(moved: Moved) -> str:
    """'12.27 us to 30.97 us (+152 %)'; noisy figures with their intervals, small changes with the difference."""
    before, after = (
        wording.figure(replace(figure, interval=None) if moved.exact else figure)
        for figure in (moved.before, moved.after)
    )
    difference = moved.after.value - moved.before.value
    sizes = [format_value(difference, moved.before.unit)] if difference and before == after else []
    sizes += [f"{100 * difference / abs(moved.before.value):+.3g} %"] if difference and moved.before.value else []
    return f"{before} to {after}" + (f" ({', '.join(sizes)})" if sizes else "")


def _figures(found: Regressions, course: Course) -> Iterator[RegressionRows]:
    for group, members in groupby(found.of(course), key=lambda moved: moved.group):
        figures = list(members)
        rows = [(moved.figure, change(moved), moved.reason) for moved in figures]
        yield RegressionRows(_cell(group, figures), tuple(rows))


def _undecided(found: Regressions) -> Iterator[RegressionRows]:
    """Figures of a cell that are not judged, a row for each reason."""
    for group, members in groupby(found.of(Course.UNDECIDED), key=lambda moved: moved.group):
        figures = list(members)
        reasons = dict.fromkeys(moved.reason for moved in figures)
        rows = [(words.listed([moved.figure for moved in figures if moved.reason == why]), "", why) for why in reasons]
        yield RegressionRows(_cell(group, figures), tuple(rows))
    yield from _answers(found.answered(Course.UNDECIDED))


def _changed(found: Regressions) -> Iterator[RegressionRows]:
    yield from _figures(found, Course.CHANGED)
    yield from _answers(found.answered(Course.CHANGED))


def _answers(answers: Sequence[RequirementCourse]) -> Iterator[RegressionRows]:
    for (candidate, board), members in groupby(answers, key=lambda answer: (answer.candidate, answer.board)):
        rows = [(answer.requirement, outcomes(answer), answer.reason) for answer in members]
        yield RegressionRows(f"{candidate}, {board} board", tuple(rows))


def outcomes(answer: RequirementCourse) -> str:
    """'met to not met'."""
    return f"{answer.before or 'not asked'} to {answer.after or 'not asked'}"


def _inputs(found: Regressions) -> Iterator[RegressionRows]:
    for (candidate, board), members in groupby(
        found.inputs, key=lambda input_change: (input_change.candidate, input_change.board)
    ):
        rows = [(input_change.what, f"{input_change.before} to {input_change.after}", "") for input_change in members]
        yield RegressionRows(f"{candidate}, {board} board", tuple(rows))


def _cell(group: Group, figures: Sequence[Moved]) -> str:
    """A cell with what its figures rest on: all samples, not the figures that the tool prints once a run."""
    most = max(figures, key=lambda moved: moved.before.n)
    before, after = _basis(most.before), _basis(most.after)
    basis = before if before == after else f"{before}, now {after}"
    return f"{cell_name(group)} ({basis}{', deterministic' if most.exact else ''})"


def _basis(figure: Figure) -> str:
    samples = f"{count(figure.n, 'sample')} in " if figure.n > figure.runs else ""
    return f"{samples}{count(figure.runs, 'run')}"


def _flat(rows: Sequence[Row]) -> tuple[RegressionRows, ...]:
    return (RegressionRows("", tuple(rows)),) if rows else ()

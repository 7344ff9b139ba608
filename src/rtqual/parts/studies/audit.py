# SPDX-License-Identifier: MIT
"""The audit of a published study: what can be computed from its own figures is, and compared with what it printed.

A figure is a misprint only where it lies outside of what rounding leaves open. Figures are audited by the
rules of the study's data file, sentences by their checks; one engine serves both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import product

from rtqual.base.words import listed
from rtqual.parts.studies.catalogue import EVERY_ROW, Claim, ClaimCheck, Study, StudyRule, slug
from rtqual.parts.studies.formula import bound, evaluate, figure_named, may_hold, split_relation
from rtqual.parts.studies.misprint import MisprintKind, Named, Wrong, name
from rtqual.parts.studies.misprint_words import StudyCircumstances, explain, plain, recomputed, related, span
from rtqual.parts.studies.rounded import Rounded, exponent, rounds_to

Names = Mapping[str, str]

_TELLING, _MANY = 6, 1000  # digits of a figure, and figures that rounding leaves open: two alike are no coincidence


@dataclass(frozen=True)
class Contradiction:
    """A printed figure or claim that does not follow from the study's other figures."""

    study: str
    place: str  # figure, table or section of the study
    table: str  # id of the data's table; empty for a claim
    row: str
    column: str  # of a claim: what was computed
    printed: str
    recomputed: Rounded
    recomputed_text: str  # with its interval, as a bound where it is one
    kind: MisprintKind
    explanation: str  # one sentence
    claim: str = ""  # the sentence that does not hold


@dataclass(frozen=True)
class Audit:
    study: str
    title: str
    figures: int  # checked
    claims: int  # checked
    findings: tuple[Contradiction, ...]
    not_judged: tuple[Claim, ...]


@dataclass(frozen=True)
class _Tested:
    """One figure beside what it should be."""

    names: Names
    path: tuple[str, ...]  # (table, row, column)
    printed: Rounded
    relation: str
    recomputed: Rounded

    @property
    def holds(self) -> bool:
        return may_hold(self.printed, self.relation, self.recomputed)


def audit(study: Study) -> Audit:
    """Every rule and every claim. Raises ValueError where the data file contradicts itself."""
    found: dict[tuple[str, ...], Contradiction] = {}
    tested: set[tuple[str, ...]] = set()
    for rule in study.rules:
        for column, formula in rule.columns.items():
            figures = list(_test(study, rule, column, formula))
            tested |= {tested.path for tested in figures}
            for path, finding in _misprints(study, rule, figures, formula):
                found.setdefault(path, finding)  # the first rule that it breaks says what it should be
    judged = [claim for claim in study.claims if claim.check]
    broken = [finding for claim in judged for check in claim.check for finding in _broken(study, claim, check)]
    return Audit(
        study=study.key,
        title=study.source.title,
        figures=len(tested),
        claims=len(judged),
        findings=(*_in_print_order(study, found), *broken),
        not_judged=tuple(claim for claim in study.claims if claim.not_judged),
    )


def _in_print_order(study: Study, found: Mapping[tuple[str, ...], Contradiction]) -> Iterator[Contradiction]:
    tables = [slug(table.id) for table in study.tables]

    def place(path: tuple[str, ...]) -> tuple[int, int, int]:
        table = study.table(path[0])
        return (tables.index(path[0]), table.columns.index(path[2]), study.rows_of(table).index(path[1]))

    return (found[path] for path in sorted(found, key=place))


def _test(study: Study, rule: StudyRule, column: str, formula: str) -> Iterator[_Tested]:
    for names in _combinations(study, rule.each, rule.at):
        path = _path(rule.at, column, names)
        relation, right = split_relation(formula.format_map(names))
        yield _Tested(names, path, _figure(study, path), relation, _evaluate(study, rule, right, names))


def _misprints(
    study: Study, rule: StudyRule, figures: Sequence[_Tested], formula: str
) -> Iterator[tuple[tuple[str, ...], Contradiction]]:
    for tested in figures:
        if tested.holds and not _borrowed(figures, tested):
            continue
        named = _name(study, rule, tested, figures, formula)
        right = related(tested.relation, recomputed(tested.recomputed, tested.printed))
        about = StudyCircumstances(
            right=right,
            where=_where(study, rule, formula, tested),
            neighbour=_title_of(study, named.row),
            instead=rule.instead_says,
            also=[_row_title(study, other.path) for other in _hidden_shifts(figures, tested, named)],
            note=rule.note,
        )
        table = study.table(tested.path[0])
        yield (
            tested.path,
            Contradiction(
                study=study.key,
                place=table.place,
                table=table.id,
                row=_row_title(study, tested.path),
                column=tested.path[2],
                printed=plain(tested.printed.value),
                recomputed=tested.recomputed,
                recomputed_text=right,
                kind=named.kind,
                explanation=explain(named, plain(tested.printed.value), about),
            ),
        )


def _borrowed(figures: Sequence[_Tested], tested: _Tested) -> bool:
    """Whether a figure that rounding allows is a neighbour's to more digits than chance would give."""
    unit = Decimal(1).scaleb(exponent(tested.printed.value))
    sharp = len(tested.printed.value.as_tuple().digits) >= _TELLING
    return sharp and tested.recomputed.high - tested.recomputed.low >= _MANY * unit and _of_a_neighbour(figures, tested)


def _of_a_neighbour(figures: Sequence[_Tested], tested: _Tested) -> bool:
    """Whether a row prints, to the digit, the figure of the row above or below and not its own."""
    printed = tested.printed.value
    if tested.relation != "==" or rounds_to(tested.recomputed.value, printed):
        return False
    return any(rounds_to(near.recomputed.value, printed) for near in _neighbours(figures, tested))


def _name(study: Study, rule: StudyRule, tested: _Tested, figures: Sequence[_Tested], formula: str) -> Named:
    if tested.relation != "==":
        return Named(MisprintKind.IMPOSSIBLE)
    column = tested.path[2]
    instead = _evaluate(study, rule, rule.instead[column], tested.names) if column in rule.instead else None
    neighbours = {".".join(other.path): other.recomputed for other in _neighbours(figures, tested)}
    otherwise = MisprintKind.COPY if figure_named(formula.format_map(tested.names)) else MisprintKind.DIFFERENCE
    return name(Wrong(tested.printed, tested.recomputed, neighbours, instead, otherwise))


def _neighbours(figures: Sequence[_Tested], tested: _Tested) -> list[_Tested]:
    """The figures above and below: all names but the last are the same."""
    column = [other for other in figures if _but_last(other.names) == _but_last(tested.names)]
    place = column.index(tested)
    return [column[n] for n in (place - 1, place + 1) if 0 <= n < len(column)]


def _but_last(names: Names) -> list[str]:
    return list(names.values())[:-1]


def _hidden_shifts(figures: Sequence[_Tested], tested: _Tested, named: Named) -> Iterator[_Tested]:
    """Of a column with a row shift: other rows that print a neighbour's figure, which rounding alone would allow."""
    if named.kind != MisprintKind.ROW_SHIFT:
        return
    for other in figures:
        hidden = other.holds and _of_a_neighbour(figures, other) and not _borrowed(figures, other)
        if hidden and other.path[0] == tested.path[0]:
            yield other


def _broken(study: Study, claim: Claim, check: ClaimCheck) -> Iterator[Contradiction]:
    """At most one finding a check: of several cases the farthest off, which names the others."""
    cases = sorted(_untrue(study, check), key=lambda case: abs(case.value.value - case.limit.value), reverse=True)
    if not cases:
        return
    worst, says = cases[0], check.says.format_map(cases[0].names)
    named = _name_claim(study, check, worst)
    right = recomputed(worst.value, worst.limit)
    asked = check.printed if worst.relation == "==" and check.printed else related(worst.relation, _limit(worst.limit))
    about = StudyCircumstances(
        right=right,
        where=says,
        said=asked,
        neighbour=_title_of(study, named.row),
        also=[_titles(study, case.names) for case in cases[1:]],
        note=check.note,
    )
    yield Contradiction(
        study=study.key,
        place=claim.place,
        table="",
        row=_titles(study, worst.names),
        column=says.rstrip(","),
        printed=check.printed or asked,
        recomputed=worst.value,
        recomputed_text=right,
        kind=named.kind,
        explanation=explain(named, plain(worst.limit.value), about),
        claim=claim.text,
    )


def _limit(figure: Rounded) -> str:
    """A printed limit with its digits, a computed one with its interval."""
    return plain(figure.value) if figure.as_printed is not None or figure.low == figure.high else span(figure)


@dataclass(frozen=True)
class _Untrue:
    """A case in which a claim does not hold."""

    names: Names
    formula: str
    value: Rounded
    relation: str
    limit: Rounded


def _untrue(study: Study, check: ClaimCheck) -> Iterator[_Untrue]:
    for names in _combinations(study, check.each, ""):
        relation, right = split_relation(check.must.format_map(names))
        formula = check.value.format_map(names)
        value, limit = evaluate(formula, study.figures), bound(relation, right, study.figures)
        if not may_hold(value, relation, limit):
            yield _Untrue(names, formula, value, relation, limit)


def _name_claim(study: Study, check: ClaimCheck, case: _Untrue) -> Named:
    if check.order or case.relation != "==":
        return Named(MisprintKind.ORDER if check.order else MisprintKind.CLAIM)
    copied = figure_named(case.formula)
    beside = _rows_beside(study, copied) if copied else {}
    return name(Wrong(case.limit, case.value, beside, None, MisprintKind.COPY if copied else MisprintKind.CLAIM))


def _rows_beside(study: Study, path: tuple[str, ...]) -> dict[str, Rounded]:
    """The printed figures above and below a figure of a table."""
    table = study.table(path[0])
    rows = study.rows_of(table)
    place = rows.index(path[1])
    beside = [rows[n] for n in (place - 1, place + 1) if 0 <= n < len(rows)]
    return {f"{path[0]}.{row}.{path[2]}": _figure(study, (path[0], row, path[2])) for row in beside}


def _combinations(study: Study, each: Mapping[str, str | tuple[str, ...]], at: str) -> Iterator[Names]:
    """One set of names for every combination, the last name running fastest; '*' is every row of `at`'s table."""
    fixed = {key: values for key, values in each.items() if values != EVERY_ROW}
    lists = [study.groups[values] if isinstance(values, str) else values for values in fixed.values()]
    for combination in product(*lists):
        names = dict(zip(fixed, combination, strict=True))
        every = [key for key, values in each.items() if values == EVERY_ROW]
        if not every:
            yield names
            continue
        table = study.table(at.split(".", maxsplit=1)[0].format_map(names))
        for row in study.rows_of(table):
            yield {**names, every[0]: row}


def _path(at: str, column: str, names: Names) -> tuple[str, ...]:
    return (*at.format_map(names).split("."), column.format_map(names))


def _figure(study: Study, path: tuple[str, ...]) -> Rounded:
    found = study.figures(path)
    if len(found) != 1:
        raise ValueError(f"{study.key}: {'.'.join(path)} names {len(found)} figures, not one")
    return found[0]


def _evaluate(study: Study, rule: StudyRule, formula: str, names: Names) -> Rounded:
    """A rule's formula; its short names are completed from `source`."""
    base = tuple((rule.source or rule.at).format_map(names).split("."))

    def lookup(path: tuple[str, ...]) -> tuple[Rounded, ...]:
        return study.figures(path if len(path) == 3 else (*base, *path))

    return evaluate(formula.format_map(names), lookup)


def _where(study: Study, rule: StudyRule, formula: str, tested: _Tested) -> str:
    """What was computed, in words, with its place where that is not the figure's own."""
    source = study.table((rule.source or rule.at).format_map(tested.names).split(".")[0])
    elsewhere = source.place != study.table(tested.path[0]).place
    what = (
        rule.says.format_map({**tested.names, "column": tested.path[2]})
        or split_relation(formula.format_map(tested.names))[1]
    )
    return f"{what} in {source.place}" if elsewhere or not rule.says else what


def _row_title(study: Study, path: tuple[str, ...]) -> str:
    table = study.table(path[0])
    return table.row_title(next(study.named(table, path[1])))


def _title_of(study: Study, path: str) -> str:
    return _row_title(study, tuple(path.split("."))) if path else ""


def _titles(study: Study, names: Names) -> str:
    """The rows among the names as the study calls them, other names as they are."""
    rows = {study.row_name(table, row): table.row_title(row) for table in study.tables for row in table.rows}
    return listed([rows.get(text, text) for text in names.values()])

# SPDX-License-Identifier: MIT
"""The published studies: what their audit finds and no more."""

import json
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput
from rtqual.published.audit import Audit, audit
from rtqual.published.beside import beside, matching
from rtqual.study.catalogue import KEYS, Study, parse, studies, study
from rtqual.study.formula import bound, evaluate, may_hold
from rtqual.study.misprint import Kind
from rtqual.study.rounded import Rounded
from rtqual.terminal.published import audit_values, catalogue, study_text, study_values
from rtqual.terminal.published_document import document

ROOT = Path(__file__).parents[2]
FINDINGS = (Path(__file__).parents[1] / "data" / "published-findings.txt").read_text().splitlines()[1:]


def lines(audited: Audit) -> list[str]:
    return [
        " | ".join([audited.study, f.place, f.row, f.column, f.printed, f.recomputed_text.split(" [")[0], f.kind])
        for f in audited.findings
    ]


# What the audit finds


@pytest.mark.parametrize("key", KEYS)
def test_the_audit_finds_every_misprint_and_no_more(key: str) -> None:
    assert lines(audit(study(key))) == [line for line in FINDINGS if line.startswith(f"{key} |")]


def test_a_study_with_its_misprints_mended_is_clean() -> None:
    for key in ("aarest", "spacechain"):
        found = audit(study(key))
        mended = mend(study(key), found)
        assert [f for f in audit(mended).findings if f.table] == []
        assert [f for f in found.findings if f.table]


def mend(published: Study, found: Audit) -> Study:
    right = {(f.table, f.row, f.column): f.recomputed.value for f in found.findings if f.table}
    tables = [
        table.model_copy(
            update={
                "rows": tuple(
                    (
                        row[0],
                        *(
                            right.get((table.id, table.row_title(row), column), cell)
                            for column, cell in zip(table.columns, row[1:], strict=True)
                        ),
                    )
                    for row in table.rows
                )
            }
        )
        for table in published.tables
    ]
    kept = {name: getattr(published, name) for name in Study.model_fields}  # and nothing computed from them
    return Study(**{**kept, "tables": tuple(tables)})


def test_shifts_that_rounding_hides_are_named_with_those_it_does_not() -> None:
    (shifted,) = [f for f in audit(study("aarest")).findings if f.place == "Figure 4"]
    assert "Minibian w. Xenomai kernel printed a neighbour's figure too, within rounding" in shifted.explanation


def test_another_rows_figure_to_nine_digits_is_no_coincidence_even_where_rounding_allows_it() -> None:
    shifted = [f for f in audit(study("aarest")).findings if f.column == "p95_minus_avg_relative"]
    allowed = [f for f in shifted if f.recomputed.low <= Decimal(f.printed) <= f.recomputed.high]
    assert [f.row for f in allowed] == ["Minibian", "Minibian w. Xenomai kernel"]
    assert {f.kind for f in shifted} == {Kind.ROW_SHIFT}


def test_every_sentence_is_judged_or_says_why_not() -> None:
    for one in studies():
        audited = audit(one)
        assert audited.claims + len(audited.not_judged) == len(one.claims)
        assert all(claim.not_judged for claim in audited.not_judged)
    with pytest.raises(ValueError, match="needs either checks or the reason"):
        parse(TOML + '[[claim]]\nplace = "p"\ntext = "t"\n')


def test_the_document_is_what_the_audit_writes() -> None:
    assert (ROOT / "docs" / "published-audit.md").read_text() == document()


# Figures as printed


def test_printed_digits_are_kept() -> None:
    text = study_text(study("xenomai"))
    assert "| BeagleBone Black | avg | 1.0000 | 0.0033 | 1.0000 | 0.0014 | 10.000 | 0.0015 | 10.000 | 0.0006 |" in text
    assert "| SABRELite | max | 1.0087 | 0.0087 | 1.0061 | 0.0061 | 10.020 | 0.0020 | 10.012 | 0.0012 |" in text
    assert study_values(study("xenomai"))["tables"][0]["rows"][0][6] == "10.000"


def test_the_catalogue_lists_all_studies_and_show_gives_units() -> None:
    assert all(f"| {key} |" in catalogue(studies()) for key in KEYS)
    assert "requests_per_s [1/s] | min [ms] |" in study_text(study("aarest"))
    assert "| Linux | 9000 | more than |" in study_text(study("uav"))


def test_values_for_machines_keep_decimals_and_open_ends() -> None:
    values = json.loads(json.dumps(audit_values(audit(study("uav")))))
    assert values["findings"][0]["recomputed"] == {"value": "97.500", "low": "97.500", "high": "100"}
    assert values["findings"][0]["kind"] == "claim does not hold"


def test_an_unknown_study_or_table_is_bad_input() -> None:
    with pytest.raises(BadInput, match=r"no published study 'nasa'; there are aarest, spacechain"):
        study("nasa")
    with pytest.raises(BadInput, match=r"has no table 'fig9'; it has worst-case"):
        beside("uav", "fig9")
    with pytest.raises(BadInput, match="no published study"):
        document("nasa")


def test_a_published_table_stands_beside_own_results() -> None:
    mutex = beside("aarest", "fig17-mutex")  # its differences are printed in Figure 21
    assert mutex.columns == ("min", "avg", "max", "p95", "max-min", "p95-avg")
    figure = mutex.rows["Custom minimal EMLID kernel"]["max-min"]
    assert (figure.text, figure.value, figure.unit, figure.finding) == ("665.92", 665_920_000, "ns", None)
    lost = beside("aarest", "fig22-fileio-variability").rows["Custom minimal EMLID kernel"]["root_p95_minus_avg"]
    assert lost.finding is not None
    assert lost.finding.kind == Kind.LOST_SIGN
    shifted = beside("aarest", "fig17-threads").rows["Wheezy w. EMLID's kernel"]["max-min"]
    assert (shifted.text, shifted.finding is not None) == ("5.26", True)
    cpus = beside("spacechain", "multi-core-idle")
    assert cpus.rows["Linux, CPU 2"]["max"].value == 104_000
    assert "cpu" not in cpus.columns


def test_the_table_that_matches_is_the_fullest_and_of_as_many_cpus() -> None:
    expected = {
        ("cyclictest", "none", 1): ["single-core-idle"],
        ("cyclictest", "hackbench", 4): ["multi-core-loaded"],
        ("cyclictest", "none", 2): ["single-core-idle"],
        ("sysbench-mutex", "none", 2): ["fig17-mutex"],
        ("sysbench-mutex", "hackbench", 1): [],
        ("footprint", "none", 1): [],
    }
    assert {asked: [one.table.id for one in matching(*asked)] for asked in expected} == expected


# Rounding


def rounded(text: str) -> Rounded:
    return Rounded.printed(Decimal(text))


def test_a_printed_figure_is_known_to_half_its_last_digit() -> None:
    figure = rounded("10.000")
    assert (figure.low, figure.high) == (Decimal("9.9995"), Decimal("10.0005"))
    assert (Rounded.about(Decimal(100)).low, Rounded.almost(Decimal(100)).high) == (50, 100)


def test_copies_need_the_same_digits_but_computed_figures_may_be_roundings_of_one() -> None:
    assert not rounded("2").agrees(rounded("3"))
    assert rounded("2").agrees(rounded("2.4"))
    assert rounded("5761").agrees(rounded("5761.00"))
    assert (rounded("4") - rounded("2")).agrees(rounded("3"))
    assert not (rounded("4") - rounded("2")).agrees(rounded("4"))


@pytest.mark.parametrize(
    ("formula", "low", "high"),
    [
        ("a - b", "0.9", "1.1"),
        ("2 * a", "3.9", "4.1"),
        ("-a + b", "-1.1", "-0.9"),
        ("squared(a - b - 1)", "0", "0.01"),
        ("sqrt(squared(a))", "1.95", "2.05"),
        ("least(a, b)", "0.95", "1.05"),
        ("mean(a, b)", "1.45", "1.55"),
        ("count(a, b, b)", "3", "3"),
    ],
)
def test_formulas_carry_intervals(formula: str, low: str, high: str) -> None:
    figures = {("a",): (rounded("2.0"),), ("b",): (rounded("1.0"),)}
    result = evaluate(formula, figures.__getitem__)
    assert (result.low, result.high) == (Decimal(low), Decimal(high))


def test_a_quotient_by_what_may_be_zero_contradicts_nothing() -> None:
    quotient = rounded("1.0") / rounded("0.0")
    assert quotient.agrees(rounded("12345"))


@pytest.mark.parametrize("formula", ["a +", "a if b else c", "open('x')", "a @ b", "several", "least(a, key=b)"])
def test_what_is_no_formula_is_refused(formula: str) -> None:
    with pytest.raises(ValueError, match=r"formula|take least"):
        evaluate(formula, lambda path: (rounded("1"),) * (2 if path == ("several",) else 1))


def test_a_number_to_be_equal_was_printed_and_a_limit_is_exact() -> None:
    assert bound("==", "50", lambda _: ()).low == Decimal("49.5")
    assert bound("<", "50", lambda _: ()).low == 50
    assert may_hold(rounded("0.50"), "<", Rounded.exact(Decimal("0.5")))
    assert not may_hold(rounded("0.51"), "<", Rounded.exact(Decimal("0.5")))


def test_a_rule_on_what_a_study_does_not_have_is_refused() -> None:
    for broken in ("nonsense - min", "other.max", "table.nobody.max"):
        with pytest.raises(ValueError, match=r"no column|names no figure|no row"):
            audit(parse(TOML + RULE.replace("max - min", broken)))


# Tables made up: correct ones are never blamed, misprints are found and named

TOML = """
[source]
key = "made-up"
title = "Made up"
hardware = "none"
[[table]]
id = "table"
place = "Table 1"
caption = "Made up"
columns = ["min", "avg", "max", "p95", "range", "lead", "part"]
rows = [["a", 1.00, 3.00, 9.00, 2.00, 8.00, -1.00, 0.8889]]
"""
RULE = """
[[rule]]
each = { row = "*" }
at = "table.row"
columns = { range = "max - min" }
""".replace("table.row", "table.{row}")
RULES = RULE.replace('"max - min"', '"max - min", lead = "p95 - avg", part = "(max - min) / max", min = "<= avg"')
HUNDREDTH = Decimal("0.01")
MADE_UP = settings(max_examples=60, deadline=None)  # the machine may be busy
TIES = st.sampled_from([ROUND_HALF_UP, ROUND_HALF_EVEN])
Row = tuple[Decimal, Decimal, Decimal, Decimal]


@st.composite
def true_rows(draw: st.DrawFn) -> list[Row]:
    """Rows of (min, avg, max, p95), to more digits than are printed."""
    figures = st.integers(1, 10**7)
    rows = []
    for _ in range(draw(st.integers(3, 6))):
        low, middle, late, high = sorted(draw(st.lists(figures, min_size=4, max_size=4)))
        avg, p95 = (middle, late) if draw(st.booleans()) else (late, middle)
        rows.append(tuple(Decimal(one).scaleb(-4) for one in (low, avg, high, p95)))
    return rows


def printed_study(rows: list[Row], ties: str, **wrong: list[Decimal]) -> Study:
    """The table a study with these true figures prints. `wrong` replaces a printed column."""
    low, avg, high, p95 = zip(*rows, strict=True)
    columns = {
        "min": rounds(low, ties),
        "avg": rounds(avg, ties),
        "max": rounds(high, ties),
        "p95": rounds(p95, ties),
        "range": ranges(rows, ties),
        "lead": leads(rows, ties),
        "part": [((h - w) / h).quantize(Decimal("0.0001"), ties) for w, h in zip(low, high, strict=True)],
        **wrong,
    }
    printed = [[f'"row {n}"', *map(str, row)] for n, row in enumerate(zip(*columns.values(), strict=True))]
    text = "[" + ", ".join("[" + ", ".join(row) + "]" for row in printed) + "]"
    head, _ = TOML.split("rows = ")
    return parse(f"{head}rows = {text}\n{RULES}")


def rounds(figures: tuple[Decimal, ...], ties: str) -> list[Decimal]:
    return [figure.quantize(HUNDREDTH, ties) for figure in figures]


def ranges(rows: list[Row], ties: str) -> list[Decimal]:
    return rounds(tuple(high - low for low, _, high, _ in rows), ties)


def leads(rows: list[Row], ties: str) -> list[Decimal]:
    return rounds(tuple(p95 - avg for _, avg, _, p95 in rows), ties)


def kinds(published: Study, column: str) -> dict[str, Kind]:
    return {f.row: f.kind for f in audit(published).findings if f.column == column}


@given(true_rows(), TIES)
@MADE_UP
def test_correct_arithmetic_and_rounding_is_never_blamed(rows: list[Row], ties: str) -> None:
    assert audit(printed_study(rows, ties)).findings == ()


def far_apart(a: Decimal, b: Decimal) -> bool:
    """Different, but not by a factor that could be taken for a power of ten."""
    return bool(a and b) and Decimal("0.2") < a / b < 5 and abs(a / b - 1) > Decimal("0.05") and min(a, b) > 1


@given(true_rows(), TIES, st.data())
@MADE_UP
def test_a_figure_of_the_row_above_is_found_as_a_row_shift(rows: list[Row], ties: str, data: st.DataObject) -> None:
    column = ranges(rows, ties)
    place = data.draw(st.integers(1, len(rows) - 1))
    assume(far_apart(column[place - 1], column[place]))
    shifted = [*column[:place], column[place - 1], *column[place + 1 :]]
    assert kinds(printed_study(rows, ties, range=shifted), "range") == {f"row {place}": Kind.ROW_SHIFT}


@given(true_rows(), TIES, st.data(), st.sampled_from([-2, -1, 1, 2, 3]))
@MADE_UP
def test_a_factor_of_ten_is_found_and_named(rows: list[Row], ties: str, data: st.DataObject, power: int) -> None:
    column = ranges(rows, ties)
    place = data.draw(st.integers(0, len(rows) - 1))
    assume(column[place] > 1)
    wrong = [*column[:place], column[place].scaleb(power), *column[place + 1 :]]
    wrong = [Decimal(f"{one:f}") for one in wrong]
    assert kinds(printed_study(rows, ties, range=wrong), "range") == {f"row {place}": Kind.FACTOR_OF_TEN}


@given(true_rows(), TIES)
@MADE_UP
def test_lost_signs_are_found_and_named(rows: list[Row], ties: str) -> None:
    column = leads(rows, ties)
    negative = {f"row {n}": Kind.LOST_SIGN for n, one in enumerate(column) if one < Decimal("-0.02")}
    assume(negative and not any(Decimal("-0.02") <= one < 0 for one in column))
    assert kinds(printed_study(rows, ties, lead=[abs(one) for one in column]), "lead") == negative


@given(true_rows(), TIES, st.data())
@MADE_UP
def test_exchanged_digits_are_found_and_named(rows: list[Row], ties: str, data: st.DataObject) -> None:
    column = ranges(rows, ties)
    place = data.draw(st.integers(0, len(rows) - 1))
    digits = str(column[place])
    assume(column[place] >= 10 and digits[1] not in ("0", digits[0]))
    wrong = Decimal(digits[1] + digits[0] + digits[2:])
    assume(
        abs(wrong) > 1
        and all(abs(wrong - one) > Decimal("0.05") for one in column)
        and not powers_of_ten(wrong, column[place])
    )
    column[place] = wrong
    assert kinds(printed_study(rows, ties, range=column), "range") == {f"row {place}": Kind.TRANSPOSED}


def powers_of_ten(a: Decimal, b: Decimal) -> bool:
    return any(abs(a.scaleb(power) / b - 1) < Decimal("0.2") for power in (-2, -1, 1, 2))


@given(true_rows(), TIES, st.data())
@MADE_UP
def test_an_impossible_minimum_is_found(rows: list[Row], ties: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(rows) - 1))
    low, avg = rows[place][:2]
    lows = rounds(tuple(row[0] for row in rows), ties)
    lows[place] = avg.quantize(HUNDREDTH) + 1
    assert kinds(printed_study(rows, ties, min=lows), "min") == {f"row {place}": Kind.IMPOSSIBLE}
    assert low <= avg

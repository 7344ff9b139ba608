# SPDX-License-Identifier: MIT
"""The published studies: what their audit finds and no more."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.parts.studies.audit import Audit, audit
from rtqual.parts.studies.audits import document
from rtqual.parts.studies.beside import beside, matching
from rtqual.parts.studies.catalogue import KEYS, Study, parse, studies, study
from rtqual.parts.studies.misprint import MisprintKind
from rtqual.parts.studies.words import audit_values, catalogue, study_text, study_values
from support.made_up_study import TOML

ROOT = Path(__file__).parents[3]
FINDINGS = (Path(__file__).parents[2] / "data" / "published-findings.txt").read_text().splitlines()[1:]


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
    assert {f.kind for f in shifted} == {MisprintKind.ROW_SHIFT}


def test_every_sentence_is_judged_or_says_why_not() -> None:
    for one in studies():
        audited = audit(one)
        assert audited.claims + len(audited.not_judged) == len(one.claims)
        assert all(claim.not_judged for claim in audited.not_judged)
    with pytest.raises(ValueError, match="needs either checks or the reason"):
        parse(TOML + '[[claim]]\nplace = "p"\ntext = "t"\n')


def test_the_document_is_what_the_audit_writes() -> None:
    assert (ROOT / "docs/verification/published-audit.md").read_text() == document()


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
    assert lost.finding.kind == MisprintKind.LOST_SIGN
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

# SPDX-License-Identifier: MIT
"""The report's section that sets what was measured beside what studies printed."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.mission import Mission, load_mission
from rtqual.parts.studies.chapter_beside import beside
from rtqual.parts.studies.choice import stated_needs, with_choice
from rtqual.parts.studies.study_records import records
from rtqual.protocols.record.schema import Record, Series, Timing
from rtqual.reports.material import gather
from rtqual.reports.page.document import Block, Bullets, Paragraph, Table
from support.analysis_records import record, wakeups
from support.report_material import tables

STUDY = Path(__file__).parents[3] / "missions" / "aarest-study.toml"


@pytest.fixture
def mission() -> Mission:
    return Mission.model_validate(
        {
            "mission": {"name": "m", "title": "M", "purpose": "P", "duration": 10**9},
            "candidate": [
                {"name": "rt", "title": "RT", "package": "linux-image-rt-amd64"},
                {"name": "here", "title": "Here", "this-machine": True},
            ],
            "scale": {"demo": {"plan": [{"instruments": ["cyclictest"], "runs": 1}]}},
        }
    )


def section(mission: Mission, taken: Sequence[Record]) -> list[Block]:
    evidence = with_choice(mission, analyse(mission, "demo", taken, stated_needs(mission)))
    return list(beside(gather(mission, evidence, [one.manifest for one in taken], {})))


def column(table: Table, title: str) -> dict[str, str]:
    at = [one.title for one in table.columns].index(title)
    return {row[0].text: row[at].text for row in table.rows}


def long_runs(maxima_ns: Sequence[int], **more: object) -> list[Record]:
    """As many samples each as the study took."""
    return [
        record(Series.counted({8_000: 999_999, largest: 1}, name="latency"), load="none", seed=seed, **more)  # type: ignore[arg-type]
        for seed, largest in enumerate(maxima_ns)
    ]


def mutex(candidate: str, samples_ns: Sequence[int], **more: object) -> Record:
    series = Series.raw([*samples_ns], name="latency")
    return record(series, candidate=candidate, instrument="sysbench-mutex", load="none", **more)  # type: ignore[arg-type]


def test_our_figures_stand_first_in_the_studys_unit_with_their_samples(mission: Mission) -> None:
    taken = long_runs([20_000 + i for i in range(10)], parameters={"interval": 10_000_000})
    (table,) = tables(section(mission, taken))
    assert table.caption == "cyclictest idle, beside spacechain, Figures 3.1 to 3.3; times in µs"
    assert column(table, "max") == {"rt": "20.01", "SpaceChain OS": "35", "Linux": "717", "Linux+RT": "35"}
    assert column(table, "Samples") == {
        "rt": "10,000,000 in 10 runs", "SpaceChain OS": "1,000,000", "Linux": "1,000,000", "Linux+RT": "1,000,000",
    }  # fmt: skip
    average = table.rows[0][[one.title for one in table.columns].index("avg")]
    assert " to " in average.detail  # its interval


def test_what_differs_is_named_first(mission: Mission) -> None:
    facts = {"processor": "Cortex-A72", "hypervisor": "none"}
    ours = [
        mutex("rt", [10**6, 2 * 10**6], parameters={"threads": 64}),
        mutex("here", [10**6, 3 * 10**6], board="local", cpus=4, timing=Timing.REAL, facts=facts),
    ]
    blocks = section(mission, ours)
    assert isinstance(blocks[0], Paragraph) and "They are not measured alike" in blocks[0].text
    assert isinstance(blocks[1], Bullets)
    study, virtual, local = blocks[1].items
    assert "Vilma Wilke" in study and "Raspberry Pi" in study and "sysbench 0.5" in study
    assert "its clock counts executed instructions" in virtual
    assert "Cortex-A72" in local and "instructions" not in local and "none" not in local
    (table,) = tables(blocks)
    assert table.notes[0].text.startswith("Study: sysbench --test=mutex --num-threads=64 run. Here: threads = 64")
    assert [row[0].detail for row in table.rows[:2]] == ["virtual, 1 CPU", "local, 4 CPUs"]
    assert table.rows[0][0].marks and not table.rows[1][0].marks
    assert column(table, "Samples")["Minibian"] == "not stated"


def test_a_printed_figure_that_does_not_follow_has_a_footnote_and_what_follows(mission: Mission) -> None:
    series = Series.raw([10**6, 2 * 10**6], name="latency")
    (table,) = tables(section(mission, [record(series, instrument="sysbench-threads", load="none")]))
    at = [one.title for one in table.columns].index("max-min")
    cells = {row[0].text: row[at] for row in table.rows}
    emlid, xenomai = cells["Wheezy w. EMLID's kernel"], cells["Wheezy w. Xenomai kernel"]
    assert (emlid.text, emlid.detail) == ("5.26", "→ 4.52")
    assert (xenomai.text, xenomai.detail, xenomai.marks) == ("4.16", "", "")
    notes = {note.mark: note.text for note in table.notes}
    assert notes[emlid.marks] == "Does not follow from the study's other figures (row shift); below it what does."


def test_what_was_measured_with_other_settings_is_not_set_beside_a_study(mission: Mission) -> None:
    """Each way round: the study's 10 ms against our 1 ms, its 64 threads against 8."""
    (refused,) = section(mission, long_runs([20_000] * 3, parameters={"interval": 1_000_000}))
    assert isinstance(refused, Bullets)
    assert tuple(text.replace("\u00a0", " ") for text in refused.items) == (
        "cyclictest idle of rt against spacechain, Figures 3.1 to 3.3: "
        "measured otherwise: interval 1 ms against 10 ms.",
    )
    (refused,) = section(mission, [mutex("rt", [10**6, 2 * 10**6], parameters={"threads": 8})])
    assert isinstance(refused, Bullets) and "measured otherwise: threads 8 against 64" in refused.items[0]
    like, other = mutex("rt", [10**6], parameters={"threads": 64}), {"board": "local", "parameters": {"threads": 8}}
    blocks = section(mission, [like, mutex("here", [10**6], **other)])
    (table,) = tables(blocks)
    assert column(table, "avg").keys() & {"rt", "here"} == {"rt"}
    assert isinstance(blocks[0], Bullets) and "of here against aarest" in blocks[0].items[0]


def test_extremes_of_runs_of_other_lengths_are_not_set_beside_a_study(mission: Mission) -> None:
    (table,) = tables(section(mission, wakeups("rt", [20_000 + i for i in range(10)], load="none")))
    assert (column(table, "max")["rt"], column(table, "min")["rt"]) == ("-", "-")
    assert column(table, "avg")["rt"] != "-"
    assert any("runs of 1,000 and of 1,000,000 samples: extremes grow" in note.text for note in table.notes)


def test_of_several_numbers_of_cpus_the_one_with_most_runs_is_shown(mission: Mission) -> None:
    taken = wakeups("rt", [20_000] * 3, load="none") + wakeups("rt", [40_000] * 5, n=100_000, load="none", cpus=4)
    (table,) = tables(section(mission, taken))
    assert "Figures 3.7 and 3.8" in table.caption  # the study's figures on four CPUs
    assert column(table, "max")["rt"] == "40"
    assert column(table, "max")["Linux, CPU 3"] == "117"


def test_no_section_where_no_study_measured_the_same_or_records_are_refused(mission: Mission) -> None:
    assert section(mission, wakeups("rt", [20_000] * 3, load="stress-io")) == []
    assert section(mission, wakeups("rt", [20_000] * 3, load="none", problems=["samples were lost"])) == []


def test_candidates_of_a_study_have_their_misprints_listed_and_no_table_beside_themselves() -> None:
    mission = load_mission(STUDY)
    taken = [one for c in mission.candidates if c.published for one in records(c.published, c.name)]
    (table,) = section(mission, taken)
    assert isinstance(table, Table)
    assert len(table.rows) == 21
    rows = {tuple(cell.text for cell in row) for row in table.rows}
    assert ("emlid", "Figure 21", "threads max minus min [ms]", "5.26", "4.52 [4.51, 4.53]", "row shift") in rows
    assert not any(row[0] in ("raspbian", "xenomai") for row in rows)

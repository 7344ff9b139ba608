# SPDX-License-Identifier: MIT
"""Published figures as candidates: their records, and the choice that a study made, made again by a mission."""

import re
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.engine.analysis.verdict.gates import need_gates
from rtqual.engine.analysis.verdict.model import Outcome, Verdict
from rtqual.engine.campaign.plan import plan
from rtqual.engine.campaign.run import Campaign, Watcher
from rtqual.engine.mission import Mission, Need, load_mission
from rtqual.parts.studies.catalogue import studies, study, systems
from rtqual.parts.studies.choice import stated_needs, with_choice
from rtqual.parts.studies.study_records import records
from rtqual.protocols.record.schema import Record, SeriesKind
from rtqual.protocols.record.store import Store

ROOT = Path(__file__).parents[3]
STUDY = ROOT / "missions" / "aarest-study.toml"
STATISTICS = {"min", "avg", "max", "p95"}


def printed(system: str) -> dict[tuple[str, str, int], Record]:
    """A system's records by instrument, load and CPUs."""
    return {(r.inputs.instrument, r.inputs.load, r.inputs.cpus): r for r in records(system, "it")}


def test_every_system_gives_records_of_what_was_printed_and_nothing_else() -> None:
    for system, (key, row) in systems().items():
        found = printed(system)
        assert found, system
        for record in found.values():
            assert (record.inputs.board, record.inputs.candidate) == ("published", "it")
            assert {one.info.kind for one in record.series} == {SeriesKind.SUMMARY}
            assert all(not one.total and set(one.info.reported) <= {"n", *STATISTICS} for one in record.series)
            assert record.inputs.job == {"study": key, "table": record.inputs.job["table"], "row": row}
            made = record.manifest.provenance
            assert (made.started, made.wall_s, made.command, made.kernel) == (None, None, [], None)
            assert study(key).source.title in made.facts["study"]


def test_records_hold_the_printed_figures_in_nanoseconds() -> None:
    emlid = printed("aarest/emlid")
    assert {key[0] for key in emlid} == {
        f"sysbench-{one}" for one in ("cpu", "threads", "mutex", "fileio-root", "fileio-usb")
    }
    threads = emlid["sysbench-threads", "none", 1].manifest
    assert threads.series[0].reported == {"min": 5.26e6, "avg": 5.74e6, "max": 9.78e6, "p95": 5.88e6}
    assert threads.scalars["max-min as printed"].value == pytest.approx(5.26e6)
    assert threads.scalars["resolution"].value == pytest.approx(1e4)
    assert emlid["sysbench-fileio-usb", "none", 1].manifest.scalars["requests_per_s"].value == 1.6
    custom = printed("aarest/custom")["sysbench-cpu", "none", 1].manifest  # section 4.1.4 has no such row
    assert set(custom.scalars) == {"resolution"}
    loaded = printed("spacechain/linux")["cyclictest", "hackbench", 4]
    assert [(one.info.cpu, one.info.reported["max"], one.info.reported["n"]) for one in loaded.series] == [
        (0, 102e3, 100_000), (1, 121e3, 100_000), (2, 106e3, 100_000), (3, 93e3, 100_000),
    ]  # fmt: skip


def test_a_summary_counts_the_samples_a_study_states_and_none_where_it_does_not() -> None:
    idle = printed("spacechain/linux-rt")["cyclictest", "none", 1]
    (group,) = groups([idle])
    assert measure(group, [idle]).summary.samples == 1_000_000
    mutex = printed("aarest/emlid")["sysbench-mutex", "none", 1]
    (group,) = groups([mutex])
    summary = measure(group, [mutex]).summary
    assert (summary.samples, summary.runs) == (0, 1)
    assert summary.figures["max-min"].value == pytest.approx(538.93e6)
    assert not {"p50", "p99", "std"} & set(summary.figures)  # never invented


@pytest.fixture(scope="module")
def chosen(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Verdict]:
    """The mission through the campaign: nothing runs, its records are kept."""
    folder = tmp_path_factory.mktemp("study")
    mission = load_mission(STUDY)
    campaign = Campaign(mission, "demo", folder)
    assert campaign.cells == [] and campaign.waiting() == []
    result = campaign.run(Watcher())
    assert len(result.records) == 25
    evidence = with_choice(
        mission, analyse(mission, "demo", result.records, {**result.configs, **stated_needs(mission)}, {})
    )
    (verdict,) = evidence.verdicts
    return folder, verdict


def test_with_correct_arithmetic_the_study_chose_what_its_rule_picks(chosen: tuple[Path, Verdict]) -> None:
    _, verdict = chosen
    totals = {one.candidate: one.total for one in verdict.standings}
    may = [one.candidate for one in verdict.standings if one.may_fly == Outcome.MET]
    assert may == ["emlid", "xenomai", "minibian-xenomai"]
    assert [totals[name] for name in may] == pytest.approx([0.833, 0.681, 0.638], abs=0.0005)
    assert verdict.headline.startswith("With correct arithmetic the criteria put emlid first, as the study did: emlid")
    assert verdict.board == "published"


def test_the_studys_choice_is_told_where_a_mission_needs_nothing(tmp_path: Path) -> None:
    mission = load_mission(STUDY)
    mission = mission.model_copy(update={"mission": mission.mission.model_copy(update={"needs": ()})})
    found = Campaign(mission, "demo", tmp_path).run(Watcher()).records
    (verdict,) = with_choice(mission, analyse(mission, "demo", found, {}, {})).verdicts
    assert verdict.headline.startswith(
        "With correct arithmetic the criteria put raspbian first, where the study chose emlid: raspbian 0.582, emlid"
    )
    assert {one.may_fly for one in verdict.standings} == {Outcome.UNASKED}


def test_one_printed_run_supports_no_certain_lead(chosen: tuple[Path, Verdict]) -> None:
    _, verdict = chosen
    assert verdict.fly is None
    assert "No verdict: emlid, xenomai and minibian-xenomai meet all 3 requirements" in verdict.headline
    assert {one.rank for one in verdict.standings if one.may_fly == Outcome.MET} == {1}


def test_the_misprints_hid_how_far_ahead_the_choice_was(chosen: tuple[Path, Verdict]) -> None:
    """From the printed differences minibian-xenomai comes second and close; its row was that of Minibian."""
    _, verdict = chosen
    assert verdict.findings[0].startswith(
        "From the differences as the study printed them the criteria put emlid first too, by 0.012 where it is 0.152"
    )
    assert "emlid 0.750, minibian-xenomai 0.738 and xenomai 0.633" in verdict.findings[0]
    assert any("21 figures that the study prints of these systems do not follow" in one for one in verdict.caveats)


def test_scores_are_the_best_figure_over_the_own_one(chosen: tuple[Path, Verdict]) -> None:
    _, verdict = chosen
    scores = {one.criterion: one for one in verdict.standings[0].scores}
    threads = scores["threads stability, range"]
    assert threads.figure is not None and threads.figure.value == pytest.approx((9.78 - 5.26) * 1e6)
    assert threads.score == pytest.approx((6.37 - 2.21) / (9.78 - 5.26)), "of those that may fly"


def test_needs_come_from_the_text_and_what_it_does_not_say_is_undecided() -> None:
    mission = load_mission(STUDY)
    stated = stated_needs(mission)
    assert {name: one["realtime"].ok for name, one in stated.items()} == {
        "emlid": True, "xenomai": True, "minibian-xenomai": True, "raspbian": False, "minibian": False,
    }  # fmt: skip
    assert "EMLID RT kernel version 3.18.9-rt5-v7+" in stated["emlid"]["realtime"].reason
    gates = {gate.requirement: gate for gate in need_gates(("realtime", "gpio"), "emlid", stated["emlid"])}
    assert gates["need realtime"].outcome == Outcome.MET
    assert (gates["need gpio"].outcome, gates["need gpio"].reason) == (Outcome.UNDECIDED, "the study does not say")
    assert all(name in {*Need} for one in studies() for said in one.stated for name in said.needs)


def test_records_of_a_study_are_kept_and_shown_like_any_other(chosen: tuple[Path, Verdict]) -> None:
    folder, _ = chosen
    kept = list(Store(folder / "records").read_all())
    assert len(kept) == 25
    assert {one.manifest.provenance.mission_sha256 for one in kept} == {load_mission(STUDY).sha256}
    again = Campaign(load_mission(STUDY), "demo", folder).run(Watcher())
    assert {one.manifest.hash for one in again.records} == {one.manifest.hash for one in kept}
    assert len(list((folder / "records").iterdir())) == 25


def test_the_criteria_weigh_as_in_the_mission_for_todays_kernels() -> None:
    weights = {(one.instrument, one.statistic): one.weight for one in load_mission(STUDY).criteria}
    todays = {
        (one.instrument, one.statistic): one.weight
        for one in load_mission(ROOT / "docking/missions/docking.toml").criteria
    }
    assert {key: todays[key] for key in weights} == weights


def test_where_the_study_chose_otherwise_the_headline_says_so(tmp_path: Path) -> None:
    text = STUDY.read_text()
    speed = text.replace('name = "mutex speed"', 'name = "mutex speed" # all that counts').replace(
        "weight = 0.5\n\n[scale.demo]", "weight = 50.0\n\n[scale.demo]"
    )
    assert speed.count("50.0") == 1
    mission = mission_of(tmp_path, speed)
    taken = [one for c in mission.candidates if c.published for one in records(c.published, c.name)]
    evidence = with_choice(mission, analyse(mission, "demo", taken, stated_needs(mission)))
    assert "put xenomai first, where the study chose emlid" in evidence.verdicts[0].headline


def mission_of(folder: Path, text: str) -> Mission:
    (folder / "mission.toml").write_text(text)
    return load_mission(folder / "mission.toml")


PLAN = '[[scale.demo.plan]]\ninstruments = ["sysbench-cpu"]\nruns = 1\n'
HERE = '[[candidate]]\nname = "here"\ntitle = "This machine"\nthis-machine = true\n\n'
MISTAKES = {  # what is written for what, on which line, what is said
    "unknown row": ('"aarest/emlid"', '"aarest/emild"', "emild", "did you mean 'aarest/emlid'"),
    "unknown study": ('"aarest/emlid"', '"nasa"', "nasa", "unknown published system 'nasa'; allowed: aarest/custom, "),
    "nothing measured": ('"aarest/emlid"', '"uav/linux"', "uav", "unknown published system 'uav/linux'"),
    "two studies": ('"aarest/xenomai"', '"spacechain/linux"', "spacechain", "of another study than those of aarest"),
    "run as well": ('"aarest/emlid"', '"aarest/emlid"\npackage = "x-1"', "x-1", "cannot stand beside published"),
    "this machine too": ('"aarest/emlid"', '"aarest/emlid"\nthis-machine = true', '"aarest/emlid"', "keep one of the"),
    "boot": ('"aarest/emlid"', '"aarest/emlid"\nboot = ["quiet"]', "boot =", "boot: cannot stand beside published"),
    "a plan for nobody": ("[scale.demo]\nplan = []", PLAN, "[[scale.demo.plan]]", "every candidate is published"),
    "no plan": ("[[candidate]]", HERE + "[[candidate]]", "plan = []", "scale.demo.plan: is empty; write at least 1"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_wrong_published_candidate_is_told_with_its_line(tmp_path: Path, mistake: str) -> None:
    old, new, at, says = MISTAKES[mistake]
    assert old in STUDY.read_text()
    text = STUDY.read_text().replace(old, new, 1)
    with pytest.raises(BadInput, match=re.escape(says)) as caught:
        mission_of(tmp_path, text)
    line = int(str(caught.value).split(":")[1])
    assert at in text.splitlines()[line - 1]
    assert len(str(caught.value).splitlines()) == 1


def test_a_plan_may_not_name_a_published_candidate_and_leaves_it_out_by_itself(tmp_path: Path) -> None:
    text = STUDY.read_text().replace("[[candidate]]", HERE + "[[candidate]]", 1).partition("[scale.demo]")[0]
    mission = mission_of(tmp_path, text + PLAN)
    assert {cell.candidate.name for cell in plan(mission, "demo")} == {"here"}
    with pytest.raises(BadInput, match=r"plan\[0\]\.candidates\[0\]: 'emlid' is published and not run; leave it out"):
        mission_of(tmp_path, text + PLAN + 'candidates = ["emlid"]\n')


def test_a_requirement_on_what_was_not_printed_is_undecided(tmp_path: Path) -> None:
    requirement = (
        '[[requirement]]\nname = "wake-up"\ninstrument = "cyclictest"\nstatistic = "max"\nat_most = "1 ms"\n\n'
    )
    mission = mission_of(tmp_path, STUDY.read_text().replace("[[criterion]]", requirement + "[[criterion]]", 1))
    taken = [one for c in mission.candidates if c.published for one in records(c.published, c.name)]
    (verdict,) = analyse(mission, "demo", taken, stated_needs(mission)).verdicts
    gate = next(one for one in verdict.standings[0].gates if one.requirement == "wake-up")
    assert (gate.outcome, gate.reason) == (Outcome.UNDECIDED, "the study prints no cyclictest idle")


def test_who_flies_by_a_studys_figures_alone_flies_by_nothing_else(tmp_path: Path) -> None:
    mission = mission_of(tmp_path, STUDY.read_text())
    only = tuple(one for one in mission.candidates if one.name == "emlid")
    alone = mission.model_copy(update={"candidates": only})
    taken = list(records("aarest/emlid", "emlid"))
    (verdict,) = analyse(alone, "demo", taken, stated_needs(alone)).verdicts
    assert verdict.fly == "emlid"
    assert verdict.headline.startswith("Cleared to fly emlid: ")
    assert verdict.headline.endswith(" (By the figures that a study printed.)")

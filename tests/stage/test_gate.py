# SPDX-License-Identifier: MIT
"""The regression gate: what fails, what passes, what cannot be judged; on made-up records, and on real guests."""

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rich.console import Console

from rtqual.analysis.evidence import analyse
from rtqual.analysis.regression.course import Course, Regressions
from rtqual.analysis.regression.direction import better, statistic_of
from rtqual.analysis.regression.regressions import Side, regressions
from rtqual.base.errors import BadInput
from rtqual.campaign import folder as kept
from rtqual.mission import Better, Mission
from rtqual.record.schema import Record, Scalar, Series, Timing
from rtqual.record.store import Store
from rtqual.report.machine.github import gate_github
from rtqual.report.machine.junit import gate_junit
from rtqual.terminal.gate import as_dict, print_gate
from support.analysis_records import WAKE_UP, mission, record, wakeups
from support.command import Run, mission_text

BASE = wakeups("rt", [12_000 + 10 * seed for seed in range(10)])


def judged(before: Sequence[Record], after: Sequence[Record], **how: object) -> Regressions:
    return regressions(Side("BASE", before), Side("NOW", after), **how)  # type: ignore[arg-type]


def courses(found: Regressions) -> dict[str, Course]:
    return {one.figure: one.course for one in found.figures}


def runs(samples: Sequence[Sequence[int]], **more: object) -> list[Record]:
    """A run for each list of samples in nanoseconds, under seeds 1, 2..."""
    return [
        record(Series.raw(list(one), name="latency"), seed=seed, **more)  # type: ignore[arg-type]
        for seed, one in enumerate(samples, 1)
    ]


def scalars(values: Mapping[str, Scalar], **more: object) -> list[Record]:
    return [record((), scalars=values, **more)]  # type: ignore[arg-type]


def with_inputs(records: Sequence[Record], **update: object) -> list[Record]:
    return [
        replace(one, manifest=one.manifest.model_copy(update={"inputs": one.inputs.model_copy(update=update)}))
        for one in records
    ]


# --- deterministic: seed against seed


def test_equal_passes() -> None:
    found = judged(BASE, BASE)
    assert not found.failed
    assert set(courses(found).values()) == {Course.SAME}
    assert {"avg", "p50", "p99", "max"} <= set(courses(found))


def test_one_nanosecond_on_one_seed_is_a_regression_and_the_reverse_is_shown_as_better() -> None:
    worse = wakeups("rt", [12_000 + 10 * seed + (seed == 9) for seed in range(10)])
    found = judged(BASE, worse)
    assert found.failed
    assert {one.figure for one in found.of(Course.WORSE)} == {"avg", "max"}
    assert next(one for one in found.figures if one.figure == "max").reason == "on 1 of 10 seeds"
    back = judged(worse, BASE)
    assert not back.failed
    assert {one.figure for one in back.of(Course.BETTER)} == {"avg", "max"}


def test_a_seed_that_got_worse_does_not_hide_behind_one_that_got_better() -> None:
    now = wakeups("rt", [11_000, *(12_000 + 10 * seed for seed in range(1, 9)), 12_080])
    worse = wakeups("rt", [11_000, 12_011, *(12_000 + 10 * seed for seed in range(2, 10))])
    assert not judged(BASE, now).failed
    (one,) = [one for one in judged(BASE, worse).of(Course.WORSE) if one.figure == "max"]
    assert one.reason == "on 1 of 10 seeds: 12.01 us to 12.01 us on seed 1"
    assert one.before.value == one.after.value == 12_090


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.integers(1, 10**6), min_size=3, max_size=40), min_size=1, max_size=4),
    st.integers(0, 3),
    st.integers(0, 39),
    st.integers(1, 10**5),
)
def test_later_samples_fail_and_earlier_ones_pass(samples: list[list[int]], run: int, sample: int, by_ns: int) -> None:
    """Whatever else a run holds: one sample that came later is a regression, one that came earlier never."""
    later = [list(one) for one in samples]
    place = later[run % len(later)]
    place[sample % len(place)] += by_ns
    forth, back = judged(runs(samples), runs(later)), judged(runs(later), runs(samples))
    assert courses(forth)["avg"] == Course.WORSE
    assert forth.failed
    assert not back.failed
    assert courses(back)["avg"] == Course.BETTER
    assert Course.BETTER not in courses(forth).values()


def test_a_faster_best_case_widens_the_range_and_is_no_regression_unless_the_mission_asks_for_the_range() -> None:
    before, after = runs([[5_000, 9_000, 9_000]]), runs([[4_000, 9_000, 9_000]])
    assert not judged(before, after).failed
    criterion = {
        "name": "range",
        "instrument": "cyclictest",
        "load": "hackbench",
        "statistic": "max-min",
        "weight": 1.0,
    }
    asked = mission(criteria=[criterion])
    found = regressions(Side("BASE", before), Side("NOW", after, mission=asked))
    assert [one.figure for one in found.of(Course.WORSE)] == ["max-min"]


@pytest.mark.parametrize(
    ("name", "unit", "way"),
    [
        ("p99", "ns", Better.LOWER), ("memory_used", "B", Better.LOWER), ("events_per_s", "1/s", Better.HIGHER),
        ("read", "MiB/s", Better.HIGHER), ("ram_total", "B", Better.HIGHER), ("skipped_periods", "1", Better.LOWER),
        ("events", "1", None), ("thread 2 median run max", "ns", Better.LOWER), ("std", "1/s", Better.LOWER),
    ],
)  # fmt: skip
def test_which_way_is_better(name: str, unit: str, way: Better | None) -> None:
    assert better(name, unit) == way


def test_the_statistic_in_a_name_is_the_longest_that_fits() -> None:
    assert [statistic_of(one) for one in ("max", "thread 2 max", "x median run max", "maximum", "climax")] == [
        "max", "max", "median run max", "", "",
    ]  # fmt: skip


def test_a_rate_is_worse_when_it_falls_and_a_number_without_a_direction_is_only_shown() -> None:
    before = scalars({"rate": Scalar(value=100, unit="1/s"), "events": Scalar(value=7, unit="1")})
    after = scalars({"rate": Scalar(value=99, unit="1/s"), "events": Scalar(value=6, unit="1")})
    assert courses(judged(before, after)) == {"rate": Course.WORSE, "events": Course.CHANGED}
    assert courses(judged(after, before)) == {"rate": Course.BETTER, "events": Course.CHANGED}
    assert not judged(after, before).failed


def test_the_mission_says_which_way_is_better_before_the_unit_does() -> None:
    before = scalars({"events": Scalar(value=7, unit="1")})
    after = scalars({"events": Scalar(value=6, unit="1")})
    criterion = {"name": "c", "instrument": "cyclictest", "load": "hackbench", "scalar": "events", "weight": 1.0}
    for way, course in (("higher", Course.WORSE), ("lower", Course.BETTER)):
        asked = mission(criteria=[{**criterion, "better": way}])
        assert courses(regressions(Side("a", before), Side("b", after, mission=asked))) == {"events": course}


def test_a_tolerance_is_a_part_of_the_figure() -> None:
    before, after = runs([[1_000, 1_000]]), runs([[1_000, 1_100]])
    assert judged(before, after, tolerance=0.09).failed
    found = judged(before, after, tolerance=0.1)
    assert not found.failed
    assert {one.reason for one in found.figures if one.figure == "max"} == {"worse, but within the tolerance"}


def test_only_what_the_mission_names_is_judged_when_asked_to() -> None:
    before, after = runs([[1_000, 2_000]]), runs([[1_500, 2_000]])
    named = mission(requirements=[WAKE_UP])
    sides = Side("BASE", before, mission=named), Side("NOW", after, mission=named)
    assert regressions(*sides).failed
    found = regressions(*sides, mission_only=True)
    assert courses(found) == {"max": Course.SAME}
    with pytest.raises(BadInput, match="--mission-only needs"):
        judged(before, after, mission_only=True)


def test_what_lies_in_an_overflow_is_only_a_lower_end() -> None:
    def overflown(overflow: int, largest: int) -> list[Record]:
        return [
            record(Series.counted({500: 10, largest: 1}, name="latency", overflow=overflow, overflow_from=1_000))
        ]  # fmt: skip

    assert courses(judged(overflown(0, 900), overflown(1, 900)))["max"] == Course.WORSE
    assert courses(judged(overflown(1, 900), overflown(0, 900)))["max"] == Course.BETTER
    assert courses(judged(overflown(1, 900), overflown(2, 900)))["max"] == Course.UNDECIDED


# --- what is missing, new, refused


def test_a_missing_cell_fails_and_is_named_with_its_reason() -> None:
    idle = wakeups("rt", [11_000] * 10, load="none")
    found = regressions(Side("BASE", [*BASE, *idle]), Side("NOW", BASE, failures={}))
    assert found.failed
    (one,) = found.lost
    assert one.what == "rt: cyclictest idle, virtual board, 1 CPU"
    group = one.group
    (one,) = regressions(Side("a", [*BASE, *idle]), Side("b", BASE, failures={group: "the guest died"})).lost
    assert one.reason == "the guest died"
    back = judged(BASE, [*BASE, *idle])
    assert not back.failed
    assert back.added == (one.what,)


def test_a_missing_seed_or_figure_of_deterministic_runs_fails() -> None:
    (one,) = judged(BASE, BASE[:-2]).lost
    assert one.what == "seeds 8 and 9 of rt: cyclictest under hackbench, virtual board, 1 CPU"
    assert judged(BASE[:-1], BASE).added == ("seed 9 of rt: cyclictest under hackbench, virtual board, 1 CPU",)
    figures = {"a": Scalar(value=1, unit="1/s"), "b": Scalar(value=1, unit="1/s")}
    (one,) = judged(scalars(figures), scalars({"a": figures["a"]})).lost
    assert one.what.startswith("b of rt: cyclictest")


def test_runs_that_are_refused_now_are_missing_and_a_refused_baseline_is_not_judged() -> None:
    refused = wakeups("rt", [12_000 + 10 * seed for seed in range(10)], problems=["2 samples were lost"])
    found = judged(BASE, refused)
    assert found.failed
    assert "2 samples were lost" in found.lost[0].reason
    back = judged(refused, BASE)
    assert set(courses(back).values()) == {Course.UNDECIDED}
    assert not back.failed
    assert judged(refused, BASE, strict=True).failed


# --- noisy: by intervals


def noisy(shift_ns: int, runs_: int = 12, timing: Timing = Timing.REAL, first: int = 0) -> list[Record]:
    """Runs whose maxima and places vary by up to 1 us."""
    return runs(
        [[9_000 + shift_ns + (37 * i + 311 * run) % 1_000 for i in range(200)] for run in range(first, first + runs_)],
        timing=timing,
    )


@pytest.mark.parametrize("timing", [Timing.REAL, Timing.HOST_TIMED, Timing.UNTESTED])
def test_a_noisy_figure_fails_only_where_its_interval_does(timing: Timing) -> None:
    found = judged(noisy(0, timing=timing), noisy(2_000, timing=timing))
    assert courses(found)["avg"] == courses(found)["p50"] == courses(found)["median run max"] == Course.WORSE
    assert judged(noisy(2_000, timing=timing), noisy(0, timing=timing)).of(Course.WORSE) == []
    again = judged(noisy(0, timing=timing), noisy(0, timing=timing, first=5))
    assert not again.failed
    assert "no difference shown: difference" in again.figures[0].reason
    assert any("by chance" in note for note in again.notes)


def test_one_noisy_side_makes_the_pair_noisy() -> None:
    found = judged(BASE, wakeups("rt", [12_001 + 10 * seed for seed in range(10)], timing=Timing.HOST_TIMED))
    assert not any(one.exact for one in found.figures)
    assert not found.failed


def test_fewer_than_ten_noisy_runs_are_shown_as_not_judged_and_fail_when_strict() -> None:
    before, after = noisy(0, runs_=9), noisy(5_000, runs_=12)
    found = judged(before, after)
    assert set(courses(found).values()) == {Course.UNDECIDED}
    assert not found.failed
    text = printed(found)
    assert "Not judged" in text
    assert "an interval needs 10" in text
    assert judged(before, after, strict=True).failed
    assert set(courses(judged(before, before)).values()) == {Course.SAME}  # the same records need no interval


def test_a_tolerance_holds_for_noisy_figures_too() -> None:
    assert not judged(noisy(0), noisy(2_000), tolerance=0.5).failed


# --- what cannot be compared, and which inputs changed


def test_other_parameters_are_not_comparable() -> None:
    one, other = (wakeups("rt", [12_000] * 3, parameters={"cycles": cycles, "priority": 80}) for cycles in (100, 200))
    with pytest.raises(BadInput, match=r"cyclictest under hackbench.*parameter cycles is 100 in BASE and 200 in NOW"):
        judged(one, other)


def test_other_command_lines_are_not_comparable() -> None:
    one, other = (with_inputs(BASE, job={"loads": [load], "measure": "x"}) for load in ("hackbench", "hackbench -g 9"))
    with pytest.raises(BadInput, match=r"what ran differs \(loads\)"):
        judged(one, other)
    imported = with_inputs(BASE, job={"imported_sha256": "00"})
    assert not judged(imported, with_inputs(BASE, job={"imported_sha256": "11"})).failed


def test_several_measurements_of_a_cell_on_one_side_are_refused() -> None:
    mixed = [*with_inputs(BASE[:5], artefacts={"kernel": "old"}), *with_inputs(BASE[5:], artefacts={"kernel": "new"})]
    for sides in ((mixed, BASE), (BASE, mixed)):
        with pytest.raises(BadInput, match="several measurements of rt: cyclictest"):
            judged(*sides)


def test_nothing_in_common_is_bad_input() -> None:
    with pytest.raises(BadInput, match="nothing to compare"):
        judged(BASE, wakeups("stock", [12_000] * 10))


def test_inputs_that_changed_are_named_by_what_differs() -> None:
    before = with_inputs(
        BASE, artefacts={"kernel": "a" * 64, "kernel parameters": "quiet preempt=full", "qemu": "7.2", "gone": "x"}
    )
    after = with_inputs(
        BASE, artefacts={"kernel": "b" * 64, "kernel parameters": "quiet preempt=none", "qemu": "7.2", "come": "y"}
    )
    assert {(one.what, one.before, one.after) for one in judged(before, after).inputs} == {
        ("kernel", "a" * 12, "b" * 12), ("kernel parameters", "preempt=full", "preempt=none"), ("gone", "x", "-"),
        ("come", "-", "y"),
    }  # fmt: skip


def test_equal_inputs_that_gave_other_samples_are_told() -> None:
    found = judged(BASE, wakeups("rt", [12_000 + 10 * seed - (seed == 4) for seed in range(10)]))
    assert any("equal inputs gave other samples on seed 4" in note for note in found.notes)


# --- requirements


def side(name: str, records: Sequence[Record], limit: str | None = "100 us") -> Side:
    wanted: Mission = mission(["rt"], requirements=[{**WAKE_UP, "at_most": limit}] if limit else [])
    return Side(name, records, wanted, analyse(wanted, "demo", records, {}))


def test_a_requirement_that_was_met_and_is_not_fails() -> None:
    late = wakeups("rt", [120_000] * 10)
    found = regressions(side("a", BASE), side("b", late))
    (one,) = found.answers
    assert (one.course, one.before, one.after) == (Course.WORSE, "met", "not met")
    assert "120 us" in one.reason
    assert regressions(side("b", late), side("a", BASE)).answers[0].course == Course.BETTER
    assert regressions(side("a", BASE), side("b", BASE)).answers[0].course == Course.SAME


def test_a_requirement_that_is_undecided_now_is_not_met_any_more() -> None:
    noisy_, few = ([replace(one) for one in noisy(0, runs_=count)] for count in (12, 3))
    found = regressions(side("a", noisy_), side("b", few))
    assert [one.course for one in found.answers] == [Course.WORSE]
    assert found.failed


def test_a_requirement_that_nobody_asks_for_any_more_is_shown_and_fails_when_strict() -> None:
    found = regressions(side("a", BASE), side("b", BASE, limit=None))
    assert [(one.course, one.reason) for one in found.answers] == [(Course.UNDECIDED, "not asked any more")]
    assert not found.failed
    assert regressions(side("a", BASE), side("b", BASE, limit=None), strict=True).failed


def test_another_limit_is_told() -> None:
    found = regressions(side("a", BASE), side("b", BASE, limit="10 us"))
    assert found.failed
    assert found.answers[0].reason.endswith("the limit was 'at most 100 us'")


def test_without_a_campaign_requirements_are_not_compared_and_that_is_said() -> None:
    found = regressions(Side("just records", BASE), side("b", BASE))
    assert found.answers == ()
    assert "requirements are not compared: there is no finished campaign in just records" in found.notes


# --- how it is told


def printed(found: Regressions) -> str:
    console = Console(width=200, force_terminal=False)
    with console.capture() as captured:
        print_gate(console, found)
    return captured.get()


def several() -> Regressions:
    """Something of every kind, with a name that means something to rich, XML and Markdown."""
    hostile = "rt[red]|<b>&`*"
    worse = wakeups(hostile, [13_000 + 10 * seed for seed in range(10)], n=500)
    before = wakeups(hostile, [12_000 + 10 * seed for seed in range(10)], n=500)
    gone = wakeups(hostile, [11_000] * 10, load="none")
    return judged(
        [*before, *gone, *noisy(0, runs_=3), *scalars({"rate": Scalar(value=1, unit="1/s")}, load="stress-cpu")],
        [*worse, *noisy(100, runs_=3), *scalars({"rate": Scalar(value=2, unit="1/s")}, load="stress-cpu")],
    )


def test_the_terminal_names_every_figure_and_ends_with_the_headline() -> None:
    text = printed(several())
    assert "rt[red]|<b>&`*: cyclictest under hackbench, virtual board, 1 CPU (5,000 samples in 10 runs" in text
    assert "12.09 us to 13.09 us (+8.27 %)" in text
    assert "on 10 of 10 seeds" in text
    for title in ("Worse", "Missing", "Not judged", "Better", "Notes"):
        assert f"\n{title}\n" in text
    last = text.strip().splitlines()[-1]
    assert last.startswith("Regression: ")
    assert "1 result missing" in last
    assert printed(judged(BASE, BASE)).strip().endswith("No regression found: 8 figures the same.")


def test_json_holds_all_of_it() -> None:
    told = json.loads(json.dumps(as_dict(several()), allow_nan=False))
    assert told["failed"] is True
    assert {one["course"] for one in told["figures"]} >= {"worse", "better", "undecided"}
    assert told["lost"][0]["reason"] == "no record"


def test_junit_fails_what_is_worse_and_missing_and_skips_what_is_not_judged() -> None:
    found = several()
    root = ElementTree.fromstring(gate_junit(found))  # noqa: S314 - ours
    worse, undecided = len(found.of(Course.WORSE)) + len(found.lost), len(found.of(Course.UNDECIDED))
    assert (len(root.findall(".//failure")), len(root.findall(".//skipped"))) == (worse, undecided)
    strict = ElementTree.fromstring(gate_junit(replace(found, strict=True)))  # noqa: S314
    assert (len(strict.findall(".//error")), len(strict.findall(".//skipped"))) == (undecided, 0)
    assert int(root.attrib["failures"]) == worse
    named = {one.attrib["name"] for one in root.iter("testcase")}
    assert {"max", "avg", "rate"} <= named


def test_markdown_says_the_same() -> None:
    text = gate_github(several()).replace("\u00a0", " ")
    assert text.startswith("## ❌ Regression: ")
    assert "rt\\[red\\]\\|&lt;b&gt;&amp;\\`\\*: cyclictest" in text
    assert "| max | 12.09 µs to 13.09 µs (+8.27 %) | on 10 of 10 seeds |" in text
    assert gate_github(judged(BASE, BASE)).startswith("## ✅ No regression found")
    assert gate_github(judged(noisy(0, runs_=3), noisy(9, runs_=3))).startswith("## ❓ No regression found")


# --- the command, on folders


def folder(path: Path, records: Sequence[Record]) -> Path:
    from rtqual.record.schema import Measurement
    from rtqual.record.store import make

    store = Store(path / "records")
    for one in records:
        manifest = one.manifest
        measurement = Measurement(one.series, manifest.scalars, tuple(manifest.problems))
        store.write(make(manifest.inputs, measurement, manifest.provenance, timing=manifest.timing, repeat=0))
    return path


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A baseline and what is worse by 1 ns on one of two seeds."""
    root = tmp_path_factory.mktemp("gate")
    return (
        folder(root / "base", wakeups("rt", [12_000, 12_010], n=50)),
        folder(root / "worse", wakeups("rt", [12_000, 12_011], n=50)),
    )


def test_exit_codes_and_what_is_printed(rtqual: Run, folders: tuple[Path, Path], tmp_path: Path) -> None:
    base, worse = folders
    assert rtqual("gate", base, base).returncode == 0
    assert rtqual("gate", worse, base).returncode == 0
    done = rtqual("gate", base, worse, "--junit", tmp_path / "new" / "gate.xml")
    assert (done.returncode, done.stderr) == (1, "")
    assert "max" in done.stdout
    assert ElementTree.parse(tmp_path / "new" / "gate.xml").getroot().attrib["failures"] == "2"  # noqa: S314
    done = rtqual("gate", base, worse, "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["failed"] is True
    assert rtqual("gate", base, worse, "--github").stdout.startswith("## ❌")
    assert rtqual("gate", base, worse, "--tolerance", "1").returncode == 0


def test_what_is_wrong_is_bad_input(fails: Callable[..., str], folders: tuple[Path, Path], tmp_path: Path) -> None:
    base, worse = folders
    assert "give one" in fails(2, "gate", base, worse, "--github", "--json")
    for tolerance in ("-1", "100", "nan"):
        assert "--tolerance" in fails(2, "gate", base, worse, "--tolerance", tolerance)
    assert str(tmp_path / "nowhere") in fails(2, "gate", base, tmp_path / "nowhere")
    assert "--mission-only" in fails(2, "gate", base, worse, "--mission-only")
    other = folder(tmp_path / "other", wakeups("rt", [12_000], n=50, parameters={"cycles": 50}))
    assert "cycles is not set in" in fails(2, "gate", base, other)
    assert "cannot be written" in fails(3, "gate", base, worse, "--junit", tmp_path)


def finished(path: Path, campaign: Path) -> Path:
    """A copy of a finished campaign."""
    for name in (kept.MISSION, kept.CAMPAIGN):
        path.mkdir(parents=True, exist_ok=True)
        shutil.copy(campaign / name, path)
    for name in (kept.RECORDS, kept.CONFIGS):
        shutil.copytree(campaign / name, path / name)
    return path


def test_the_only_campaign_below_out_is_judged_and_several_are_not_guessed_at(
    rtqual: Run, fails: Callable[..., str], campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "no finished campaign below out/" in fails(2, "gate", campaign)
    finished(tmp_path / "out" / "now", campaign)
    done = rtqual("gate", campaign)
    assert done.returncode == 0, done.stderr
    assert "now out/now" in done.stdout
    finished(tmp_path / "out" / "base", campaign)
    assert rtqual("gate", "out/base").returncode == 0  # the other one
    assert "several finished campaigns below out/ (base, now)" in fails(2, "gate", campaign)


def test_a_damaged_record_is_named(fails: Callable[..., str], campaign: Path, tmp_path: Path) -> None:
    copy = finished(tmp_path / "copy", campaign)
    first = next((copy / kept.RECORDS).glob("*-0"))
    (first / "samples.parquet").write_bytes(b"PAR1")
    assert str(first) in fails(2, "gate", campaign, copy)
    shutil.rmtree(first)
    assert str(first) in fails(2, "gate", campaign, copy)


def test_the_examples_of_the_document_work(
    rtqual: Run, campaign: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (Path(__file__).parents[2] / "docs" / "ci.md").read_text()
    for block in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL):
        assert yaml.safe_load(block)
    commands = re.findall(r"^[^|\n]*?rtqual ((?:report|gate)(?: [\w./-]+)+)", text.partition("## The gate")[2], re.M)
    commands += re.findall(r"^    rtqual (report(?: [\w./-]+)+ --out [\w./-]+)", text, re.M)
    assert len(commands) == 6
    finished(tmp_path / "out" / "docking-demo", campaign)
    (copy,) = re.findall(r"^    (cp -r .*)$", text, re.M)
    (tmp_path / "baseline").mkdir()
    subprocess.run(["bash", "-c", copy], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    for command in commands:
        done = rtqual(*command.split())
        assert done.returncode == 0, (command, done.stderr)
    assert Path("gate.xml").exists()
    assert Path("results/junit.xml").exists()


CAMPAIGN_FILE = {
    "schema_version": 1, "mission_sha256": "0", "scale": "demo", "records": ["a-0"],
    "failures": [{"instrument": "x", "load": "y", "board": "z", "cpus": 1, "candidate": "c", "reason": "r"}],
}  # fmt: skip


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=60),
        st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists).map(
            lambda value: json.dumps(value).encode()
        ),
        st.sampled_from(sorted(CAMPAIGN_FILE)).flatmap(
            lambda key: (st.none() | st.integers() | st.text(max_size=9) | st.lists(st.text(max_size=9))).map(
                lambda value: json.dumps({**CAMPAIGN_FILE, key: value}).encode()
            )
        ),
    )
)
def test_any_other_campaign_file_is_bad_input(tmp_path: Path, content: bytes) -> None:
    (tmp_path / kept.CAMPAIGN).write_bytes(content)
    with pytest.raises(BadInput):
        kept.load(tmp_path)


# --- real guests


def test_a_boot_parameter_that_makes_a_kernel_slower_fails_and_the_reverse_passes(
    rtqual: Run, campaign: Path, tmp_path: Path
) -> None:
    """Somebody forgot to turn function tracing off. Takes 15 s."""
    text = mission_text("debian-rt", loads=("none",))
    tracing = 'boot = ["ftrace=function", "ftrace_filter=*hrtimer*"]\n'
    (tmp_path / "traced.toml").write_text(text.replace('-amd64"\n', f'-amd64"\n{tracing}'))
    traced, equal = tmp_path / "traced", finished(tmp_path / "equal", campaign)
    done = rtqual("select", tmp_path / "traced.toml", "--out", traced)
    assert done.returncode == 0, done.stderr

    done = rtqual("gate", campaign, equal, "--json")
    assert done.returncode == 0
    assert {one["course"] for one in json.loads(done.stdout)["figures"]} == {"same"}

    done = rtqual("gate", campaign, traced, "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 1
    assert {"avg", "p50", "p99", "max"} <= {one["figure"] for one in told["figures"] if one["course"] == "worse"}
    changed = {one["what"]: one["after"] for one in told["inputs"]}
    assert changed["kernel parameters"] == "ftrace=function ftrace_filter=*hrtimer*"
    assert [one["what"] for one in told["lost"]] == ["debian-rt: cyclictest under hackbench, virtual board, 1 CPU"]

    done = rtqual("gate", traced, campaign, "--json")
    told = json.loads(done.stdout)
    assert done.returncode == 0
    assert {"avg", "p50", "p99", "max"} <= {one["figure"] for one in told["figures"] if one["course"] == "better"}
    assert len(told["added"]) == 1


@pytest.mark.full
def test_a_kernel_booted_without_preemption_fails_against_one_with_it(rtqual: Run, tmp_path: Path) -> None:
    """Takes a minute: two guests, three runs each under load."""
    folders = {}
    for mode in ("full", "none"):
        text = mission_text("debian", loads=("hackbench",))
        path = tmp_path / f"{mode}.toml"
        path.write_text(text.replace('-amd64"\n', f'-amd64"\npreempt = "{mode}"\n'))
        folders[mode] = tmp_path / mode
        done = rtqual("select", path, "--out", folders[mode])
        assert done.returncode == 0, done.stderr
    assert rtqual("gate", folders["full"], folders["full"]).returncode == 0
    done = rtqual("gate", folders["full"], folders["none"])
    assert done.returncode == 1
    for figure in ("avg", "p50", "p99", "max"):
        assert f" {figure} " in done.stdout.partition("Worse")[2]
    assert "preempt=full to preempt=none" in done.stdout
    done = rtqual("gate", folders["none"], folders["full"])
    assert done.returncode == 0, done.stdout
    assert "Better" in done.stdout

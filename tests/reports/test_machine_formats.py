# SPDX-License-Identifier: MIT
"""Reports for machines, read by the parsers and schemas of those who take them."""

import json
import math
from xml.etree import ElementTree

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from prometheus_client.parser import text_string_to_metric_families

from rtqual.base.words import clean
from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.model import Group
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.verdict.model import Outcome
from rtqual.engine.mission import Mission
from rtqual.protocols.record.schema import Scalar, Series, Timing
from rtqual.reports.machine.bencher import to_bencher
from rtqual.reports.machine.github import to_github
from rtqual.reports.machine.junit import Case, Suite, as_xml, to_junit
from rtqual.reports.machine.prometheus import to_prometheus
from rtqual.reports.page.markdown import literal
from support.analysis_records import RT_CONFIG, STOCK_CONFIG, WAKE_UP, mission, record, wakeups
from support.machine_schemas import BENCHER, valid

HOSTILE = "a|b <i>&\"'\n\\ [x](y) \x1b\u202e\x00 `c`"
DEAD = Group("cyclictest", "none", "virtual", 1, "stock")
SCALARS = {
    "rate": Scalar(value=5.0, unit="1/s"),
    "read": Scalar(value=2.0, unit="MiB/s"),
    "memory": Scalar(value=4096.0, unit="B"),
    "events": Scalar(value=7.0, unit="1"),
    "x" * 80: Scalar(value=1.0, unit="ns"),
}


def asked() -> Mission:
    """Four candidates; the last is in no plan."""
    wanted = mission(
        ["rt", "stock", "lost", "spare"],
        needs=["realtime", "usb"],
        requirements=[WAKE_UP, {**WAKE_UP, "name": HOSTILE.replace("\x00", ""), "statistic": "p50"}],
    )
    plan = wanted.scales["demo"].plan[0].model_copy(update={"candidates": ("rt", "stock", "lost")})
    scale = wanted.scales["demo"].model_copy(update={"plan": (plan,)})
    return wanted.model_copy(update={"scales": {"demo": scale}})


def evidence() -> Evidence:
    """One candidate that flies, one late, one of few and refused runs, figures of every kind, a cell that failed."""
    overflown = Series.counted({5_000: 20}, name="latency", overflow=2, overflow_from=10_000)
    records = [
        *wakeups("rt", [12_000 + 10 * seed for seed in range(10)]),
        *wakeups("stock", [412_000 + 10 * seed for seed in range(10)]),
        *wakeups("lost", [12_000], problems=["2 samples were lost"]),
        record((), candidate="rt", load="none", scalars=SCALARS, timing=Timing.HOST_TIMED),
        record(overflown, candidate="rt", load="stress-cpu"),
    ]
    configs = {"rt": RT_CONFIG, "stock": STOCK_CONFIG, "lost": None}
    return analyse(asked(), "demo", records, configs, {DEAD: f"the guest died: {HOSTILE}"})


def results(root: ElementTree.Element, suite: str) -> dict[str, str]:
    """Case -> failure, error, skipped or passed."""
    (found,) = [one for one in root if one.attrib["name"] == suite]
    return {case.attrib["name"]: next(iter(case)).tag.replace("system-out", "passed") for case in found}


# --- JUnit


def test_junit_has_a_case_for_every_requirement_and_undecided_is_no_pass() -> None:
    root = valid(to_junit(asked(), evidence()))
    wake_up, needs = WAKE_UP["name"], ("need realtime", "need usb")
    rt, stock, lost = (results(root, f"{name}, virtual board") for name in ("rt", "stock", "lost"))
    assert [rt[wake_up], *(rt[need] for need in needs)] == ["passed"] * 3
    assert [stock[wake_up], *(stock[need] for need in needs)] == ["failure", "failure", "passed"]
    assert set(lost.values()) == {"error"}
    assert set(results(root, "spare, not run").values()) == {"skipped"}
    assert len(rt) == len(stock) == len(lost) == len(results(root, "spare, not run")) == 4
    assert list(results(root, "stock, runs that failed").values()) == ["error"]


def test_junit_gives_the_reason_with_its_figures() -> None:
    root = valid(to_junit(asked(), evidence()))
    (failure,) = root.findall(f".//testsuite[@name='stock, virtual board']/testcase[@name='{WAKE_UP['name']}']/failure")
    assert failure.attrib["type"] == "not met"
    assert failure.attrib["message"].startswith("max 412.1 us of 10,000 samples in 10 runs, at most 100 us asked")
    (error,) = root.findall(f".//testsuite[@name='lost, virtual board']/testcase[@name='{WAKE_UP['name']}']/error")
    assert "2 samples were lost" in error.attrib["message"]


def test_junit_of_a_mission_that_requires_nothing_says_so_in_place_of_an_empty_suite() -> None:
    wanted = asked().model_copy(update={"requirements": ()})
    wanted = wanted.model_copy(update={"mission": wanted.mission.model_copy(update={"needs": ()})})
    found = analyse(wanted, "demo", wakeups("rt", [12_000]), {"rt": RT_CONFIG}, {})
    root = valid(to_junit(wanted, found))
    for suite in ("rt, virtual board", "spare, not run"):
        assert results(root, suite) == {"no requirement": "skipped"}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(), min_size=4, max_size=4), st.sampled_from(["", "failure", "error", "skipped"]))
def test_junit_takes_any_text(texts: list[str], result: str) -> None:
    name, suite, kind, text = texts
    (case,) = valid(as_xml(text, [Suite(suite, name, (Case(name, result, kind, text),))])).iter("testcase")
    assert sum(character.isalnum() for character in name) == sum(c.isalnum() for c in case.attrib["name"])


# --- Prometheus


def samples() -> dict[str, list[tuple[dict[str, str], float]]]:
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for family in text_string_to_metric_families(to_prometheus(asked(), evidence())):
        assert family.type == "gauge"
        assert family.documentation
        for one in family.samples:
            found.setdefault(one.name, []).append((dict(one.labels), one.value))
    return found


def test_no_control_or_direction_character_reaches_the_metrics() -> None:
    text = to_prometheus(asked(), evidence())
    assert "[x](y)" in text
    assert not set("\x1b\u202e\x00\r") & set(text)


def one(found: list[tuple[dict[str, str], float]], **labels: str) -> float:
    (value,) = [value for has, value in found if labels.items() <= has.items()]
    return value


def test_prometheus_has_every_figure_in_base_units_with_its_interval() -> None:
    found = samples()
    under_load = {"mission": "test", "scale": "demo", "candidate": "rt", "load": "hackbench", "board": "virtual"}
    summary = next(s for s in evidence().summaries if (s.group.candidate, s.group.load) == ("rt", "hackbench"))
    for name, figure in summary.figures.items():
        if figure.unit == "ns":
            assert one(found["rtqual_duration_seconds"], figure=name, **under_load) == figure.value / 1e9
    average = summary.figures["avg"]
    assert average.interval
    assert one(found["rtqual_duration_low_seconds"], figure="avg", **under_load) == average.interval.low / 1e9
    assert one(found["rtqual_duration_high_seconds"], figure="avg", **under_load) == average.interval.high / 1e9
    assert one(found["rtqual_rate_per_second"], figure="rate") == 5
    assert one(found["rtqual_throughput_bytes_per_second"], figure="read") == 2 * 2**20
    assert one(found["rtqual_size_bytes"], figure="memory") == 4096
    assert one(found["rtqual_number"], figure="events", unit="1") == 7


def test_prometheus_says_where_a_figure_is_only_a_lower_end() -> None:
    found = samples()
    high = one(found["rtqual_duration_high_seconds"], figure="max", load="stress-cpu")
    assert math.isinf(high)
    assert one(found["rtqual_duration_low_seconds"], figure="max", load="stress-cpu") == 1e-5


def test_prometheus_has_the_verdict_and_leaves_refused_figures_out() -> None:
    found = samples()
    for candidate, outcome in (("rt", "met"), ("stock", "not met"), ("lost", "undecided")):
        labels = {"candidate": candidate, "requirement": str(WAKE_UP["name"])}
        states = {o: one(found["rtqual_requirement"], outcome=str(o), **labels) for o in Outcome}
        assert [o for o, value in states.items() if value] == [outcome]
        assert one(found["rtqual_fly"], candidate=candidate) == 0, "beside one that is undecided nobody flies"
    assert one(found["rtqual_problems"], candidate="lost") == 1
    assert not any(has["candidate"] == "lost" for has, _ in found["rtqual_duration_seconds"])
    assert one(found["rtqual_failed_cells"]) == 1
    assert one(found["rtqual_runs"], candidate="rt", load="hackbench", clock="instructions") == 10
    assert any(has["requirement"] == clean(asked().requirements[1].name) for has, _ in found["rtqual_requirement"])


# --- Bencher


def test_bencher_has_every_figure_with_its_bounds() -> None:
    told = json.loads(to_bencher(asked(), evidence()))
    jsonschema.validate(told, BENCHER)
    cell = told["test: rt: cyclictest under hackbench, virtual board, 1 CPU"]
    summary = next(s for s in evidence().summaries if (s.group.candidate, s.group.load) == ("rt", "hackbench"))
    average = summary.figures["avg"]
    assert average.interval
    bounds = {"lower_value": average.interval.low, "upper_value": average.interval.high}
    assert cell["avg (ns)"] == {"value": average.value, **bounds}
    assert cell["max (ns)"] == {"value": 12_090.0}
    assert len(cell) == len(summary.figures)
    assert told["test: rt: cyclictest under stress-cpu, virtual board, 1 CPU"]["max (ns)"] == {
        "value": 10_000.0, "lower_value": 10_000.0,
    }  # fmt: skip
    assert not any("lost" in name for name in told)


# --- GitHub


def test_the_summary_is_markdown_that_github_renders() -> None:
    text = to_github(asked(), evidence())
    page = MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    kinds = [token.type for token in page]
    assert kinds.count("table_open") == 2
    assert "html_block" not in kinds
    inline = [child.type for token in page for child in token.children or []]
    assert {"html_inline", "link_open", "em_open", "code_inline"}.isdisjoint(inline)
    rows = [i for i, kind in enumerate(kinds) if kind == "tr_open"]
    widths = {kinds[start : kinds.index("tr_close", start)].count("td_open") for start in rows}
    assert widths == {0, 3, 4}  # the heads, candidates, requirements
    shown = " ".join(token.content for token in page if token.type == "inline")
    assert evidence().verdicts[0].headline.split(":")[0] in shown
    for word in ("✅ met", "❌ not met", "❓ undecided", "the guest died", "412.1"):
        assert word in shown


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_literal_text_is_one_line_that_means_nothing(text: str) -> None:
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(f"| a |\n| --- |\n| {literal(text)} |\n")
    cells = [token for token in tokens if token.type == "inline"]
    assert len(cells) == 2
    assert {child.type for child in cells[1].children or []} <= {"text", "text_special"}


def test_names_and_addresses_in_markdown_are_dead_text() -> None:
    """GitHub notifies who is named, and makes links of addresses and numbers, though nothing of it is Markdown."""
    alive = "@octocat a@b.example https://x.example http://y www.z.example #12 GH-12"
    dead = literal(alive)
    for word in ("@octocat", "a@b", "://", "www.", "#12", "GH-12"):
        assert word not in dead.replace("\\", "")
    assert dead.replace("\u2060", "").replace("\\", "") == alive
    assert "\u2060" not in literal("6.1 #x, 12 us: met")

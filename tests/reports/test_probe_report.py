# SPDX-License-Identifier: MIT
"""How the report shows the probe's figures: by operating system beside the published ones, loops, shares."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.model import Figure, Interval
from rtqual.engine.analysis.figure.operation_shares import median_ratio, rank_correlation, share
from rtqual.engine.mission import Mission
from rtqual.parts.studies.chapter_repeated import repeated
from rtqual.parts.studies.operations import operations
from rtqual.protocols.record.schema import Record, Scalar, Series
from rtqual.reports.chapter.battery import battery
from rtqual.reports.chapter.mechanisms import mechanisms
from rtqual.reports.chapter.paths import paths
from rtqual.reports.chapter.results import results
from rtqual.reports.material import Material, gather
from rtqual.reports.page.document import Bullets, Paragraph, Plots, Table
from support.analysis_records import record
from support.report_material import tables

NBSP = "\u00a0"
PI_2 = operations("primitives")[0].figures_ns


@pytest.fixture
def mission() -> Mission:
    return Mission.model_validate(
        {
            "mission": {"name": "m", "title": "M", "purpose": "P", "duration": 10**9},
            "candidate": [
                {"name": "linux", "title": "Linux", "package": "linux-image-rt-armmp"},
                {"name": "freertos", "title": "FreeRTOS", "rtos": "freertos"},
            ],
            "scale": {"demo": {"plan": [{"instruments": ["probe-primitives"], "runs": 1}]}},
        }
    )


def taken(
    candidate: str,
    medians_ns: Mapping[str, float],
    instrument: str = "probe-primitives",
    *,
    load: str = "none",
    absent: Mapping[str, str] | None = None,
    scalars: Mapping[str, Scalar] | None = None,
    interval_ns: int | None = None,
) -> Record:
    series = [Series.raw([round(ns) - 1, round(ns), round(ns) + 1], name=name) for name, ns in medians_ns.items()]
    made = record(series, candidate=candidate, instrument=instrument, load=load, board="virtual-arm", scalars=scalars,
                  parameters={} if interval_ns is None else {"interval": interval_ns})  # fmt: skip
    return Record(made.manifest.model_copy(update={"absent": dict(absent or {})}), made.series)


def material(mission: Mission, records: Sequence[Record]) -> Material:
    return gather(mission, analyse(mission, "demo", records, {}), [one.manifest for one in records], {})


def rows(table: Table) -> dict[str, list[str]]:
    return {row[0].text: [cell.text.replace(NBSP, " ") for cell in row[1:]] for row in table.rows}


def test_every_system_stands_in_one_table_with_the_published_beside_it(mission: Mission) -> None:
    twice, reversed_ = {k: 2 * v for k, v in PI_2.items()}, {k: 100_000 / v for k, v in PI_2.items()}
    records = [
        taken("freertos", twice),
        taken("linux", {**reversed_, "clock read": 10}),
        taken("linux", twice, "probe-kernel-primitives", absent={"clock read": "it has no clock"}),
    ]
    blocks = list(mechanisms(material(mission, records)))
    assert isinstance(blocks[0], Paragraph) and "no interval" in blocks[0].text
    table, agreement = tables(blocks)
    assert [one.title for one in table.columns[1:]] == [
        "linux, user space", "linux, kernel space", "freertos", "FreeRTOS, Raspberry Pi 2",
    ]  # fmt: skip
    found = rows(table)
    assert found["mq send"][2:] == ["364 ns", "182 ns"]
    assert found["clock read"] == ["10 ns", "not offered", "-", "-"]
    ((_, operations_n, user, kernel, freertos),) = agreement.rows
    assert (operations_n.text, kernel.text, freertos.text, freertos.detail) == ("18", "1.00", "1.00", "ratio 2")
    assert float(user.text) < 0
    told = " ".join(note.text for note in table.notes)
    assert "Raspberry Pi 2 Model B" in told and "Table I" in told


def test_xenomais_averages_stand_beside_ours(mission: Mission) -> None:
    figures = {"semaphore": 5_000, "message queue": 7_000, "message pipe": 30_000}
    table, agreement = tables(list(mechanisms(material(mission, [taken("linux", figures, "probe-itc")]))))
    assert "averages" in table.caption
    found = rows(table)
    assert found["semaphore"][:3] == ["5 µs", "6.184 µs", "3.609 µs"]
    assert rows(agreement) == {  # of the SABRELite in kernel space the study has one operation
        f"Xenomai, {board} space": ["3", "1.00"] for board in ("BeagleBone Black, user", "BeagleBone Black, kernel",
                                                          "SABRELite, user")
    }  # fmt: skip
    assert any("legible" in note.text for note in table.notes)  # the study's own caveat


@pytest.mark.parametrize(("interval_ns", "average"), [(None, "0.0033"), (1_000_000, "0.0033"), (10_000_000, "0.0015")])
def test_a_periodic_task_stands_beside_the_studys_at_its_own_interval(
    mission: Mission, interval_ns: int | None, average: str
) -> None:
    """The study has 1 ms and 10 ms: never one beside the other."""
    figures = {"period": interval_ns or 1_000_000, "jitter": 2_000}
    one = taken("linux", figures, "probe-periodic", interval_ns=interval_ns)
    table, *_ = tables(list(mechanisms(material(mission, [one]))))
    titles = [column.title for column in table.columns]
    assert len(titles) == len(set(titles)) == 2 + 4
    assert rows(table)["jitter"][1] == f"{float(average) * 1_000:g} µs"
    other = "1 ms" if interval_ns == 10_000_000 else "10 ms"
    (note,) = [note.text.replace(NBSP, " ") for note in table.notes if note.text.startswith("Not set beside")]
    assert note.startswith("Not set beside study xenomai, Table of periods and jitter: measured otherwise: interval ")
    assert note.endswith(f"against {other} (linux).")


def test_an_interval_that_the_study_does_not_have_stands_beside_nothing_of_it(mission: Mission) -> None:
    one = taken("linux", {"semaphore": 5_000, "message queue": 7_000}, "probe-itc", interval_ns=10_000_000)
    (table,) = tables(list(mechanisms(material(mission, [one]))))
    assert [column.title for column in table.columns] == ["Operation", "linux, user space"]
    assert any("interval 10 ms against 1 ms" in note.text.replace(NBSP, " ") for note in table.notes)


def test_the_studys_mechanisms_are_drawn_at_each_interval(mission: Mission) -> None:
    """The study draws 1 ms and 10 ms, of which the scan left 1 ms as figures."""
    one = taken("linux", {"semaphore": 5_000, "message queue": 7_000}, "probe-itc", interval_ns=10_000_000)
    (drawn,) = [block for block in mechanisms(material(mission, [one])) if isinstance(block, Plots)]
    assert [plot.caption.partition(" ")[0] for plot in drawn.plots] == ["semaphore", "message"]


def test_what_was_found_of_a_studys_order_stands_in_short(mission: Mission) -> None:
    figures = {"semaphore": 7_000, "message queue": 6_000, "message pipe": 30_000}
    in_kernel = taken("linux", {**figures, "semaphore": 5_000}, "probe-kernel-itc")
    blocks = list(repeated(material(mission, [taken("linux", figures, "probe-itc"), in_kernel])))
    (table,) = tables(blocks)
    assert "Study xenomai repeated" in table.caption
    cells = {(row[0].text, row[1].text): (row[2].text, row[2].detail, row[3].text, row[3].detail) for row in table.rows}
    user, black = "linux, user space, virtual-arm board, 1 CPU", "Xenomai, BeagleBone Black, user space"
    assert cells[user, black] == ("3", "avg", "0.50", "of 3 durations")
    (against,) = [block.items for block in blocks if isinstance(block, Bullets) and block.title == "Not as printed"]
    assert [one.partition(":")[0] for one in against] == ["message pipe", "message queue", "message queue"]
    assert all(one.rpartition(" (")[0].endswith("measured equal") for one in against)  # then why it may be chance
    told = [block.text for block in blocks if isinstance(block, Paragraph)]
    assert told[1] == (
        "Which of two systems has the larger figure: 1 of 4 comparisons of two systems agree, none of them with "
        "intervals that lie apart."
    )


def test_nothing_is_said_of_studies_that_are_not_repeated(mission: Mission) -> None:
    assert list(repeated(material(mission, [taken("linux", {"latency": 5_000}, "probe-wakeup")]))) == []


def test_no_table_where_no_published_figure_fits(mission: Mission) -> None:
    assert list(mechanisms(material(mission, [taken("linux", {"latency": 5_000}, "probe-wakeup")]))) == []


def test_a_loops_paths_and_misses_stand_in_short(mission: Mission) -> None:
    series = {f"loop by {path}: {name}": ns for path, start in (("sleep", 9_000), ("soft timer", 29_000))
              for name, ns in (("end to end", 1_500_000 + start), ("sensor start", start))}  # fmt: skip
    missed = {f"loop by {path}: deadline misses": Scalar(value=2, unit="1") for path in ("sleep", "soft timer")}
    records = [
        taken("linux", series, "probe-loop", load="hackbench", scalars=missed, absent={"loop by network": "no socket"})
    ]
    made = material(mission, records)
    (one,) = made.places()
    (table,) = paths(made, one, "hackbench")
    shown = {row[0].text: (row[2].text.replace(NBSP, " "), row[-1].text, row[-1].detail) for row in table.rows}
    assert shown == {"loop by sleep": ("9 µs", "2", "of 3"), "loop by soft timer": ("29 µs", "2", "of 3")}
    assert rows(battery(made, one, "hackbench"))["loop by network"] == ["not offered"]


def test_a_loop_beside_streamed_memory_has_a_heading_of_its_own(mission: Mission) -> None:
    """What wakes it is one path; what differs is how much of their time the other CPUs stream."""
    series = {"memory 90 %: end to end": 1_500_000, "memory 90 %: sensor start": 9_000}
    made = material(mission, [taken("linux", series, "probe-memory")])
    (one,) = made.places()
    (table,) = paths(made, one, "none")
    assert table.caption.startswith("The loop while other CPUs stream memory, probe-memory")


def test_each_cpu_has_a_column_of_its_own(mission: Mission) -> None:
    series = [Series.raw([1_000 * (cpu + 1)] * 3, name="latency", cpu=cpu) for cpu in range(4)]
    made = material(mission, [record(series, candidate="linux", load="none", board="virtual-arm", cpus=4)])
    (table,) = [one for one in tables(list(results(made))) if one.caption.startswith("Per CPU: linux, cyclictest")]
    assert [column.title for column in table.columns] == ["Statistic", "CPU 0", "CPU 1", "CPU 2", "CPU 3"]
    assert rows(table)["max"] == ["1 µs", "2 µs", "3 µs", "4 µs"]


def test_the_share_of_a_context_switch_is_shown(mission: Mission) -> None:
    figures = {"mq workload: time": 8_000, "mq workload: context switch": 2_000, "sem signal": 40}
    made = material(mission, [taken("linux", figures)])
    (one,) = made.places()
    assert rows(battery(made, one, "none"))["mq workload: context switch, its share"] == ["25 %"]


def test_the_share_of_a_context_switch_is_told_of_the_shortest_and_the_longest_too(mission: Mission) -> None:
    """As the FreeRTOS study draws it (figure 2)."""
    of = ([2_000, 2_000, 2_000], "mq workload: context switch"), ([4_000, 8_000, 20_000], "mq workload: time")
    series = [Series.raw(samples, name=name) for samples, name in of]
    made = material(mission, [record(series, candidate="linux", instrument="probe-primitives", load="none")])
    (one,) = made.places()
    row = next(row for row in battery(made, one, "none").rows if row[0].text.endswith("its share"))
    assert (row[1].text, row[1].detail) == tuple(
        text.replace(" %", f"{NBSP}%") for text in ("25 %", "50 % of the shortest to 10 % of the longest")
    )


def test_a_share_has_the_interval_of_both_its_figures() -> None:
    part = Figure(2.0, "ns", 100, 10, Interval(1.9, 2.1, "m"))
    whole = Figure(8.0, "ns", 100, 10, Interval(7.9, 8.1, "m"))
    found = share(part, whole)
    assert found is not None and found.interval is not None
    assert (found.value, found.unit) == (25.0, "%")
    assert (found.interval.low, found.interval.high) == (pytest.approx(23.7, abs=0.2), pytest.approx(26.3, abs=0.2))
    without = share(replace(part, interval=None, why_no_interval="3 runs"), whole)
    assert without is not None and (without.interval, without.why_no_interval) == (None, "3 runs")
    assert share(part, replace(whole, value=0.0)) is None


def test_agreement_in_order_needs_three_operations_that_differ() -> None:
    a, b = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 9.0}, {"a": 10.0, "b": 30.0, "c": 20.0}
    assert rank_correlation(a, b) == (pytest.approx(0.5), 3)
    assert rank_correlation(a, {"a": 1.0, "b": 2.0}) is None
    assert rank_correlation(a, dict.fromkeys("abc", 1.0)) is None
    assert median_ratio(a, b) == pytest.approx(0.1)


def charts(mission: Mission, records: Sequence[Record]) -> list[Plots]:
    return [one for one in mechanisms(material(mission, records)) if isinstance(one, Plots)]


def test_each_mechanism_that_the_study_draws_has_a_chart_of_four_statistics_by_system_and_space(
    mission: Mission,
) -> None:
    figures = {"semaphore": 5_000, "message queue": 7_000, "message pipe": 30_000, "of our own": 9_000}
    kernel = taken("linux", {"semaphore": 3_000}, "probe-kernel-itc")
    spaces, bars = charts(mission, [taken("linux", figures, "probe-itc"), kernel])
    semaphore, *others = bars.plots
    assert [semaphore.number, *(one.number for one in others)] == [2, 3, 4]
    assert [one.caption.split(" idle")[0] for one in bars.plots] == ["semaphore", "message queue", "message pipe"]
    said = semaphore.alt.replace(NBSP, " ")
    for told in ("min linux, user space: 4.999 µs", "max linux, kernel space: 3.001 µs", "avg linux, user space: 5 µs"):
        assert told in said
    assert "standard deviation of n = 3 samples of each system" in said
    assert {"semaphore (µs) ◇", "min", "avg", "max", "std"} <= set(texts_of(semaphore.svg))
    assert semaphore.svg.count("<pattern ") == 1  # the second system's bars, told apart on paper without colours
    assert any(note.text.startswith("No interval, min") for note in bars.notes)
    (diagram,) = spaces.plots
    assert {"user space", "kernel space", "rtqual-probe.ko", "linux"} <= {
        line.strip() for line in texts_of(diagram.svg)
    }
    assert "rtqual-probe in user space and rtqual-probe.ko in kernel space" in diagram.alt


def test_the_spaces_are_not_drawn_where_all_ran_on_one_side(mission: Mission) -> None:
    (bars,) = charts(mission, [taken("linux", {"semaphore": 5_000}, "probe-itc")])
    assert len(bars.plots) == 1
    assert charts(mission, [taken("freertos", PI_2)]) == []  # that study prints no chart


def test_a_system_without_a_kernel_of_its_own_is_one_box(mission: Mission) -> None:
    records = [taken(name, {"semaphore": 5_000}, "probe-itc") for name in ("linux", "freertos")]
    spaces, _ = charts(mission, [*records, taken("linux", {"semaphore": 3_000}, "probe-kernel-itc")])
    assert "freertos: in one address space" in spaces.plots[0].alt
    assert any("one address space" in line for line in texts_of(spaces.plots[0].svg))


def texts_of(svg: str) -> list[str]:
    return [html.unescape(one) for one in re.findall(r">([^<>]*)</(?:text|tspan)>", svg)]


def test_a_system_of_which_nothing_was_sampled_has_its_single_figures_and_the_reason(mission: Mission) -> None:
    faults = {"page faults": Scalar(value=3, unit="1")}
    told = material(mission, [taken("linux", {}, absent={"tick response": "no job of it was seen"}, scalars=faults)])
    assert any(row[0].text == "page faults" for table in tables(results(told)) for row in table.rows)

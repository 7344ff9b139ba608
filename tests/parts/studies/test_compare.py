# SPDX-License-Identifier: MIT
"""A study beside a campaign that repeats it: which figures stand beside which, and what is said to agree."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from rtqual.engine.analysis.figure.comparable import unlike
from rtqual.engine.analysis.figure.model import Summary
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.engine.mission import Mission
from rtqual.parts.studies.repetition import agreement, compare
from rtqual.parts.studies.words_compare import comparison_text, comparison_values
from rtqual.protocols.record.schema import Record, Scalar, Series, SeriesKind
from support.analysis_records import one_group, record

INTERVAL = {"interval": 10_000_000}


def mission(**repeats: str) -> Mission:
    return Mission.model_validate(
        {
            "mission": {"name": "m", "title": "M", "purpose": "P", "duration": 10**9},
            "candidate": [
                {"name": name, "title": name, "package": f"linux-image-{name}", "repeats": system}
                for name, system in repeats.items()
            ],
            "scale": {"demo": {"plan": [{"instruments": ["cyclictest"], "runs": 1}]}},
        }
    )


def summaries(records: Sequence[Record]) -> list[Summary]:
    return [measure(*one).summary for one in groups(records).items()]


def latencies(candidate: str, low_ns: int, high_ns: int, **more: object) -> Record:
    """As long as the study's idle runs, so that extremes compare."""
    series = Series.counted({low_ns: 999_999, high_ns: 1}, name="latency", cpu=0)
    return record(series, candidate=candidate, load="none", parameters=INTERVAL, **more)  # type: ignore[arg-type]


def test_figures_stand_beside_those_of_the_system_that_a_candidate_repeats() -> None:
    asked = mission(rt="spacechain/linux-rt", stock="spacechain/linux")
    found = compare("spacechain", asked, summaries([latencies("rt", 6_000, 70_000), latencies("stock", 5_000, 60_000)]))
    rt, stock = found.pairs
    assert (rt.measured, rt.printed, stock.printed) == ("rt, virtual board", "linux-rt", "linux")
    idle = "cyclictest idle, 1 CPU"
    assert {what: (one.value, printed) for what, (one, printed) in rt.figures.items()} == {
        f"{idle}: min": (6_000, 8_000), f"{idle}: avg": (pytest.approx(6_000, rel=1e-4), 12_000),
        f"{idle}: max": (70_000, 35_000),
    }  # fmt: skip
    assert rt.rank is None, "least, average and largest of one series are in this order whatever was measured"
    assert rt.ratio == pytest.approx(0.75)
    # Printed: Linux+RT has the larger minimum, and the smaller average and maximum.
    assert {one.what.rpartition(" ")[2]: one.agrees for one in found.orders} == {
        "min": True,
        "avg": False,
        "max": False,
    }
    text = comparison_text(found)
    assert "1 of 3 comparisons of two systems agree, none of them with intervals that lie apart." in text
    assert "linux (stock, virtual board): printed 8 us and 7 us, measured 6 us and 5 us (" in text.replace(
        "\u00a0", " "
    )
    assert f"| {idle}: max | 35 us | 70 us | 2 |" in text.replace("\u00a0", " ")
    assert comparison_values(found)["study"] == "spacechain"
    assert comparison_values(found)["orders"][0] == {
        "what": f"{idle}: min", "systems": ["linux-rt", "linux"], "unit": "ns", "printed": [8_000, 7_000],
        "measured": [6_000, 5_000], "agrees": True, "doubt": found.orders[0].doubt,
    }  # fmt: skip


@pytest.mark.parametrize(("stock_ns", "doubt"), [(7_000, ""), (6_002, "the intervals overlap")])
def test_an_order_is_sure_where_the_intervals_lie_apart(stock_ns: int, doubt: str) -> None:
    asked = mission(rt="spacechain/linux-rt", stock="spacechain/linux")
    taken = [
        latencies(name, low_ns + run, 70_000, seed=1 + run)
        for name, low_ns in (("rt", 6_000), ("stock", stock_ns))
        for run in range(12)
    ]
    found = compare("spacechain", asked, summaries(taken))
    (average,) = [one for one in found.orders if one.what.endswith("avg")]
    assert (average.agrees, average.doubt) == (True, doubt)
    sure = "none" if doubt else "1"
    assert agreement([average]) == (
        f"1 of 1 comparison of two systems agree, {sure} of them with intervals that lie apart."
    )


def test_what_was_measured_otherwise_is_set_apart_with_the_reason() -> None:
    asked = mission(rt="spacechain/linux-rt")
    short = record(Series.raw([6_000, 70_000], name="latency"), load="none", parameters=INTERVAL)
    found = compare("spacechain", asked, summaries([short]))
    assert [what.rpartition(" ")[2] for what in found.pairs[0].figures] == ["avg"]
    assert any("runs of 2 and of 1,000,000 samples" in why for why in found.apart)
    other = record(Series.raw([6_000], name="latency"), load="none", parameters={"interval": 1_000_000})
    found = compare("spacechain", asked, summaries([other]))
    assert not found.pairs
    assert "interval 1 ms against 10 ms" in found.apart[0]


def test_an_image_stands_beside_what_was_printed_of_its_system() -> None:
    """By the probe's wake-up, since cyclictest does not run there."""
    asked = Mission.model_validate(
        {
            "mission": {"name": "m", "title": "M", "purpose": "P", "duration": 10**9},
            "candidate": [
                {"name": name, "title": name, "image": f"{name}.elf", "repeats": f"spacechain/{system}"}
                for name, system in (("own", "spacechain-os"), ("posix", "spacechain-os"), ("rt", "linux-rt"))
            ],
            "scale": {"demo": {"plan": [{"instruments": ["probe-wakeup"], "runs": 1}]}},
        }
    )

    def wakeups(candidate: str, ns: int, *problems: str) -> Record:
        return record(
            Series.counted({ns: 1_000_000}, name="latency", cpu=0), candidate=candidate, load="none",
            instrument="probe-wakeup", parameters=INTERVAL, board="virtual-arm", problems=list(problems),
        )  # fmt: skip

    taken = [wakeups("own", 6_000), wakeups("posix", 600, "polls: it spins"), wakeups("rt", 8_000)]
    found = compare("spacechain", asked, summaries(taken))
    figures = {pair.measured: {k: one.value for k, (one, _) in pair.figures.items()} for pair in found.pairs}
    assert figures == {
        f"{name}, virtual-arm board": {f"cyclictest idle, 1 CPU: {one}": ns for one in ("min", "avg", "max")}
        for name, ns in (("own", 6_000), ("posix", 600), ("rt", 8_000))
    }
    assert {order.pairs[0].measured for order in found.orders} == {"own, virtual-arm board"}
    said = comparison_text(found)
    assert "- own: its figures are of probe-wakeup" in said and "- posix: polls: its figures are how soon" in said
    lacking = [why for why in found.apart if why.startswith("own: ")]
    assert [why.partition(": printed, not measured: ")[0] for why in lacking] == [
        "own: cyclictest under hackbench, 1 CPU",
        "own: cyclictest idle, 4 CPUs",
        "own: cyclictest under hackbench, 4 CPUs",
    ]  # fmt: skip
    assert lacking[0].endswith("beside threads of its own is another thing")
    assert lacking[1].endswith("an image runs on one CPU")
    other = compare("spacechain", asked, summaries([wakeups("own", 6_000, "samples were lost")]))
    assert not other.pairs and "samples were lost" in other.apart[0]


def test_only_candidates_that_repeat_the_study_are_taken() -> None:
    records = [latencies("rt", 6_000, 70_000)]
    assert not compare("spacechain", mission(rt="aarest/emlid"), summaries(records)).pairs
    assert not compare("aarest", mission(rt="spacechain/linux"), summaries(records)).pairs


def test_each_cpu_stands_beside_the_same_cpu() -> None:
    series = [Series.counted({1_000 * (cpu + 1): 100_000}, name="latency", cpu=cpu) for cpu in range(4)]
    one = record(series, load="none", cpus=4, parameters=INTERVAL)
    (pair,) = compare("spacechain", mission(rt="spacechain/linux"), summaries([one])).pairs
    figures = {what: (one.value, printed) for what, (one, printed) in pair.figures.items()}
    assert figures["cyclictest idle, 4 CPUs, CPU 0: max"] == (1_000, 108_000)
    assert figures["cyclictest idle, 4 CPUs, CPU 3: max"] == (4_000, 117_000)


def test_a_system_is_found_by_the_name_that_the_catalogue_gives_it() -> None:
    """The study's row is "Wheezy w. EMLID's kernel"."""
    series = Series.raw([2_000_000, 4_000_000], name="latency")
    one = record(series, instrument="sysbench-mutex", load="none", parameters={"threads": 64})
    (pair,) = compare("aarest", mission(rt="aarest/emlid"), summaries([one])).pairs
    assert pair.printed == "emlid"
    assert any(what.endswith("avg") for what in pair.figures)
    fewer = record(series, instrument="sysbench-mutex", load="none", parameters={"threads": 64, "locks": 50})
    found = compare("aarest", mission(rt="aarest/emlid"), summaries([fewer]))
    assert not found.pairs
    assert "measured otherwise: locks 50 against 50000" in found.apart[0]


def test_what_is_only_known_to_be_at_least_so_much_is_not_compared() -> None:
    """sysbench counts latencies beyond 100 s without their value; its least, average and largest it knows."""
    known = {"min": 193.4e9, "avg": 193.6e9, "max": 193.8e9}
    series = Series.counted(
        {}, SeriesKind.BINNED, name="latency", overflow=64, overflow_from=99 * 10**9, reported=known
    )
    one = record(series, instrument="sysbench-mutex", load="none", parameters={"threads": 64})
    found = compare("aarest", mission(rt="aarest/emlid"), summaries([one]))
    assert [what.rpartition(" ")[2] for what in found.pairs[0].figures] == ["min", "avg", "max", "max-min"]
    assert any("p95: known only as at least 193.4 s" in why for why in found.apart)
    assert any("p95-avg: known only as at least" in why for why in found.apart)


def test_operations_stand_beside_each_printed_board_of_their_space() -> None:
    def itc(instrument: str, ns: int) -> Record:
        names = ("semaphore", "message queue", "message pipe")
        series = [Series.raw([ns * (n + 1)] * 3, name=name) for n, name in enumerate(names)]
        return record(series, instrument=instrument, load="none", parameters={"interval": 1_000_000})

    found = compare(
        "xenomai", mission(rt="aarest/emlid"), summaries([itc("probe-itc", 5_000), itc("probe-kernel-itc", 4_000)])
    )
    user = next(one for one in found.pairs if one.printed == "Xenomai, BeagleBone Black, user space")
    assert user.measured == "rt, user space, virtual board, 1 CPU"
    assert user.rank and (round(user.rank[0], 6), user.rank[1]) == (1, 3)
    assert user.figures["semaphore: avg"][1] == pytest.approx(6_184)
    # Printed: kernel space is quicker, but for the pipe.
    black = [one for one in found.orders if "BeagleBone" in one.pairs[0].printed]
    assert {one.what: one.agrees for one in black} == {
        "semaphore: avg": True, "message queue: avg": True, "message pipe: avg": False,
    }  # fmt: skip


def test_operations_of_other_boards_and_cpus_are_not_put_in_order() -> None:
    def itc(instrument: str, **more: Any) -> Record:
        series = [Series.raw([5_000], name=name) for name in ("semaphore", "message queue")]
        return record(series, instrument=instrument, load="none", parameters={"interval": 1_000_000}, **more)

    user = itc("probe-itc")
    for other in ({"board": "pi"}, {"cpus": 4}):
        found = compare("xenomai", mission(rt="aarest/emlid"), summaries([user, itc("probe-kernel-itc", **other)]))
        assert len(found.pairs) == 4
        assert not found.orders


def test_each_number_of_cpus_keeps_its_figures_where_the_study_states_none() -> None:
    runs = [
        record(Series.raw([ns], name="latency"), instrument="sysbench-mutex", load="none", cpus=cpus,
               parameters={"threads": 64})
        for cpus, ns in ((1, 2_000), (4, 1_000))
    ]  # fmt: skip
    (pair,) = compare("aarest", mission(rt="aarest/emlid"), summaries(runs)).pairs
    averages = {what: one.value for what, (one, _) in pair.figures.items() if what.endswith("avg")}
    assert averages == {"sysbench-mutex idle, 1 CPU: avg": 2_000, "sysbench-mutex idle, 4 CPUs: avg": 1_000}


def test_a_figure_that_the_audit_found_misprinted_is_set_apart() -> None:
    """Of EMLID's kernel the study printed the largest less the least that belongs to another row."""
    series = Series.raw([2_000_000, 4_000_000], name="latency")
    one = record(series, instrument="sysbench-threads", load="none", parameters={"locks": 1})
    found = compare("aarest", mission(rt="aarest/emlid"), summaries([one]))
    assert "sysbench-threads idle, 1 CPU: max-min" not in found.pairs[0].figures
    assert any("max-min: misprinted: 5.26 belongs to the row" in why for why in found.apart)


def test_what_gives_no_figure_is_told() -> None:
    asked = mission(rt="spacechain/linux-rt")

    def apart(series: Series) -> str:
        found = compare("spacechain", asked, summaries([record(series, load="none", parameters=INTERVAL)]))
        assert not found.pairs
        return found.apart[0]

    nothing = {"n": 1e6, "min": 6e3, "avg": float("nan"), "max": 9e3}
    assert "latency avg is nan, no figure" in apart(
        Series.counted({}, SeriesKind.SUMMARY, name="latency", reported=nothing)
    )
    strange = compare("spacechain", asked, summaries([latencies("rt", 6_000, 70_000, problems=["a \x1b[31mred one"])]))
    assert "a  [31mred one" in comparison_text(strange)
    assert "no samples of latency" in apart(Series.raw([], name="latency"))
    assert "measured in B, printed in ns" in apart(Series.raw([6], name="latency", unit="B"))


def test_figures_under_loads_of_other_shapes_are_not_compared() -> None:
    series = Series.raw([1_000, 2_000], name="latency")
    usual, pipes = (one_group([record(series, parameters=one)]) for one in ({}, {"load: pipes": True}))
    assert unlike(usual, pipes) == "measured under another load: pipes differs"
    assert unlike(pipes, pipes) == ""


def test_a_studys_least_and_largest_stand_beside_runs_of_its_length() -> None:
    def operation(samples: int) -> Record:
        series = [Series.counted({100: samples - 1, 300: 1}, name="mq send")]
        return record(series, candidate="rt", instrument="probe-primitives", load="none", parameters={})

    def printed(samples: int) -> tuple[dict[str, tuple[float, float]], tuple[str, ...]]:
        found = compare("freertos", mission(rt="aarest/emlid"), summaries([operation(samples)]))
        return {k: (one.value, ns) for pair in found.pairs for k, (one, ns) in pair.figures.items()}, found.apart

    figures, apart = printed(500)
    assert figures == {"mq send: p50": (100, 182), "mq send: min": (100, 168), "mq send: max": (300, 1719)}
    assert not apart
    figures, apart = printed(100)
    assert list(figures) == ["mq send: p50"]
    assert [why.partition(", beside")[2] for why in apart] == [
        f" FreeRTOS, Raspberry Pi 2, {end}: runs of 100 and of 500 samples: extremes grow with every sample"
        for end in ("min", "max")
    ]


def test_what_a_kernel_takes_stands_beside_the_printed_sizes() -> None:
    """Figure 13 of the study: 30.7 MB installed, 52,256 kB of RAM."""
    sizes = {"installed_size": Scalar(value=307_000_000, unit="B"), "ram_used": Scalar(value=6_532_000, unit="B")}
    taken = [
        record([], candidate=name, instrument="footprint", load="none", scalars=sizes, parameters={})
        for name in ("rt", "stock")
    ]
    found = compare("aarest", mission(rt="aarest/emlid", stock="aarest/raspbian"), summaries(taken))
    emlid, raspbian = ({k: (one.value, printed) for k, (one, printed) in pair.figures.items()} for pair in found.pairs)
    assert emlid == {
        "footprint: installed_size": (307_000_000, 30_700_000),
        "footprint: ram_used": (6_532_000, 52_256_000),
    }
    assert raspbian == {"footprint: installed_size": (307_000_000, 18_900_000)}
    nothing = [
        replace(one, figures={"ram_used": replace(one.figures["ram_used"], value=-1.0)}) for one in summaries(taken)
    ]
    assert not compare("aarest", mission(rt="aarest/emlid"), nothing).pairs
    assert "is no size" in compare("aarest", mission(rt="aarest/emlid"), nothing).apart[0]
    assert "| footprint: installed_size | 29.28 MiB | 292.8 MiB | 10 |" in comparison_text(found).replace("\u00a0", " ")

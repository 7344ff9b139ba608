# SPDX-License-Identifier: MIT
"""Attempts to have a verdict say more than its records do; docs/verification/attacks.md lists them."""

import json
import math
import re
from collections.abc import Mapping, Sequence

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.analysis.difference.compare import compare_pair
from rtqual.engine.analysis.evidence import analyse
from rtqual.engine.analysis.figure.comparable import unlike
from rtqual.engine.analysis.figure.summary import groups, measure
from rtqual.engine.analysis.model import Evidence
from rtqual.engine.analysis.regression.course import Course
from rtqual.engine.analysis.regression.regressions import Side, regressions
from rtqual.engine.analysis.verdict.model import Gate, Ground, Outcome
from rtqual.engine.mission import Mission
from rtqual.face.terminal.verdict import as_dict
from rtqual.protocols.record.schema import Record, Scalar, Series, Timing
from rtqual.reports.machine.bencher import to_bencher
from rtqual.reports.machine.gate_sections import headline, outcomes
from rtqual.reports.machine.junit import to_junit
from rtqual.reports.machine.prometheus import to_prometheus
from rtqual.reports.material import gather
from rtqual.reports.view import build
from rtqual.stages.selection import Selection
from support.analysis_records import WAKE_UP, mission, record, wakeups
from support.gate_records import printed

BOOT = {"name": "boot", "instrument": "cyclictest", "load": "hackbench", "scalar": "boot", "at_most": "1 s"}
RUNS = range(10)


def here(**more: object) -> Mission:
    return mission(["this-machine"], accept_virtual=False, **more)  # type: ignore[arg-type]


def real(samples: Sequence[Record]) -> list[Record]:
    """Taken in real time on this machine."""
    told = {"timing": Timing.REAL}
    moved = [one.manifest.inputs.model_copy(update={"candidate": "this-machine", "board": "local"}) for one in samples]
    return [
        Record(one.manifest.model_copy(update={**told, "inputs": inputs}), one.series)
        for one, inputs in zip(samples, moved, strict=True)
    ]


def scalars(values: Sequence[tuple[float, str]], **more: object) -> list[Record]:
    return real(
        [
            record(seed=seed, scalars={"boot": Scalar(value=value, unit=unit)}, **more)  # type: ignore[arg-type]
            for seed, (value, unit) in enumerate(values)
        ]
    )


def judged(asked: Mission, records: Sequence[Record], configs: Mapping[str, str | None] | None = None) -> Evidence:
    """And every output for machines can be written."""
    found = analyse(asked, "demo", records, configs or {})
    to_junit(asked, found), to_prometheus(asked, found), to_bencher(asked, found)
    json.dumps(as_dict(Selection(found, len(records), {}, ())), allow_nan=False)
    return found


def gate(found: Evidence, board: str = "local") -> Gate:
    (verdict,) = [one for one in found.verdicts if one.board == board]
    return verdict.standings[0].gates[0]


@pytest.mark.parametrize("first", [Timing.REAL, Timing.INSTRUCTIONS])
def test_half_of_a_groups_runs_in_real_time_clear_nothing_to_fly(first: Timing) -> None:
    other = Timing.INSTRUCTIONS if first == Timing.REAL else Timing.REAL
    runs = wakeups("rt", [20_000] * 5, timing=first)
    runs += [record(one.series, seed=50 + one.inputs.seed, timing=other) for one in runs]
    found = judged(mission(["rt"], requirements=[WAKE_UP], accept_virtual=False), runs)
    assert found.answer is not None and found.answer.fly is None
    assert gate(found, "virtual").outcome == Outcome.UNDECIDED
    assert "its records were taken by other clocks" in gate(found, "virtual").reason


def test_what_the_host_timed_is_no_counted_instructions_that_a_mission_could_accept() -> None:
    runs = [*wakeups("rt", [20_000] * 10, timing=Timing.HOST_TIMED), *wakeups("stock", [900_000] * 10)]
    found = judged(mission(requirements=[WAKE_UP]), runs)
    (verdict,) = found.verdicts
    assert (verdict.fly, verdict.first) == (None, "rt")
    assert verdict.headline.startswith(
        "rt ranks first on the emulator: it meets the one requirement there; stock fails "
    )
    assert (
        verdict.standings[0]
        .gates[0]
        .reason.endswith("; met on the emulator, timed by the host: no flight latency, and no counted instructions")
    )
    assert verdict.standings[1].gates[0].outcome == Outcome.NOT_MET  # counted instructions, as the mission accepts them


def test_a_scalar_in_two_units_is_not_averaged() -> None:
    found = judged(here(requirements=[BOOT]), scalars([(5e8, "ns")] * 5 + [(3.0, "s")] * 5))
    assert (gate(found).outcome, gate(found).reason) == (
        Outcome.UNDECIDED,
        "refused: its records give boot in ns and s",
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.7e308])
@pytest.mark.parametrize("limit", [{"at_most": "1 s"}, {"at_least": "1 s"}])
def test_what_is_no_number_meets_and_misses_nothing(value: float, limit: dict[str, str]) -> None:
    asked = {name: was for name, was in BOOT.items() if name != "at_most"} | limit
    for values in ([value] * 10, [*[5e8] * 9, value]):
        found = judged(here(requirements=[asked]), scalars([(one, "ns") for one in values]))
        assert gate(found).outcome == Outcome.UNDECIDED
        assert f"boot is {value}, no figure" in gate(found).reason
        assert found.answer is not None and "nan" not in found.answer.headline


def test_a_bare_number_is_no_limit_for_a_duration() -> None:
    found = judged(here(requirements=[{**BOOT, "at_most": 5}]), scalars([(4.0, "ns")] * 10))
    assert (gate(found).outcome, gate(found).reason) == (
        Outcome.UNDECIDED,
        "the limit is a number without a unit, boot in ns",
    )


def test_nobody_flies_on_records_that_are_refused_though_nothing_is_required() -> None:
    found = judged(here(), real(wakeups("rt", [20_000] * 10, problems=["samples were lost"])))
    assert found.answer is not None
    assert found.answer.fly is None
    why = "nothing that was measured can be used: samples were lost (10 of 10 runs)"
    assert found.answer.headline == f"No verdict: this-machine is refused: {why}."


@pytest.mark.parametrize("statistic", ["max", "p99"])
def test_a_limit_that_is_broken_on_other_cpus_is_said(statistic: str) -> None:
    late = [record(Series.raw([150_000] * 1000, name="latency"), seed=seed, cpus=4) for seed in range(9)]
    found = judged(
        here(requirements=[{**WAKE_UP, "statistic": statistic}]), real([*wakeups("rt", [20_000] * 10), *late])
    )
    told = [text for text in found.verdicts[0].caveats if text.startswith("On 4 CPUs this-machine breaks")]
    assert len(told) == 1 and told[0].endswith("the verdict rests on 1 CPU.")
    slow = scalars([(9e9, "ns")] * 9, cpus=4)
    found = judged(here(requirements=[BOOT]), [*scalars([(5e8, "ns")] * 10), *slow])
    assert "On 4 CPUs this-machine breaks 'boot' (9 s); the verdict rests on 1 CPU." in found.verdicts[0].caveats


def test_real_time_and_counted_instructions_are_not_compared_under_one_boards_name() -> None:
    """As `rtqual import --board virtual` can file them."""
    emulated, imported = wakeups("a", [20_000] * 10), wakeups("b", [90_000] * 10, timing=Timing.REAL)
    (one,), (other,) = ([measure(group, of) for group, of in groups(runs).items()] for runs in (emulated, imported))
    for found in compare_pair(one, other):
        assert found.why.startswith("measured by other clocks"), found.statement
        assert found.superiority is None and found.emulated
    with pytest.raises(BadInput, match="measured by other clocks, real time and the emulator's"):
        regressions(Side("BASE", emulated), Side("NOW", wakeups("a", [20_000] * 10, timing=Timing.REAL)))


def _ticks(candidate: str, late_ns: int, missed: int, **more: object) -> list[Record]:
    """Jobs of a program's task, as `rtqual select` records them."""
    return [
        record(
            Series.raw([late_ns + seed + n for n in range(100)], name="tick response"),
            candidate=candidate, instrument="program-own", load="none", seed=seed,
            scalars={"tick missed": Scalar(value=missed, unit="1")}, **more,  # type: ignore[arg-type]
        )
        for seed in RUNS
    ]  # fmt: skip


def test_jobs_by_the_tracer_are_never_ranked_beside_jobs_from_outside() -> None:
    """The tracer makes jobs later, on a board in real time; a plugin sees those of the emulator for nothing."""
    missed = {"name": "none late", "instrument": "program-own", "scalar": "tick missed", "at_most": 0}
    asked = mission(["rt", "this-machine"], requirements=[missed], accept_virtual=False)
    outside, traced = _ticks("rt", 20_000, 0), _ticks("this-machine", 90_000, 3, board="local", timing=Timing.REAL)
    found = judged(asked, [*outside, *traced])
    assert [[one.candidate for one in verdict.standings] for verdict in found.verdicts] == [["rt"], ["this-machine"]]
    assert not [pair for pair in found.comparisons if {pair.a.candidate, pair.b.candidate} == {"rt", "this-machine"}]
    # Nor under one board's name, whatever of them is compared: responses, or how many were missed.
    (one,), (other,) = (
        [measure(group, of) for group, of in groups(runs).items()]
        for runs in (outside, _ticks("other", 90_000, 3, timing=Timing.REAL))
    )
    pairs = list(compare_pair(one, other))
    assert pairs and all(pair.superiority is None for pair in pairs)
    assert all(pair.why.startswith("measured by other clocks") for pair in pairs)
    assert unlike(one.summary, other.summary, "tick missed").startswith("measured by other clocks")


def test_the_gate_speaks_of_the_emulator_in_the_emulators_words() -> None:
    asked = mission(["rt"], requirements=[WAKE_UP], accept_virtual=False)
    before, after = wakeups("rt", [20_000] * 10), wakeups("rt", [900_000] * 10)
    sides = [Side(name, runs, asked, judged(asked, runs)) for name, runs in (("BASE", before), ("NOW", after))]
    found = regressions(*sides)
    (answer,) = found.answers
    assert (answer.course, outcomes(answer)) == (Course.WORSE, "met on the emulator to not met on the emulator")
    assert "1 requirement not kept any more" in headline(found)
    assert not re.search(r"\bmet\b(?! on the\s+emulator)", printed(found))


def test_a_limit_that_was_met_in_real_time_is_not_the_same_where_only_the_emulator_keeps_it() -> None:
    runs = wakeups("rt", [20_000] * 10)
    accepting, not_ = (mission(["rt"], requirements=[WAKE_UP], accept_virtual=told) for told in (True, False))
    found = regressions(
        Side("BASE", runs, accepting, judged(accepting, runs)), Side("NOW", runs, not_, judged(not_, runs))
    )
    (answer,) = found.answers
    assert outcomes(answer) == "met to met on the emulator"
    assert answer.course == Course.CHANGED


def test_rounding_hides_on_which_side_of_a_limit_an_interval_ends() -> None:
    """p95 is 100.004 us: '[99.78 us, 100 us]', 'would meet it with a limit of 100 us or more (now 100 us)'."""
    spread = [98_000 + 20 * n for n in range(90)] + [100_004] * 10
    runs = [record(Series.raw([one + seed % 2 for one in spread], name="latency"), seed=seed) for seed in RUNS]
    asked = here(requirements=[{**WAKE_UP, "statistic": "p95"}])
    found = judged(asked, real(runs))
    reason = gate(found).reason
    assert reason.startswith("p95 100.004 us [99.78 us, 100.1 us] of "), reason
    (told,) = [text for text in found.verdicts[0].would_change if "with a limit of" in text]
    assert "a limit of 100.1 us or more (now 100 us)" in told
    page = build(gather(asked, found, [one.manifest for one in real(runs)], {})).decision
    assert page
    assert "99.78 to 100.1" in str(page.blocks)


@pytest.mark.parametrize("asked", [["rt", "stock"], ["rt"]])
def test_where_all_are_out_by_needs_no_output_names_a_first(asked: list[str]) -> None:
    one = mission(asked, needs=["realtime"], requirements=[WAKE_UP], accept_virtual=False)
    runs = [run for name in asked for run in wakeups(name, [20_000] * 10)]
    found = judged(one, runs, dict.fromkeys(asked, "# CONFIG_PREEMPT_RT is not set\nCONFIG_HIGH_RES_TIMERS=y\n"))
    (verdict,) = found.verdicts
    assert (verdict.first, verdict.fly) == (None, None)
    assert verdict.headline.startswith("No candidate may fly: rt fails 'need realtime'")
    lines = [
        line for line in to_prometheus(one, found).splitlines() if line.startswith(("rtqual_first{", "rtqual_fly{"))
    ]
    assert lines and all(line.endswith(" 0.0") for line in lines)
    assert 'failures="0"' not in to_junit(one, found).splitlines()[1]


def test_the_emulators_records_cannot_claim_real_time() -> None:
    claimed = [
        Record(one.manifest.model_copy(update={"timing": Timing.REAL}), one.series)
        for one in wakeups("rt", [9_000 + 10 * run for run in RUNS])
    ]
    asked = mission(["rt"], accept_virtual=False, requirements=[WAKE_UP])
    (verdict,) = judged(asked, claimed).verdicts
    assert verdict.board == "virtual"
    assert (verdict.fly, verdict.ground) == (None, Ground.EMULATED)
    assert verdict.standings[0].gates[0].outcome == Outcome.INDICATIVE
    assert "To fly it, measure on the board." in verdict.headline


@pytest.mark.parametrize(
    ("told", "problems"),
    [
        (
            [("pi-a", "S1"), ("pi-a", "S2\n"), ("pi-a", "S1"), ("pi-a", "unknown")],
            ("its records of board pi-a are of machines with serial numbers S1 and S2",),
        ),
        ([("pi-a", "S1"), ("pi-b", "S2"), ("pi-a", "unknown")], ()),
    ],
)
def test_two_machines_are_not_one_board(told: list[tuple[str, str]], problems: tuple[str, ...]) -> None:
    facts = [{"board": board, "serial": serial} for board, serial in told]
    scalar = {"boot": Scalar(value=1.0, unit="ns")}
    grouped = groups(record(seed=seed, scalars=scalar, facts=some) for seed, some in enumerate(facts))
    (found,) = (measure(group, records) for group, records in grouped.items())
    assert found.summary.problems == problems

# SPDX-License-Identifier: MIT
"""cyclictest with every sample in its order: what is printed is set against what is counted in the same run."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.boards.local import LocalBoard, processors
from rtqual.engine.instruments.cyclictest.json_output import MeasuredThread
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.engine.instruments.cyclictest.verbose import in_order, samples
from rtqual.engine.mission import load_mission
from rtqual.protocols.record.schema import Measurement, Series, SeriesKind
from support.instrument_outputs import DATA, FIFO_80, MAIN, NOTHING

# As tests/data/cyclictest-ordered.txt was captured, with the JSON beside it; host name and release are replaced.
ASKED = {"samples": "ordered", "interval": 200_000, "cycles": 600, "histogram_limit": 400_000}
TEXT = (DATA / "cyclictest-ordered.txt").read_text()


def read(text: str = TEXT, **changes: Any) -> Measurement:
    """What is read of the captured run, with other lines or another first thread."""
    result = json.loads((DATA / "cyclictest-ordered.json").read_text())
    result["thread"]["0"].update(changes)
    outcome = replace(
        NOTHING,
        stdout=text,
        files={"cyclictest.json": json.dumps(result)},
        threads=(MAIN, FIFO_80, {**FIFO_80, "tid": 109}),
    )
    return CYCLICTEST.read(CyclictestParameters.model_validate(ASKED), outcome, cpus=2)


def ordered(one: Series) -> list[int]:
    chunks = one.ordered()
    assert chunks is not None
    return [value for chunk in chunks for value in chunk.tolist()]


def lines_of(thread: int) -> list[int]:
    return [int(line.split(":")[2]) for line in TEXT.splitlines() if line.startswith(f"       {thread}:")]


def test_every_sample_stands_in_its_order() -> None:
    measurement = read()
    assert measurement.problems == ()
    for cpu, one in enumerate(measurement.series):
        assert (one.info.kind, one.info.cpu, one.total, one.info.overflow) == (SeriesKind.RAW, cpu, 600, 0)
        assert ordered(one) == lines_of(cpu)
    assert max(ordered(measurement.series[0])) == 525_566  # beyond the histogram's end, where it only counts


def test_counted_samples_stay_the_default() -> None:
    plain = CYCLICTEST.job(CyclictestParameters(), cpus=1, seed=1).measure.argv
    every = CYCLICTEST.job(CyclictestParameters.model_validate(ASKED), cpus=1, seed=1).measure.argv
    assert ("-q" in plain, "-v" in plain) == (True, False)
    assert ("-q" in every, "-v" in every) == (False, True)


def test_samples_overwritten_in_the_buffer_are_a_problem() -> None:
    """As when the main thread is held up: late ones are printed in the place of those they overwrote."""
    lines = TEXT.splitlines()
    at = [number for number, line in enumerate(lines) if line.startswith("       0:")]
    for number in range(100, 150):
        lines[at[number]] = f"{lines[at[number]].rpartition(':')[0]}:{int(lines[at[550]].rpartition(':')[2]):8d}"
    (problem,) = read("\n".join(lines) + "\n").problems
    assert problem == (
        "cyclictest on CPU 0: 50 of 600 samples were printed but not counted: the buffer overran, the order is lost"
    )


def without_last(number: int) -> str:
    """Without the last lines of the first thread."""
    lines = TEXT.splitlines(keepends=True)
    mine = [line for line in lines if line.startswith("       0:")][-number:]
    return "".join(line for line in lines if line not in mine)


def test_the_last_samples_that_were_not_printed_stand_at_the_end() -> None:
    measurement = read(without_last(5))
    assert measurement.problems == ()
    found = ordered(measurement.series[0])
    assert found[:595] == lines_of(0)[:595]
    assert found[595:] == sorted(lines_of(0)[595:])


def test_many_unprinted_samples_are_a_problem() -> None:
    (problem,) = read(without_last(260)).problems  # 250 take 50 ms
    assert "260 of 600 samples were counted but not printed" in problem


def test_a_largest_sample_that_was_not_printed_is_kept() -> None:
    lines = [line for line in TEXT.splitlines(keepends=True) if ":  525566" not in line]
    measurement = read("".join(lines))
    assert (measurement.problems, ordered(measurement.series[0])[-1]) == ((), 525_566)


def test_late_samples_that_were_not_printed_are_a_problem() -> None:
    problems = read(cycles=602, max=900_000).problems
    assert "cyclictest on CPU 0: 2 samples beyond 400000 ns were counted but not printed" in problems


def test_no_lines_at_all_are_a_problem() -> None:
    assert any("counted but not printed" in problem for problem in read("").problems)


THREAD = MeasuredThread(histogram={5: 3, 9: 1}, cycles=5, min=5, max=70, avg=10, cpu=0)


@pytest.mark.parametrize(
    ("printed", "expected", "problems"),
    [
        ([5, 9, 5, 70, 5], [5, 9, 5, 70, 5], 0),
        ([5, 9, 5, 5], [5, 9, 5, 5, 70], 0),  # the largest is known though not printed
        ([5, 9, 5, 70, 70], [5, 9, 5, 70, 70], 1),  # printed twice
        ([5, 9, 5, 70, 6], [5, 9, 5, 70, 6], 1),  # not counted
        ([5, 9], [5, 9, 5, 5, 70], 1),  # three are missing, and their order with them
    ],
)
def test_order_against_histogram(printed: list[int], expected: list[int], problems: int) -> None:
    found, said = in_order(np.array(printed), THREAD, 50, 1)
    assert (found.tolist(), len(said)) == (expected, problems)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="0123456789: \n\tab-", max_size=400))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        measurement = read(text)
    except RunFailed:
        return
    assert all(one.total >= 594 for one in measurement.series) or measurement.problems
    assert samples(text.encode()).shape[1] == 3


def test_too_many_samples_for_memory_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 5,000,000 cycles"):
        CyclictestParameters(samples="ordered", cycles=5_000_001)  # type: ignore[arg-type]


def test_the_real_program_here() -> None:
    cpus = len(processors())
    parameters = CyclictestParameters.model_validate({"samples": "ordered", "interval": 500_000, "cycles": 400})
    outcome = LocalBoard().run(CYCLICTEST.job(parameters, cpus=cpus, seed=1), seed=1, timeout_s=60)
    measurement = CYCLICTEST.read(parameters, outcome, cpus=cpus)
    assert not any("order is lost" in problem for problem in measurement.problems)
    assert {one.info.kind for one in measurement.series} == {SeriesKind.RAW}
    # A machine that was held up for longer than the histogram is wide says so.
    held_up = any("counted but not printed" in problem for problem in measurement.problems)
    assert held_up or max(one.total for one in measurement.series) == 400


# --- parameters of a plan ---------------------------------------------------------------------------------------------

MISSION = """\
[mission]
name = "tiny"
title = "Tiny"
purpose = "Parameters of a plan."
duration = "1 min"

[[candidate]]
name = "here"
title = "here"
this-machine = true

[parameters.cyclictest]
interval = "1 ms"
cycles = 100

[[scale.demo.plan]]
instruments = ["cyclictest"]
runs = 1

[[scale.demo.plan]]
instruments = ["cyclictest"]
runs = 2
parameters.cyclictest = {}
"""


def plans(folder: Path, parameters: str) -> Any:
    path = folder / "mission.toml"
    path.write_text(MISSION.replace("= {}", f"= {parameters}"))
    return load_mission(path)


def test_a_plan_has_parameters_of_its_own(tmp_path: Path) -> None:
    found = plans(tmp_path, '{ samples = "ordered", cycles = 200 }')
    first, second = found.scale("demo").plan
    assert found.parameters_for("demo", "cyclictest", first) == {"interval": "1 ms", "cycles": 100}
    assert found.parameters_for("demo", "cyclictest", second) == {
        "interval": "1 ms", "cycles": 200, "samples": "ordered",
    }  # fmt: skip


def test_a_wrong_parameter_of_a_plan_is_told_where_it_stands(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=r"mission.toml:23: scale.demo.plan\[1\].parameters.cyclictest.sampels: unknown key; did you"
    ):
        plans(tmp_path, '{ sampels = "ordered" }')
    with pytest.raises(BadInput, match=r"mission.toml:23: .*at most 5,000,000 cycles"):
        plans(tmp_path, '{ samples = "ordered", cycles = 6_000_000 }')

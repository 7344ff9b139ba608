# SPDX-License-Identifier: MIT
"""The probe on Apache NuttX, whose image is built elsewhere (docs/nuttx.md); without it, what needs no NuttX."""

import json
import os
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

from rtqual.board.rtos import RtosBoard
from rtqual.board.system import Rtos
from rtqual.campaign import folder as kept
from rtqual.candidate import linked
from rtqual.instrument.probe.output import Output, parse
from support.command import Run
from support.freertos import MISSION, medians_ns, outcome_of, published_ns
from support.probe_sources import PROBE

IMAGE = os.environ.get("NUTTX_IMAGE")
needs_image = pytest.mark.skipif(
    not IMAGE,
    reason="NUTTX IS NOT TESTED: no NuttX image: set NUTTX_IMAGE to the file that NuttX was linked into with rtqual's "
    "probe (docs/nuttx.md)",
)


@pytest.fixture(scope="module")
def nuttx() -> Rtos:
    return linked.prepare("nuttx", Path(str(IMAGE)))


@cache
def printed(*words: str) -> str:
    return outcome_of(RtosBoard(linked.prepare("nuttx", Path(str(IMAGE)))), *words).stdout


def measured(*words: str) -> Output:
    return parse(printed(*words), "it")


@pytest.mark.guest
@needs_image
def test_equal_words_give_equal_bytes(nuttx: Rtos) -> None:
    words = ("primitives", "iterations=100", "seed=1009")
    again = outcome_of(RtosBoard(nuttx), *words)
    assert again.stdout == printed(*words)
    assert (again.exit_code, again.facts["kernel"]) == (0, nuttx.system)
    assert f'system "{nuttx.system}"' in again.stdout


@pytest.mark.guest
@needs_image
def test_every_primitive_is_measured_in_the_order_of_the_published_table() -> None:
    output, published = measured("primitives", "iterations=100", "seed=1009"), published_ns()
    assert {one.status.value for one in output.benchmarks} == {"ok"}
    here = medians_ns(output)
    assert set(published) <= set(here)
    assert min(here[name] for name in published) > 0
    correlation = spearmanr([here[name] for name in published], [published[name] for name in published]).statistic
    assert correlation >= 0.6


@pytest.mark.guest
@needs_image
def test_a_mutex_lends_its_waiters_priority_and_a_semaphore_does_not() -> None:
    output = measured("primitives", "iterations=100", "seed=1009")
    section = {
        one.name: one.facts["priority in the section"][0] for one in output.benchmarks if "inversion" in one.name
    }
    assert section == {"inversion with PI": 3, "inversion without PI": 1}


@pytest.mark.guest
@needs_image
def test_activation_by_each_path() -> None:
    output = measured("loop", "iterations=20")
    status = {one.name: one.status.value for one in output.benchmarks}
    assert status.pop("loop by network") == "not-offered"
    assert set(status.values()) == {"ok"}
    start_ns = {
        one.name.removeprefix("loop by "): float(np.median(series.values))
        for one in output.benchmarks
        for series in one.series
        if series.name == "sensor start"
    }
    # The interrupt wakes the sleeper itself; other paths go through the work queue's thread or one of ours.
    assert max(start_ns["sleep"], start_ns["hard timer"]) < 3_000
    assert max(start_ns["sleep"], start_ns["hard timer"]) < min(start_ns["soft timer"], start_ns["futex"])


@pytest.mark.guest
@needs_image
def test_the_other_families_are_measured_whole() -> None:
    for family, series in (("wakeup", 1), ("periodic", 2), ("itc", 3)):
        output = measured(family, "iterations=50")
        assert {one.status.value for one in output.benchmarks} == {"ok"}
        found = [(len(one.values), one.overflows, one.lost) for each in output.benchmarks for one in each.series]
        assert found == [(50, 0, 0)] * series


@pytest.mark.guest
@needs_image
@pytest.mark.parametrize("words", [("wakup",), ("wakeup", "iterations=0"), ("wakeup", "speed=9"), ("wakeup", "cpu=1")])
def test_words_that_are_not_understood(nuttx: Rtos, words: tuple[str, ...]) -> None:
    outcome = outcome_of(RtosBoard(nuttx), *words)
    assert (outcome.exit_code, outcome.files) == (3, {})
    assert outcome.stderr.startswith("rtqual-probe: ")
    assert words[-1] in outcome.stderr


@pytest.mark.guest
@needs_image
def test_a_campaign_measures_reproduces_and_does_not_explain_it(rtqual: Run, tmp_path: Path) -> None:
    plan = 'instruments = ["probe-wakeup"]\nparameters.probe-wakeup.iterations = 50'
    (tmp_path / "m.toml").write_text(MISSION.format(candidate=f'rtos = "nuttx"\nimage = "{IMAGE}"', plan=plan))
    done = rtqual("select", tmp_path / "m.toml", "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    result = kept.load(tmp_path / "out").result
    assert len(result.records) == 1 and not result.failures
    records = sorted((tmp_path / "out/records").iterdir())
    digests = [json.loads((one / "manifest.json").read_text())["samples_sha256"] for one in records]
    assert len(digests) == 2 and len({*digests}) == 1  # a run, and its repetition
    record = records[0]
    assert "the same samples" in rtqual("reproduce", record).stdout
    why = rtqual("explain", record)
    assert (why.returncode, why.stderr.count("\n")) == (2, 1)
    assert "NuttX" in why.stderr


# --- without NuttX ----------------------------------------------------------------------------------


def made(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", "-C", str(PROBE / "nuttx"), *words], capture_output=True, text=True, check=False)


def test_the_battery_is_the_one_of_every_port(tmp_path: Path) -> None:
    (tmp_path / "nuttx").mkdir()
    (tmp_path / "nuttx/config.h").write_text("")
    plan = made("--dry-run", f"NUTTX_INCLUDE={tmp_path}", f"BUILD={tmp_path}/build").stdout
    listed = (PROBE / "battery/sources.txt").read_text().split()
    assert listed and not [source for source in listed if f"{source} -o " not in plan]


def test_without_the_headers_of_nuttx_one_line_says_what_is_missing(tmp_path: Path) -> None:
    done = made(f"NUTTX_INCLUDE={tmp_path}")
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if "no headers" in line]
    assert "NUTTX_INCLUDE" in line and "docs/nuttx.md" in line

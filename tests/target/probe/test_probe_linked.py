# SPDX-License-Identifier: MIT
"""The probe on systems whose images are built elsewhere (docs/rtos.md); without them, what needs none."""

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import spearmanr

from rtqual.base.errors import RunFailed
from rtqual.engine.boards import rtos_board
from rtqual.engine.boards.rtos_board import RtosBoard
from rtqual.engine.campaign import folder as kept
from rtqual.engine.candidates import linked
from rtqual.engine.candidates.tried import try_out
from rtqual.engine.instruments.probe.families import ProbeParameters
from rtqual.engine.instruments.probe.probe_output import ProbeOutput, parse
from rtqual.protocols.board.system import Rtos
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.instrument.output import POLLS, refused
from support.command import Run
from support.freertos import FAMILIES, MISSION, begun_otherwise, medians_ns, outcome_of, published_ns
from support.probe_sources import PROBE

# Ways to be woken. Its network was not tried in any.
LACKING = {"chibios": {"network", "soft timer"}}
# Its operations' order beside the published FreeRTOS's, at least. To block costs ChibiOS less than most of them.
ALIKE = {"chibios": 0.4}
# By so much its first samples lie outside of all later ones: the first wake-up is later, by 56 and 28 ns, and one of
# the first messages of ThreadX meets its tick; the first through the pipe of SpaceChain OS 1.6.2 and 2.3.7 is 168 ns
# sooner than all others.
FIRST_NS = {"threadx": 174, "spacechain": 168}
NAMES = {
    "NUTTX_IMAGE": "nuttx",
    "NUTTX_TICKLESS_IMAGE": "nuttx",
    "CHIBIOS_IMAGE": "chibios",
    "RTEMS_IMAGE": "rtems",
    "THREADX_IMAGE": "threadx",
    "ZEPHYR_IMAGE": "zephyr",
    "ZEPHYR_TICKLESS_IMAGE": "zephyr",
    "SPACECHAIN_IMAGE": "spacechain",
}
EXPLAINED = ("chibios", "threadx", "spacechain")  # of others it was not tried
NO_PIPE = ("rtems", "threadx")


def given(*names: str, system: str) -> pytest.MarkDecorator:
    """Skips a test unless these are set in the environment, and says so."""
    lacking = [name for name in names if not os.environ.get(name)]
    return pytest.mark.skipif(
        bool(lacking), reason=f"{system.upper()} IS NOT TESTED: set {' and '.join(lacking)} (docs/rtos.md)"
    )


class Image(NamedTuple):
    """What a system was linked into with rtqual's probe."""

    system: str
    path: Path


@pytest.fixture(params=[pytest.param(name, marks=given(name, system=of)) for name, of in NAMES.items()])
def image(request: pytest.FixtureRequest) -> Image:
    return Image(NAMES[request.param], Path(os.environ[request.param]))


@cache
def prepared(image: Image) -> Rtos:
    ready = linked.prepare(image.system, image.path, image.system)
    return try_out(ready, RtosBoard(ready))


@cache
def printed(image: Image, *words: str) -> str:
    return outcome_of(RtosBoard(prepared(image)), *words).stdout


def measured(image: Image, *words: str) -> ProbeOutput:
    return parse(printed(image, *words), "it")


@pytest.mark.guest
@pytest.mark.parametrize("family", FAMILIES)
def test_equal_words_give_equal_bytes(image: Image, family: str) -> None:
    words = (family, "iterations=100", "seed=1009")
    again = outcome_of(RtosBoard(prepared(image)), *words)
    assert again.stdout == printed(image, *words)
    assert (again.exit_code, again.facts["kernel"]) == (0, prepared(image).system)
    assert f'system "{prepared(image).system}"' in again.stdout


@pytest.mark.guest
@pytest.mark.parametrize("family", FAMILIES)
def test_no_benchmark_begins_with_a_transient(image: Image, family: str) -> None:
    output = measured(image, family, "iterations=200", "seed=1")
    assert begun_otherwise(output, within_ns=FIRST_NS.get(image.system, 0)) == {}


@pytest.mark.guest
def test_an_image_that_prints_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read into memory: a probe's largest result is far below the limit."""
    monkeypatch.setattr(rtos_board, "_MOST_B", 1 << 16)
    source, image = tmp_path / "image.c", tmp_path / "image.elf"
    source.write_text("void _start(void) { for (;;) *(volatile char *)0x09000000 = '\\n'; }\n")  # the board's UART
    subprocess.run(["arm-none-eabi-gcc", "-O2", "-nostdlib", "-Ttext=0x40010000", "-o", image, source], check=True)
    with pytest.raises(RunFailed, match=r"printed more than 0 MiB and was ended"):
        outcome_of(RtosBoard(Rtos("endless", image, "NuttX", {})), "primitives")


@pytest.mark.guest
def test_every_primitive_is_measured_in_the_order_of_the_published_table(image: Image) -> None:
    output, published = measured(image, "primitives", "iterations=100", "seed=1009"), published_ns()
    assert {one.status.value for one in output.benchmarks} == {"ok"}
    here = medians_ns(output)
    assert set(published) <= set(here)
    assert min(here[name] for name in published) > 0
    correlation = spearmanr([here[name] for name in published], [published[name] for name in published]).statistic
    assert correlation >= ALIKE.get(image.system, 0.6)


@pytest.mark.guest
def test_a_mutex_lends_its_waiters_priority_and_a_semaphore_does_not(image: Image) -> None:
    output = measured(image, "primitives", "iterations=100", "seed=1009")
    section = {
        one.name: one.facts["priority in the section"][0] for one in output.benchmarks if "inversion" in one.name
    }
    assert section == {"inversion with PI": 3, "inversion without PI": 1}


@pytest.mark.guest
def test_activation_by_each_path(image: Image) -> None:
    output = measured(image, "loop", "iterations=20")
    lacking = {one.name.removeprefix("loop by ") for one in output.benchmarks if one.status.value == "not-offered"}
    assert lacking == LACKING.get(image.system, {"network"})
    assert {one.status.value for one in output.benchmarks} == {"ok", "not-offered"}
    start_ns = {
        one.name.removeprefix("loop by "): float(np.median(series.values))
        for one in output.benchmarks
        for series in one.series
        if series.name == "sensor start"
    }
    # A POSIX timer of NuttX ends a tick late: tickless it is a microsecond (docs/rtos.md).
    if image.system == "nuttx":
        assert (start_ns["soft timer"] > 1_000_000) == ("a tick every 1000 us" in prepared(image).system)
    # The interrupt wakes the sleeper itself; other paths go through a thread of the system's or one of ours.
    direct_ns = [start_ns.pop(name) for name in ("sleep", "hard timer")]
    assert max(direct_ns) < min(8_000 if image.system == "spacechain" else 3_000, *start_ns.values())


@pytest.mark.guest
def test_the_other_families_are_measured_whole(image: Image) -> None:
    for family, series in (("wakeup", 1), ("periodic", 2), ("itc", 2 if image.system in NO_PIPE else 3)):
        output = measured(image, family, "iterations=50")
        assert {one.status.value for one in output.benchmarks if one.name != "message pipe"} == {"ok"}
        found = [(len(one.values), one.overflows, one.lost) for each in output.benchmarks for one in each.series]
        assert found == [(50, 0, 0)] * series


def polling(image: Image) -> tuple[bool, float]:
    """Whether its records say that it polls; the median of its wake-ups in ns."""
    instrument, parameters = all_instruments()["probe-wakeup"], ProbeParameters(iterations=50)
    board = RtosBoard(prepared(image))
    outcome = board.run(instrument.job(parameters, cpus=1, seed=1), seed=1, timeout_s=60)
    read = instrument.read(parameters, outcome, cpus=1)
    series = read.series[0]
    return refused(read.problems) == POLLS, float(np.median(np.repeat(series.values, series.counts)))


@pytest.mark.guest
def test_a_sleep_that_waits_is_not_called_polling(image: Image) -> None:
    assert not polling(image)[0] and not prepared(image).starves


@pytest.mark.guest
@given("SPACECHAIN_IMAGE", "SPACECHAIN_POSIX_IMAGE", system="spacechain")
def test_a_sleep_by_posix_calls_polls_on_spacechain_os() -> None:
    """It seems to wake ten times sooner than the same kernel's own sleep, and is not to be compared with that."""
    own, posix = (
        polling(Image("spacechain", Path(os.environ[name]))) for name in ("SPACECHAIN_IMAGE", "SPACECHAIN_POSIX_IMAGE")
    )
    assert (own[0], posix[0]) == (False, True)
    assert posix[1] < own[1] / 5


@pytest.mark.guest
@pytest.mark.parametrize("words", [("wakup",), ("wakeup", "iterations=0"), ("wakeup", "speed=9"), ("wakeup", "cpu=1")])
def test_words_that_are_not_understood(image: Image, words: tuple[str, ...]) -> None:
    outcome = outcome_of(RtosBoard(prepared(image)), *words)
    assert (outcome.exit_code, outcome.files) == (3, {})
    assert outcome.stderr.startswith("rtqual-probe: ")
    assert words[-1] in outcome.stderr


@pytest.mark.guest
def test_a_campaign_measures_reproduces_and_explains_it(rtqual: Run, tmp_path: Path, image: Image) -> None:
    plan = 'instruments = ["probe-wakeup"]\nparameters.probe-wakeup.iterations = 50'
    candidate = f'image = "{image.path}"'
    (tmp_path / "m.toml").write_text(MISSION.format(candidate=candidate, plan=plan))
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
    if image.system in EXPLAINED:
        assert why.returncode == 0, why.stderr
        assert "50 samples made again, all equal" in why.stdout and "interrupt" in why.stdout
    else:
        assert why.returncode == 0 or (why.returncode, why.stderr.count("\n")) == (2, 1)


# --- without them -----------------------------------------------------------------------------------

# Of each port: what names the tree with its headers, and the header that is looked for there.
HEADERS = {
    "nuttx": ("NUTTX_INCLUDE", "nuttx/config.h"),
    "chibios": ("CHIBIOS", "os/rt/include/ch.h"),
    "rtems": ("RTEMS_INCLUDE", "rtems.h"),
    "threadx": ("THREADX", "common/inc/tx_api.h"),
    "spacechain": ("SYLIXOS", "SylixOS/include/SylixOS.h"),
}


def made(system: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["make", "-C", str(PROBE / system), *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("system", HEADERS)
def test_the_battery_is_the_one_of_every_port(tmp_path: Path, system: str) -> None:
    named, header = HEADERS[system]
    (tmp_path / header).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / header).write_text("")
    plan = made(system, "--dry-run", f"{named}={tmp_path}", f"BUILD={tmp_path}/build", "VERSION=1").stdout
    listed = (PROBE / "battery/sources.txt").read_text().split()
    assert listed and not [source for source in listed if f"{source} -o " not in plan]


@given("SYLIXOS", system="spacechain")
def test_the_port_compiles_against_a_tree_of_sylixos(tmp_path: Path) -> None:
    """Those of 1.6.2 and 2.3.7 have fields that 1.1.1 lacks."""
    done = made("spacechain", f"SYLIXOS={os.environ['SYLIXOS']}", "VERSION=1", f"BUILD={tmp_path}")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("system", HEADERS)
def test_without_the_headers_of_the_system_one_line_says_what_is_missing(tmp_path: Path, system: str) -> None:
    named, header = HEADERS[system]
    done = made(system, f"{named}={tmp_path}")
    assert done.returncode == 2
    (line,) = [line for line in done.stderr.splitlines() if header in line]
    assert named in line and "docs/rtos.md" in line


def test_another_configuration_of_nuttx_is_another_probe(tmp_path: Path) -> None:
    """The tickless image once had the probe of the one with a tick."""
    header, kept = tmp_path / "nuttx/config.h", tmp_path / "build/configured"
    header.parent.mkdir()
    states = []
    for text in ("a tick\n", "a tick\n", "no tick\n"):
        header.write_text(text)
        assert made("nuttx", f"NUTTX_INCLUDE={tmp_path}", f"BUILD={tmp_path}/build", str(kept)).returncode == 0
        states.append((kept.stat().st_ino, text in kept.read_text()))
    assert states[0] == states[1] and states[2] != states[1] and all(told for _, told in states)

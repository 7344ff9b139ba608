# SPDX-License-Identifier: MIT
"""The probe on FreeRTOS, at length: its own assertions, its simulator, equal builds, and Linux beside it."""

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.apt import fetch_closure
from rtqual.base.architecture import ARMHF
from rtqual.base.cache import cache_dir, sha256_file
from rtqual.engine.boards.rtos_board import RtosBoard
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates import rtos
from rtqual.engine.candidates.debian import prepare
from rtqual.engine.initramfs.contents import TOOL_PACKAGES
from rtqual.engine.instruments.probe.families import ProbeParameters
from rtqual.engine.instruments.probe.probe_output import parse
from rtqual.protocols.board import Machine
from rtqual.protocols.board.registry import PACKAGE, row_for
from rtqual.protocols.board.system import Rtos
from rtqual.protocols.instrument.all_instruments import all_instruments
from support.freertos import MISSION, PLAN, medians_ns, outcome_of, published_ns
from support.probe_sources import PROBE

PROBE_WAKEUP = all_instruments()["probe-wakeup"]


FAMILIES = re.findall(r'^\t\{ "([\w-]+)", ', (PROBE / "battery/battery.c").read_text(), re.MULTILINE)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checked image and the simulator, built by hand as the Makefile's head says; 20 s."""
    out = tmp_path_factory.mktemp("built")
    for options in (["virt", "CHECKED=1", f"OUT={out}/checked"], ["posix", f"OUT={out}/posix"]):
        subprocess.run(["make", "--silent", "-C", str(PROBE / "freertos"), *options], check=True)
    return out


@pytest.mark.full
@pytest.mark.parametrize("family", FAMILIES)
def test_no_assertion_of_freertos_fails_and_no_stack_overflows(built: Path, family: str) -> None:
    """A build with configASSERT and stack checks runs the whole battery; 5 s each."""
    board = RtosBoard(Rtos("checked", built / "checked/rtqual-probe-freertos.elf", "FreeRTOS", {}))
    outcome = outcome_of(board, family, "iterations=60")
    assert outcome.stderr == ""
    assert {one.status.value for one in parse(outcome.stdout, family).benchmarks} <= {"ok", "not-offered"}


@pytest.mark.full
def test_the_simulator_runs_the_same_battery_in_the_hosts_time(built: Path) -> None:
    """As the study did on a PC: figures of the host's scheduler, so only their sanity is tested; 5 s."""
    done = subprocess.run(
        [built / "posix/rtqual-probe-freertos-posix", "primitives", "iterations=20"],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    output = parse(done.stdout, "the simulator")
    assert output.system.endswith("its POSIX simulator, host-timed")
    assert {one.status.value for one in output.benchmarks} == {"ok"}
    assert set(published_ns()) <= set(medians_ns(output))


@pytest.mark.full
def test_an_image_is_the_same_bytes_wherever_it_is_built(
    image: Rtos, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another cache, another folder; 15 s."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "rtqual").mkdir()
    (tmp_path / "rtqual/freertos").mkdir()
    real = image.image.parents[1]
    for kernel in real.glob("freertos-next-*"):
        (tmp_path / "rtqual/freertos" / kernel.name).symlink_to(kernel)
    again = rtos.prepare("again")
    assert again.image != image.image
    assert sha256_file(again.image) == sha256_file(image.image)


@pytest.mark.full
def test_debians_arm_kernel_on_the_same_board(tmp_path: Path) -> None:
    """Fetched without `dpkg --add-architecture`, booted once, restored twice to equal samples; 60 s from the cache."""
    tools = fetch_closure(TOOL_PACKAGES, architecture=ARMHF)
    kernel = prepare("armmp-rt", "linux-image-rt-armmp", preempt=None, boot=(), tools=tools)
    assert (cache_dir() / "apt/armhf/lists").is_dir()
    board = VirtualBoard(kernel, Machine(), tmp_path / "scratch")
    assert row_for(PACKAGE, kernel.architecture).name == "virtual-arm"
    parameters = ProbeParameters(iterations=200)
    job = PROBE_WAKEUP.job(parameters, cpus=1, seed=1)
    first, again, other = (board.run(job, seed=seed, timeout_s=120) for seed in (1, 1, 2))
    assert first.files == again.files
    assert other.files != first.files
    (latency,) = PROBE_WAKEUP.read(parameters, first, cpus=1).series
    assert 1_000 < latency.values.min() <= latency.values.max() < 100_000
    assert first.facts["realtime"] == "1"
    by_hand = subprocess.run(first.command, cwd=tmp_path, check=False, timeout=300, stdin=subprocess.DEVNULL)
    assert by_hand.returncode == 0
    assert first.files["probe-0.txt"].encode() in (tmp_path / "result").read_bytes()


@pytest.mark.full
def test_a_campaign_of_freertos_and_linux(
    rtqual: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """Both in one mission, one board, reproduced by their records' commands; 90 s."""
    text = MISSION.format(candidate='rtos = "freertos"', plan=PLAN).replace(
        "[[scale", '[[candidate]]\nname = "armmp"\ntitle = "a"\npackage = "linux-image-armmp"\n[[scale'
    )
    (tmp_path / "m.toml").write_text(text + "[scale.demo.parameters.probe-wakeup]\niterations = 100\n")
    done = rtqual("select", tmp_path / "m.toml", "--out", tmp_path / "out", env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    records = sorted(path for path in (tmp_path / "out/records").iterdir() if path.name.endswith("-0"))
    assert len(records) == 2
    for record in records:
        assert '"timing": "instructions"' in (record / "manifest.json").read_text().replace('":"', '": "')
        assert "the same samples" in rtqual("reproduce", record).stdout

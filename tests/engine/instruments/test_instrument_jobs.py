# SPDX-License-Identifier: MIT
"""The command lines that instruments make, their parameters, versions and estimates."""

import re
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from rtqual.base.errors import RunFailed
from rtqual.base.units import DurationNs, SizeB
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.instruments.probe.families import COURSES
from rtqual.engine.instruments.sysbench.tests import FileioParameters
from rtqual.engine.mission import load_mission
from rtqual.protocols.board import Job
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.instrument.version import parse_version
from support.instrument_outputs import SYSBENCH_NAMES

MISSION = Path(__file__).parents[3] / "docking/missions/docking.toml"


def job_of(name: str, *, cpus: int = 1, seed: int = 1, **parameters: Any) -> Job:
    instrument = all_instruments()[name]
    return instrument.job(instrument.parameters(**parameters), cpus=cpus, seed=seed)


def cell_of(name: str, **parameters: Any) -> Cell:
    candidate = load_mission(MISSION).candidates[0]
    instrument = all_instruments()[name]
    place = candidate.place
    assert place
    return Cell(candidate, instrument, instrument.parameters(**parameters), "none", 1, seed=1, place=place)


def test_cyclictest_runs_one_thread_on_each_cpu() -> None:
    assert job_of("cyclictest").measure.argv[-4:] == ("-a", "0", "-t", "1")
    assert job_of("cyclictest", cpus=4).measure.argv[-5:] == ("-a", "-t", "4", "-A", "250")


def test_the_loop_beside_streamed_memory_runs_on_an_isolated_cpu_too() -> None:
    plain, asked = job_of("probe-memory"), job_of("probe-memory", cpu=3)
    assert "cpu=0" in plain.measure.argv and plain.measure.argv[0] == "rtqual-probe"
    assert "cpu=3" in asked.measure.argv and asked.measure.argv[:3] == ("taskset", "ffffffff", "rtqual-probe")
    parameters = all_instruments()["probe-memory"].parameters
    assert "cpu" not in parameters().model_dump(mode="json"), "records from before keep their hashes"
    assert parameters.model_validate({"cpu": 3}).model_dump(mode="json")["cpu"] == 3


@pytest.mark.parametrize(
    "wrong", [{"interval": "1500 ns"}, {"histogram_limit": "2 ms"}, {"priority": 1}, {"cycles": 0}, {"cycle": 5}]
)
def test_cyclictest_refuses_what_it_would_not_do(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        all_instruments()["cyclictest"].parameters(**wrong)


@pytest.mark.parametrize("name", SYSBENCH_NAMES)
def test_sysbench_is_never_seeded_by_the_time(name: str) -> None:
    argvs = [" ".join(job_of(name, seed=seed).measure.argv) for seed in (0, 1, 2**31 - 2, 2**31 - 1, 2**40)]
    assert all("--rand-seed=" in argv and "--rand-seed=0 " not in argv for argv in argvs)
    assert argvs[0] != argvs[1]


def test_sysbench_runs_the_studys_parameters_by_default() -> None:
    cpu = job_of("sysbench-cpu").measure.argv
    assert {"--cpu-max-prime=2000", "--events=10000", "--time=0", "--threads=1"} <= set(cpu)
    threads = job_of("sysbench-threads").measure.argv
    assert {"--thread-locks=1", "--thread-yields=1000", "--threads=1"} <= set(threads)
    assert "--threads=8" in job_of("sysbench-threads-contended").measure.argv
    mutex = job_of("sysbench-mutex").measure.argv
    assert {"--threads=64", "--mutex-num=4096", "--mutex-locks=50000", "--mutex-loops=10000", "--events=0"} <= set(
        mutex
    )
    fileio = job_of("sysbench-fileio-usb")
    assert {"--threads=16", f"--file-total-size={3 * 2**30}", "--time=300", "--file-num=128"} <= set(
        fileio.measure.argv
    )
    assert (fileio.folder, job_of("sysbench-fileio-root").folder) == ("usb", "root")
    assert [command.argv[-1] for command in (*fileio.setup, *fileio.teardown)] == ["prepare", "cleanup"]


def test_fileio_needs_room_for_a_block_in_each_file() -> None:
    with pytest.raises(ValidationError, match="2097152 B"):
        FileioParameters.model_validate({"total_size": "1 MiB"})


@pytest.mark.parametrize("name", all_instruments())
def test_an_estimate_is_positive_and_no_shorter_under_load(name: str) -> None:
    instrument = all_instruments()[name]
    usual = instrument.parameters()
    idle, loaded = (instrument.seconds(usual, load) for load in ("none", "hackbench"))
    assert 0 < instrument.busy_s(usual) <= idle <= loaded


def test_an_estimate_knows_what_the_probe_does_by_itself() -> None:
    probe = Path(__file__).parents[3] / "target/probe"
    tables = "".join((probe / name).read_text() for name in ("battery/battery.c", "linux/beside.c"))
    found = re.findall(r'^\t\{ "(\w+)", \w+, (\d+), (\d+) \* MS', tables, re.MULTILINE)
    assert {name: (int(n), int(ms) * 10**6) for name, n, ms in found} == {
        name: (one.iterations, one.interval_ns) for name, one in COURSES.items()
    }


@pytest.mark.parametrize(("name", "length"), [("cyclictest", "cycles"), ("probe-itc", "iterations")])
def test_waiting_costs_an_emulated_board_nothing(name: str, length: str) -> None:
    """A million idle cycles of 10 ms are 2.8 hours of the board's time."""
    instrument = all_instruments()[name]
    one, ten = (instrument.parameters.model_validate({length: 10**6, "interval": ms * 10**6}) for ms in (1, 10))
    assert instrument.seconds(ten, "none") == pytest.approx(10 * instrument.seconds(one, "none"), rel=0.01)
    assert instrument.busy_s(ten) == instrument.busy_s(one) < instrument.seconds(ten, "none") / 100


def test_long_idle_time_is_waited_for() -> None:
    """100 cycles of 60 s: what the emulator skips is not all free, and no board has hung for it."""
    asked = cell_of("cyclictest", cycles=100, interval=60 * 10**9)
    assert asked.estimate_s < asked.timeout_s == asked.instrument.seconds(asked.parameters, "none")


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("cyclictest V 2.40\nUsage:\n", "2.40"),
        ("sysbench 1.0.20\n", "1.0.20"),
        ("stress-ng, version 0.15.06 (gcc 12.2.0, x86_64 Linux 6.1.0)\n", "0.15.06"),
        ("iperf 3.12 (cJSON 1.7.15)\n", "3.12"),
        ("based on Xenomai/cobalt v3.3.1\n", "3.3.1"),
    ],
)
def test_a_version_is_found(text: str, version: str) -> None:
    assert parse_version(text) == version


def test_a_missing_version_is_told() -> None:
    with pytest.raises(RunFailed, match="no version in 'not found'"):
        parse_version("not found")


class Fields(BaseModel):
    period: DurationNs = 1
    size: SizeB = 1


def test_fields_take_text_with_a_unit_or_an_integer() -> None:
    assert Fields.model_validate({"period": "4 ms", "size": "64 MiB"}) == Fields(period=4_000_000, size=64 * 2**20)
    assert Fields.model_validate(Fields(period=5, size=6).model_dump()) == Fields(period=5, size=6)


@pytest.mark.parametrize("wrong", ["4", "4 parsec", "-4 ms", -4, 4.5, True, None])
def test_fields_refuse_everything_else(wrong: object) -> None:
    with pytest.raises(ValidationError):
        Fields.model_validate({"period": wrong})

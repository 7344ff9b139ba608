# SPDX-License-Identifier: MIT
"""The virtual board with real kernels: it boots, it repeats, it says when it does not."""

import json
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64
from rtqual.engine.boards import machine
from rtqual.engine.boards.disk_models import KNOWN
from rtqual.engine.boards.machine import emulator_for
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.initramfs.contents import guest_file
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board import Command, Job, JobOutcome, Machine
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.instrument.all_instruments import all_instruments
from rtqual.protocols.load.all_loads import all_loads
from rtqual.protocols.record.schema import Inputs, Measurement, Provenance, Record, SeriesKind, Timing, samples_digest
from rtqual.protocols.record.store import Store, make, read, settle_timing
from support.command import Run

CYCLES = 200
PARAMETERS = CyclictestParameters(cycles=CYCLES)


def cyclictest(cpus: int = 1, load: str = "none") -> Job:
    one = all_loads()[load]
    job = CYCLICTEST.job(PARAMETERS, cpus=cpus, seed=1)
    return replace(job, setup=one.setup, loads=one.background, modules=one.modules)


def measured(outcome: JobOutcome, cpus: int = 1) -> Measurement:
    measurement = CYCLICTEST.read(PARAMETERS, outcome, cpus=cpus)
    assert measurement.problems == ()
    return measurement


def samples(outcome: JobOutcome, cpus: int = 1) -> str:
    measurement = measured(outcome, cpus)
    return samples_digest(measurement.series, measurement.scalars)


@pytest.fixture(scope="module")
def idle(board: VirtualBoard) -> JobOutcome:
    return board.run(cyclictest(), seed=1, timeout_s=120)


@pytest.fixture(scope="module")
def loaded(board: VirtualBoard) -> JobOutcome:
    return board.run(cyclictest(load="hackbench"), seed=1, timeout_s=120)


def test_debians_real_time_kernel_boots_and_an_idle_run_repeats(board: VirtualBoard, idle: JobOutcome) -> None:
    one, two = idle, board.run(cyclictest(), seed=1, timeout_s=120)
    assert "PREEMPT_RT" in one.facts["kernel"]
    assert one.facts["realtime"] == "1"
    assert one.facts["clock_resolution_ns"] == "1"
    assert set(board._append().split()) <= set(one.facts["cmdline"].split())
    assert {(t["policy"], t["priority"]) for t in one.threads} >= {("fifo", PARAMETERS.priority)}
    (series,) = measured(one).series
    assert (series.total, series.info.kind, series.info.cpu) == (CYCLES, SeriesKind.HISTOGRAM, 0)
    assert len(series.values) > 3  # a clock of jiffies would give one or two
    assert samples(one) == samples(two)


def test_a_loaded_run_repeats_and_its_load_disturbs(board: VirtualBoard, idle: JobOutcome, loaded: JobOutcome) -> None:
    again = board.run(cyclictest(load="hackbench"), seed=1, timeout_s=120)
    assert samples(loaded) == samples(again)
    (quiet,), (disturbed,) = measured(idle).series, measured(loaded).series
    assert disturbed.values.max() > quiet.values.max()


def test_a_megabyte_of_results_comes_back_from_threaded_interrupts(board: VirtualBoard) -> None:
    job = Job(measure=Command(("sh", "-c", "yes digits | head -c 1000000 > digits")), collect=("digits",))
    outcome = board.run(job, seed=1, timeout_s=120)
    assert "nobody cared" not in outcome.console
    assert len(outcome.files["digits"]) == 1_000_000


def test_another_seed_is_another_draw(board: VirtualBoard, loaded: JobOutcome) -> None:
    assert samples(board.run(cyclictest(load="hackbench"), seed=2, timeout_s=120)) != samples(loaded)


@pytest.mark.full
def test_the_recorded_command_gives_the_same_by_hand(board: VirtualBoard, loaded: JobOutcome) -> None:
    """As somebody would who has never seen this program: the words of the record, in the campaign's folder."""
    folder = board._scratch.parent
    subprocess.run(loaded.command, cwd=folder, check=False, stdin=subprocess.DEVNULL, timeout=300)
    frame = (folder / "result").read_bytes()
    tar = frame[frame.index(b"\n") + 1 :]
    listing = subprocess.run(["tar", "-xO", "./file.cyclictest.json"], input=tar, capture_output=True, check=True)
    assert json.loads(listing.stdout)["thread"] == json.loads(loaded.files["cyclictest.json"])["thread"]


def test_reproduce_runs_a_record_again(rtqual: Run, campaign: Path) -> None:
    (record,) = [
        path
        for path in Store(campaign / "records").paths()
        if (m := read(path).manifest).inputs.load == "hackbench" and m.inputs.seed == 2
    ]
    done = rtqual("reproduce", record, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert [one["same"] for one in json.loads(done.stdout)] == [True]


def twice(kernel: Kernel, cpus: int, folder: Path) -> None:
    board = VirtualBoard(kernel, Machine(cpus=cpus), folder / "scratch")
    one, two = (board.run(cyclictest(cpus), seed=1, timeout_s=300) for _ in range(2))
    assert one.facts["cpus"] == str(cpus)
    series = measured(one, cpus).series
    assert [one.info.cpu for one in series] == list(range(cpus))
    assert all(one.total > 0.9 * CYCLES for one in series)
    assert len({tuple(one.values) for one in series}) == cpus  # no CPU's samples told twice
    assert samples(one, cpus) == samples(two, cpus)


def test_two_cpus_have_a_series_each_and_repeat(kernel: Callable[..., Kernel], tmp_path: Path) -> None:
    twice(kernel("debian-rt"), 2, tmp_path)


@pytest.mark.full
def test_four_cpus_have_a_series_each_and_repeat(kernel: Callable[..., Kernel], tmp_path: Path) -> None:
    twice(kernel("debian-rt"), 4, tmp_path)


@pytest.mark.full
def test_equal_boots_give_equal_guests(kernel: Callable[..., Kernel], tmp_path: Path) -> None:
    """Boots beside each other, so that each is disturbed at other places."""
    from concurrent.futures import ThreadPoolExecutor

    def boot_and_run(number: int) -> str:
        own = tmp_path / str(number)
        board = VirtualBoard(kernel("debian-rt"), Machine(), own / "scratch", guests=own / "guests")
        return samples(board.run(cyclictest(load="hackbench"), seed=1, timeout_s=300))

    with ThreadPoolExecutor(3) as pool:
        assert len(set(pool.map(boot_and_run, range(6)))) == 1


@pytest.fixture(scope="module")
def disks(kernel: Callable[..., Kernel], tmp_path_factory: pytest.TempPathFactory) -> VirtualBoard:
    return VirtualBoard(kernel("debian-rt"), Machine(disks=True), tmp_path_factory.mktemp("disks") / "scratch")


def test_a_job_with_a_disk_repeats_by_the_disks_model(disks: VirtualBoard, tmp_path: Path) -> None:
    instrument = all_instruments()["sysbench-fileio-root"]
    parameters = instrument.parameters.model_validate({"threads": 2, "total_size": "2 MiB", "files": 4, "events": 200})
    job = instrument.job(parameters, cpus=1, seed=1)
    inputs = Inputs(
        candidate="debian-rt",
        instrument=instrument.name,
        load="none",
        board="virtual",
        cpus=1,
        seed=1,
        job=job.as_inputs(),
        artefacts=disks.artefacts(),
    )
    store = Store(tmp_path / "records")

    def record(repeat: int) -> Record:
        outcome = disks.run(job, seed=1, timeout_s=120)
        measurement = instrument.read(parameters, outcome, cpus=1)
        assert measurement.problems == ()
        assert measurement.scalars["requests_per_s"].value > 0
        provenance = Provenance(
            rtqual="0",
            mission_sha256="",
            started=datetime.now(UTC).isoformat(),
            wall_s=outcome.wall_s,
            command=list(outcome.command),
        )
        one = make(inputs, measurement, provenance, timing=Timing.UNTESTED, repeat=repeat)
        store.write(one)
        return one

    first, second = (record(repeat) for repeat in (0, 1))
    modelled = emulator_for(AMD64).version().startswith(KNOWN)  # of another QEMU disks take the host's time
    assert (first.manifest.hash == second.manifest.hash) == modelled
    settled = settle_timing(store, [read(path) for path in store.paths()])
    timing = Timing.MODELLED if modelled else Timing.HOST_TIMED
    assert {found.manifest.timing for found in settled} == {timing}
    assert {read(path).manifest.timing for path in store.paths()} == {timing}


def test_another_checkout_has_the_same_saved_guest(
    disks: VirtualBoard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its path stands in QEMU's command line, as the folder of the plugin that disks have on Debian 12."""
    here = disks._name
    monkeypatch.setattr(machine, "guest_file", lambda name: Path(shutil.copy(guest_file(name), tmp_path)))
    there = VirtualBoard(disks.kernel, disks.machine, tmp_path / "scratch")
    modelled = emulator_for(AMD64).version().startswith(KNOWN)
    assert (str(tmp_path) in " ".join(there._disk_options())) == modelled
    assert there._name == here


def test_the_usb_disk_is_a_disk_of_its_own(disks: VirtualBoard) -> None:
    job = Job(measure=Command(("sh", "-c", "cat /proc/mounts; readlink -f /sys/block/sda/device")), folder="usb")
    outcome = disks.run(job, seed=1, timeout_s=120)
    assert "/dev/sda /run/usb ext4" in outcome.stdout
    assert "/usb" in outcome.stdout.splitlines()[-1]


WLAN_BYTES = "cat /sys/class/net/wlan*/statistics/rx_bytes /sys/class/net/wlan*/statistics/tx_bytes"


@pytest.mark.full
def test_the_wifi_load_moves_traffic_through_the_radios(board: VirtualBoard) -> None:
    load = all_loads()["wifi"]
    look = f"{WLAN_BYTES}; sleep 1; echo later; {WLAN_BYTES}"
    job = Job(
        measure=Command(("sh", "-c", look), fifo=10),
        setup=load.setup,
        loads=load.background,
        modules=load.modules,
    )
    outcome = board.run(job, seed=1, timeout_s=300)
    before, later = (sum(map(int, part.split())) for part in outcome.stdout.split("later"))
    sent_b = later - before
    assert 0.5 * 20e6 / 8 < sent_b < 4 * 20e6 / 8  # 20 Mbit/s for a second, with what the link adds


@pytest.mark.full
@pytest.mark.parametrize("load", [name for name in all_loads() if name not in ("none", "hackbench")])
def test_every_load_outlives_the_measurement_and_repeats(board: VirtualBoard, load: str) -> None:
    one, two = (board.run(cyclictest(load=load), seed=1, timeout_s=600) for _ in range(2))
    assert samples(one) == samples(two)

# SPDX-License-Identifier: MIT
"""Jobs on a board over ssh: what they survive, and what they do not. The stand-in stays on one candidate."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.engine.boards.remote.remote_board import RemoteBoard
from rtqual.engine.boards.remote.session import Session
from rtqual.engine.boards.remote.settings import BoardRefused, Settings
from rtqual.protocols.board import Command, Job
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.instrument.all_instruments import all_instruments
from support.stand_in import SECOND, StandIn, settings_of, stand_in

pytestmark = [pytest.mark.manual]  # each starts the machine several times: 30 minutes
TIMEOUT_S = 600.0
SLEEPS = Job(Command(("sh", "-c", "echo begun >> /run/begun; sleep 25; echo $((6 * 7))")))
LOADED = Job(Command(("sh", "-c", "echo quick")), loads=(Command(("sh", "-c", "while sleep 0.5; do :; done")),))
QUICK = Job(Command(("sh", "-c", "echo quick")))
FILLS = Job(Command(("sh", "-c", "cat /dev/zero > all-there-is; echo quick")))


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandIn]:
    with stand_in(tmp_path_factory.mktemp("stand-in")) as board:
        board.wait_up()
        yield board


@pytest.fixture(scope="module")
def settings(there: StandIn) -> Settings:
    return settings_of(there)


def begun(there: StandIn) -> int:
    return int(there.ssh("cat /run/begun | wc -l; rm -f /run/begun").stdout)


def opened(settings: Settings, kernel: Callable[..., Kernel], folder: Path, owner: str = "test") -> RemoteBoard:
    return RemoteBoard(Session(settings, owner, folder / "console.log"), kernel("debian-rt"), owner)


def test_a_link_that_is_cut_in_a_job_loses_nothing(
    there: StandIn, settings: Settings, kernel: Callable[..., Kernel], tmp_path: Path
) -> None:
    """Cut for longer than ssh keeps alive (10 s), it comes back: one start, the same bytes."""
    board = opened(settings, kernel, tmp_path)
    try:
        assert board.run(LOADED, seed=1, timeout_s=60).stdout == "quick\n"
        left = there.ssh("ps").stdout
        assert "init" in left and "sleep 0.5" not in left  # no load outlives its job
        with pytest.raises(RunFailed, match="its memory was full, so the results are not whole"):
            board.run(FILLS, seed=1, timeout_s=60)

        def cut() -> None:
            while not there.ssh("cat /run/begun").stdout:
                time.sleep(0.5)
            there.link(up=False)
            time.sleep(20)
            there.link(up=True)

        cutting = threading.Thread(target=cut)
        cutting.start()
        outcome = board.run(SLEEPS, seed=1, timeout_s=TIMEOUT_S)
        cutting.join()
        assert outcome.stdout == "42\n"
        assert begun(there) == 1
        assert outcome.facts["board"] == "stand-in" and outcome.facts["candidate_nonce"] in outcome.facts["cmdline"]
    finally:
        board.close()
    assert there.ssh("uname -r").stdout.strip() == there.release


def test_a_disk_of_the_board_is_measured_in_a_folder_of_its_own(
    there: StandIn, settings: Settings, kernel: Callable[..., Kernel], tmp_path: Path
) -> None:
    fileio = all_instruments()["sysbench-fileio-usb"]
    small = {"threads": 2, "total_size": "8 MiB", "files": 4, "events": 200, "fsync_every": 10}
    parameters = fileio.parameters.model_validate(small)
    job = fileio.job(parameters, cpus=1, seed=1)
    session = Session(replace(settings, disks=(("usb", SECOND),)), "test", tmp_path / "log")
    board = RemoteBoard(session, kernel("debian-rt"), "test", (fileio.program,))
    try:
        outcome = board.run(job, seed=1, timeout_s=TIMEOUT_S)
        measured = fileio.read(parameters, outcome, cpus=1)
        assert measured.problems == () and measured.scalars["writes_per_s"].value > 0
        assert outcome.facts["disk"].startswith(f"{SECOND} /run/usb ext4 rw")
        looked = f"grep -c {SECOND} /proc/mounts; mount {SECOND} /run/usb && ls /run/usb; umount /run/usb"
        assert there.ssh(looked).stdout.split() == ["0", "lost+found"]
        with pytest.raises(RunFailed, match=r"the board's table names no such disk: disks = \{ root"):
            board.run(replace(job, folder="root"), seed=1, timeout_s=60)
    finally:
        board.close()


def test_the_wrong_kernel_is_refused(
    there: StandIn, settings: Settings, kernel: Callable[..., Kernel], tmp_path: Path
) -> None:
    """It answers with the right key and nonce, and another release than the candidate's."""
    board = opened(settings, kernel, tmp_path)
    board.candidate = replace(board.candidate, kernel=replace(board.candidate.kernel, release="6.9"))
    try:
        with pytest.raises(RunFailed, match=r"is not what started: 6\.\S+-rt-amd64 answers"):
            board.run(QUICK, seed=1, timeout_s=60)
        assert there.ssh("uname -r").stdout.strip() == there.release
    finally:
        board.close()


def test_a_candidate_without_its_drivers_gives_the_board_back(
    there: StandIn, settings: Settings, kernel: Callable[..., Kernel], tmp_path: Path
) -> None:
    """It finds neither the boot partition nor the network, and nobody switches the power."""
    nobody = Session(replace(settings, power_off=(), power_on=()), "test", tmp_path / "console.log")
    board = RemoteBoard(nobody, replace(kernel("debian-rt"), release="6.9"), "test")  # the modules of no kernel
    try:
        with pytest.raises(RunFailed, match="the board fell back to its known-good system by itself"):
            board.run(QUICK, seed=1, timeout_s=60)
        assert there.ssh("uname -r").stdout.strip() == there.release
    finally:
        board.close()


def test_power_cut_in_a_job_leaves_nothing_and_the_rerun_finishes(
    there: StandIn, settings: Settings, kernel: Callable[..., Kernel], tmp_path: Path
) -> None:
    board = opened(settings, kernel, tmp_path)
    try:

        def cut() -> None:
            while not there.ssh("cat /run/begun").stdout:
                time.sleep(0.5)
            there.cut_power()

        cutting = threading.Thread(target=cut)
        cutting.start()
        with pytest.raises(RunFailed, match="the board restarted while it measured"):
            board.run(SLEEPS, seed=2, timeout_s=TIMEOUT_S)
        cutting.join()
        assert there.ssh("ls /boot/rtqual/jobs").stdout.split() == []
        assert board.run(SLEEPS, seed=2, timeout_s=TIMEOUT_S).stdout == "42\n"
    finally:
        board.close()


def test_a_killed_rtqual_leaves_a_job_that_the_next_adopts(
    there: StandIn, settings: Settings, kernel: Callable[..., Kernel], tmp_path: Path
) -> None:
    there.ssh("rm -f /run/begun")
    code = (
        "import sys; sys.path[:0] = sys.argv[1:2]\n"
        "from pathlib import Path\n"
        "from engine.boards import test_remote_jobs as here\n"
        "from support.stand_in import StandIn, kernel_of, settings_of\n"
        "there = StandIn(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])\n"
        "here.opened(settings_of(there), kernel_of, Path(sys.argv[5])).run(here.SLEEPS, seed=3, timeout_s=600)\n"
    )
    tests = Path(__file__).parents[2]
    words = [sys.executable, "-c", code, tests, there.folder, str(there.port), there.release, tmp_path]
    first = subprocess.Popen(words, env={**os.environ, "PYTHONPATH": str(tests)})
    try:
        while not there.ssh("cat /run/begun").stdout:
            assert first.poll() is None
            time.sleep(1)
    finally:
        first.send_signal(signal.SIGKILL)
        first.wait()
    board = opened(settings, kernel, tmp_path)
    try:
        with pytest.raises(BoardRefused, match="in use by test"):
            opened(replace(settings, console=""), kernel, tmp_path, owner="another").run(QUICK, seed=1, timeout_s=60)
        outcome = board.run(SLEEPS, seed=3, timeout_s=TIMEOUT_S)
        assert outcome.stdout == "42\n" and outcome.facts["polls"] == "0"  # nothing was started
        assert there.ssh("uname -r").stdout.strip() == there.release
    finally:
        board.close()


def test_a_candidate_that_hangs_is_powered_off_and_on(
    there: StandIn, settings: Settings, kernel: Callable[..., Kernel], tmp_path: Path
) -> None:
    """Its first process says nothing and does nothing, before the watchdog is fed; the console proves that it ran."""
    impatient = replace(settings, boot_timeout_s=120.0, watchdog_s=0.0)
    session = Session(impatient, "test", tmp_path / "console.log")
    hung = RemoteBoard(session, kernel("debian-rt", "rdinit=/bin/cat"), "test")
    try:
        with pytest.raises(RunFailed, match="powered off and on"):
            hung.run(QUICK, seed=1, timeout_s=60)
        assert "Run /bin/cat as init process" in session.console.since(0)
        assert there.ssh("uname -r").stdout.strip() == there.release
    finally:
        hung.close()
    nobody = Session(replace(impatient, power_off=(), power_on=()), "test", tmp_path / "console2.log")
    hung = RemoteBoard(nobody, kernel("debian-rt", "rdinit=/bin/cat"), "test")
    try:
        with pytest.raises(RunFailed, match=r"board stand-in is out: .* no power = \{ off, on \} says"):
            hung.run(QUICK, seed=1, timeout_s=60)
    finally:
        hung.close()
        there.cut_power()
        there.wait_up()

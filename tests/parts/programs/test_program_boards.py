# SPDX-License-Identifier: MIT
"""The example's loop on a board over ssh and on a card: jobs told by the kernel's tracer, the board's keys hidden."""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from rtqual.base.architecture import AMD64
from rtqual.engine.boards.remote.remote_board import RemoteBoard
from rtqual.engine.boards.remote.session import Session
from rtqual.engine.candidates.ready import with_files
from rtqual.engine.mission.program import Program
from rtqual.parts.programs import program_files
from rtqual.parts.programs.instrument import ProgramParameters, program
from rtqual.protocols.board import Command, Job
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.record.store import Store, read
from support.command import Run
from support.machines import MODEL, PARAMETERS
from support.stand_in import KERNELS, SERIAL, candidate, settings_of, stand_in

pytestmark = [pytest.mark.full]  # a machine that starts three times
_EXAMPLE = Path(__file__).parents[3] / "examples" / "loop250" / "loop250.c"
_CURIOUS = Job(Command(("sh", "-c", "ls -A /boot /etc/dropbear /root/.ssh; grep ' /boot vfat' /proc/mounts")))
_LOOP = {
    "name": "loop250", "binary": "loop250", "arguments": ["50", "70"],
    "task": [{"name": "control", "thread": "gnc-250hz", "period": "4 ms", "deadline": "4 ms"}],
    "output": [{"from": "stdout", "format": "csv", "series": {"late": "late_ns"}}],
}  # fmt: skip
_CARD = f"""\
[mission]
name = "card"
title = "A loop on a board without a network"
purpose = "Tries the card."
duration = "10 s"

{candidate("debian", "Debian", KERNELS["stock"])}
[[board]]
name = "lonely"
model = "{MODEL}"
architecture = "amd64"
serial = "{SERIAL}"
switch = "systemd-boot"
parameters = {json.dumps(PARAMETERS)}

[[program]]
name = "loop250"
binary = "loop250"
arguments = ["50", "70"]
[[program.task]]
name = "control"
thread = "gnc-250hz"
period = "4 ms"
deadline = "4 ms"
[[program.output]]
format = "csv"
series = {{ late = "late_ns" }}

[[scale.demo.plan]]
boards = ["lonely"]
instruments = ["program-loop250"]
runs = 1
"""


@pytest.fixture(scope="module")
def board(kernel: Callable[..., Kernel], tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteBoard]:
    """A stand-in with the loop in the candidate's memory."""
    folder = tmp_path_factory.mktemp("loop")
    subprocess.run(["gcc", "-O2", "-static", "-pthread", "-o", folder / "loop250", _EXAMPLE], check=True)
    ready = with_files(kernel("debian"), program_files.laid(Program.model_validate(_LOOP, context={}), folder, AMD64))
    with stand_in(folder / "stand-in") as there:
        there.wait_up()
        board = RemoteBoard(Session(settings_of(there), "test", folder / "log"), ready, "test")
        yield board
        board.close()


def test_jobs_by_the_tracer_are_those_that_the_program_sees(board: RemoteBoard) -> None:
    parameters = ProgramParameters(program=Program.model_validate(_LOOP, context={}))
    instrument = program("program-loop250")
    outcome = board.run(instrument.job(parameters, cpus=1, seed=1), seed=1, timeout_s=120)
    measured = instrument.read(parameters, outcome, cpus=1)
    taken = {one.info.name: np.concatenate([*(one.ordered() or ())]) for one in measured.series}
    assert (len(taken["late"]), len(taken["control start"])) == (50, 49)
    assert "late moved by tracing" in measured.scalars
    assert len(measured.late) == 5
    watched = [int(line.split(",")[1]) for line in outcome.files["traced.out"].splitlines()[1:]]
    assert (np.array(watched[:49]) > taken["control start"]).all(), "by the way back to user space"


def test_what_runs_sees_neither_the_boot_partition_nor_keys(board: RemoteBoard) -> None:
    seen = board.run(_CURIOUS, seed=1, timeout_s=60).stdout.split()
    assert seen == ["/boot:", "/etc/dropbear:", "/root/.ssh:"]


def test_a_card_measures_a_program_by_itself(rtqual: Run, tmp_path: Path) -> None:
    subprocess.run(["gcc", "-O2", "-static", "-pthread", "-o", tmp_path / "loop250", _EXAMPLE], check=True)
    mission, image, out = tmp_path / "card.toml", tmp_path / "card.img", tmp_path / "out"
    mission.write_text(_CARD)
    made = rtqual("image", mission, "--board", "lonely", "--self-measuring", "--out", image, "--run-programs")
    assert made.returncode == 0, made.stderr

    def disk(folder: Path) -> str:
        shutil.copyfile(image, folder / "disk")
        return ""

    with stand_in(tmp_path / "board", disk) as there:
        end_s = time.monotonic() + 1800
        while "measured 1 of 1 cells" not in there.console_log or (there.folder / "pid").exists():
            assert time.monotonic() < end_s, there.console_log[-2000:]
            time.sleep(0.5)
        taken = rtqual("import", there.folder / "disk", "--mission", mission, "--out", out)
    assert taken.returncode == 0, taken.stderr
    (record,) = (read(path) for path in Store(out / "records").paths())
    assert {series.info.name: series.total for series in record.series} == {
        "control response": 49, "control start": 49, "late": 50,
    }  # fmt: skip
    assert "late moved by tracing" in record.manifest.scalars

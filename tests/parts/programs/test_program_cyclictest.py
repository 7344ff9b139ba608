# SPDX-License-Identifier: MIT
"""cyclictest as a program of somebody's: it agrees with the instrument, but for the way back to user space."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rtqual.base.architecture import AMD64
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.ready import with_files
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.engine.mission.program import Program
from rtqual.parts.programs import program_files
from rtqual.parts.programs.instrument import ProgramParameters, program
from rtqual.protocols.board import Machine
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.record.schema import Series

_CYCLES, _COMPARED = 200, 150  # the last may be left unprinted
_PROGRAM = {
    "name": "cyclictest", "packages": ["rt-tests"], "binary": "/usr/bin/cyclictest",
    "arguments": ["-v", "-m", "-N", "-p80", "-i1000", f"-l{_CYCLES}", "-a0", "-t1"],
    "task": [{"name": "cycle", "thread": "cyclictest", "priority": 80, "released_by": "timer", "period": "1 ms"}],
    "output": [{"format": "lines", "match": r"^ *0: *\d+: *(?P<late>\d+)", "series": {"late": "late"}}],
}  # fmt: skip


def _taken(series: Series) -> np.ndarray:
    return np.concatenate([*(series.ordered() or ())])[:_COMPARED]


@pytest.mark.guest
@pytest.mark.parametrize("which", ["debian-rt", "debian"])
def test_as_a_program_it_is_as_late_as_as_an_instrument(
    kernel: Callable[..., Kernel], tmp_path: Path, which: str
) -> None:
    wanted = Program.model_validate(_PROGRAM, context={})
    ready = with_files(kernel(which), program_files.laid(wanted, tmp_path, AMD64))
    board = VirtualBoard(ready, Machine(), tmp_path / "scratch")
    parameters = ProgramParameters(program=wanted)
    instrument = program("program-cyclictest")
    outcome = board.run(instrument.job(parameters, cpus=1, seed=1), seed=1, timeout_s=300)
    found = instrument.read(parameters, outcome, cpus=1)
    assert found.problems == ()
    taken = {one.info.name: _taken(one) for one in found.series}
    start = taken["cycle start"]
    back = taken["late"] - start
    assert back.min() > 0
    assert np.quantile(back, 0.95) - back.min() <= 100  # on the stock kernel one job of 150 took 4 us longer
    ordered = CyclictestParameters(cycles=_CYCLES, samples="ordered")
    outcome = board.run(CYCLICTEST.job(ordered, cpus=1, seed=1), seed=1, timeout_s=300)
    (series,) = CYCLICTEST.read(ordered, outcome, cpus=1).series
    apart = np.median(_taken(series)) - np.median(start) - np.median(back)
    assert abs(apart) <= 500, (np.median(start), np.median(back), apart)

# SPDX-License-Identifier: MIT
"""Records of runs in which a module (late_module.c) makes wake-ups late in a way that is known."""

from dataclasses import dataclass, replace
from pathlib import Path

from rtqual.base.apt import fetch
from rtqual.base.architecture import AMD64
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.candidates.module import build_modules
from rtqual.engine.candidates.ready import image_of, make_ready
from rtqual.engine.initramfs.contents import guest_tools
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board import Board, Command, Job, Machine
from rtqual.protocols.instrument import Instrument, Parameters
from rtqual.protocols.load.all_loads import all_loads
from rtqual.protocols.record.schema import Inputs, Provenance, Timing
from rtqual.protocols.record.store import Store, make

MODULE = "rtqual-late.ko"
PARAMETERS = CyclictestParameters(cycles=60)


class LateGuest:
    """Debian's stock kernel with the module; it is booted once."""

    def __init__(self, folder: Path, package: str = "linux-image-amd64", cpus: int = 1) -> None:
        kernel = fetch(package, kernel=True)
        source = Path(__file__).with_name("late_module.c").read_bytes()
        sources = {"late/Kbuild": b"obj-m += rtqual-late.o\n", "late/rtqual-late.c": source}
        (module,) = build_modules(image_of("late", kernel)[1], sources, "late", (MODULE,))
        tools = guest_tools()
        extra = {f"lib/rtqual/{MODULE}": module}
        # Without a name, as of a record: so both start from the same saved guest.
        ready = make_ready("", kernel, boot=(), tools=tools, architecture=AMD64, extra=extra)
        self.folder = folder
        self.board = VirtualBoard(ready, Machine(cpus), folder / "scratch")

    def record(
        self, way: str, instrument: Instrument = CYCLICTEST, parameters: Parameters = PARAMETERS, load: str = "none"
    ) -> Path:
        """A run of cyclictest, or of another instrument, with the module doing that."""
        cpus = self.board.machine.cpus
        plain = instrument.job(parameters, cpus=cpus, seed=1)
        insert = Command(("insmod", f"/lib/rtqual/{MODULE}", f"way={way}"))
        job = replace(plain, setup=(insert,), loads=all_loads()[load].background)
        run = Run(self.board, "virtual", instrument, parameters, job, cpus)
        return recorded(run, self.folder / "out" / way)


@dataclass(frozen=True)
class Run:
    board: Board
    board_name: str
    instrument: Instrument
    parameters: Parameters
    job: Job
    cpus: int = 1


def recorded(run: Run, folder: Path) -> Path:
    """Its record, of seed 1."""
    outcome = run.board.run(run.job, seed=1, timeout_s=300)
    measured = run.instrument.read(run.parameters, outcome, cpus=run.cpus)
    assert measured.problems == (), measured.problems
    inputs = Inputs(
        candidate="late", instrument=run.instrument.name, load="none", board=run.board_name, cpus=run.cpus, seed=1,
        parameters=run.parameters.model_dump(mode="json"), job=run.job.as_inputs(), artefacts=run.board.artefacts(),
    )  # fmt: skip
    told = Provenance(rtqual="0", mission_sha256="", started=None, wall_s=None, command=list(outcome.command))
    return Store(folder / "records").write(make(inputs, measured, told, timing=Timing.UNTESTED, repeat=0))

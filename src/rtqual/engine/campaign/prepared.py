# SPDX-License-Identifier: MIT
"""What the boards of a campaign start: each candidate's kernel or image, prepared once."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from rtqual.base.apt import Package
from rtqual.base.architecture import AMD64, Architecture
from rtqual.base.errors import BadInput
from rtqual.engine.campaign import folder as kept
from rtqual.engine.campaign.cell import Cell
from rtqual.engine.campaign.feasible import image_of, never_ends, other_batteries
from rtqual.engine.campaign.guests import GUESTS, Guest, guest
from rtqual.engine.campaign.plan import own_parameters
from rtqual.engine.candidates.kernel import kernel_of
from rtqual.engine.candidates.ready import with_files
from rtqual.engine.initramfs.contents import guest_tools
from rtqual.engine.mission import Candidate, Mission
from rtqual.protocols.board.registry import Start, Starts
from rtqual.protocols.board.system import Kernel, Rtos
from rtqual.protocols.load.own import OwnLoad, load_of
from rtqual.protocols.part import keyed


class Prepared:
    """`entries`: for annexes, by their files, of how candidates came to be."""

    def __init__(self, mission: Mission) -> None:
        self._mission = mission
        self._ready: dict[str, Kernel | Rtos] = {}
        self._programs: dict[str, tuple[str, ...]] = {}
        self._here: dict[str, dict[str, Path]] = {}  # files over this machine's own
        self.entries: dict[str, list[object]] = {}

    def prepare(self, cells: Sequence[Cell], tell: Callable[[str], None]) -> None:
        """Everything that these cells' boards start."""
        wanted = {cell.candidate.name: cell for cell in cells if cell.place.starts}
        for name, why in other_batteries(cells).items():
            raise BadInput(f"candidate {name}: {why}")
        tools: dict[Architecture, list[Package]] = {}
        for name, candidate, starts in ((name, cell.candidate, cell.place.starts) for name, cell in wanted.items()):
            if starts is Starts.IMAGE:
                tell(f"{name} ({candidate.named})")
                self._ready[name] = image_of(candidate)
                self._tell_of(self._ready[name])
                continue
            architecture = candidate.architecture
            assert architecture is not None, "of a kernel"  # noqa: S101
            if architecture not in tools:
                tell(f"the guest's tools ({architecture.name})")
                tools[architecture] = guest_tools(architecture)
            instruments = [cell.instrument for cell in cells if cell.candidate == candidate]
            programs = {name for instrument in instruments for name in (instrument.program, *instrument.beside)}
            of = [cell for cell in cells if cell.candidate == candidate]
            kernel = self._kernel(candidate, tools[architecture], programs, tell)
            self._ready[name] = with_files(kernel, self._own_files(of, architecture))
            self._tell_of(self._ready[name])
            loads = {program for cell in of for program in load_of(cell.load, cell.shape).programs}
            self._programs[name] = tuple(sorted(programs | loads))

        for cell in cells:
            if cell.place.here and cell.candidate.name not in self._here:
                of = [other_cell for other_cell in cells if other_cell.candidate == cell.candidate]
                self._here[cell.candidate.name] = self._own_files(of, AMD64, here=True)

    def _tell_of(self, ready: Kernel | Rtos) -> None:
        """What it is made of; a candidate that is prepared again, for more instruments, is told once."""
        entries = self.entries.setdefault(GUESTS.file, [])
        entries[:] = [entry for entry in entries if isinstance(entry, Guest) and entry.candidate != ready.candidate]
        entries.append(guest(ready))

    def _kernel(
        self, candidate: Candidate, tools: Sequence[Package], programs: set[str], tell: Callable[[str], None]
    ) -> Kernel:
        kernel, entries = kernel_of(candidate, self._mission, tools, tell=tell, programs=programs)
        for file, entry in entries.items():
            self.entries.setdefault(file, []).append(entry)
        if candidate.root:
            tell(f"{candidate.name} (its {candidate.root} root)")
            under_root = keyed("roots", candidate.root, f'{candidate.name}: root = "{candidate.root}"')
            kernel = under_root(kernel, candidate.root, self._mission.mission.needs, tools)
        return kernel

    def _own_files(self, cells: Sequence[Cell], architecture: Architecture, *, here: bool = False) -> dict[str, Path]:
        """What the guests hold of the user's, or this machine."""
        files: dict[str, Path] = {}
        for parameters, instrument in {cell.parameters: cell.instrument for cell in cells}.items():
            files |= instrument.files(parameters, architecture, here=here)
        named = {cell.shape.program for cell in cells if isinstance(cell.shape, OwnLoad)}
        for program in self._mission.programs:
            if program.name in named:
                files |= self._mission.instrument(program.instrument).files(
                    own_parameters(self._mission, program), architecture, here=here
                )
        return files

    def start(self, candidate: Candidate, boot: int = 0) -> Start:
        """What the candidate's board is opened with; `boot`: of a kernel, which of those that the scale asks for."""
        name = candidate.name
        ready, programs, files = self._ready.get(name), self._programs.get(name, ()), self._here.get(name, {})
        ready = ready.booted(boot) if isinstance(ready, Kernel) else ready
        return Start(name, candidate.named, ready, held=kept.held, programs=programs, files=files)

    def never_ends(self, cell: Cell) -> str:
        """Why it would hang, as its image showed when it was tried; empty where nothing says so."""
        ready = self._ready.get(cell.candidate.name)
        return never_ends(cell, ready) if isinstance(ready, Rtos) else ""

    def sizes(self, candidate: Candidate) -> Mapping[str, str]:
        ready = self._ready.get(candidate.name)
        return ready.sizes if ready else {}

    def configs(self, before: Mapping[str, str | None]) -> dict[str, str | None]:
        """Kernel configurations by candidate: of kernels that were prepared, and of systems that are there already.

        `before`: of candidates that this machine is not now.
        """
        configs = {**before, **{n: system.config for n, system in self._ready.items() if isinstance(system, Kernel)}}
        places = [
            (candidate, candidate.place) for candidate in self._mission.candidates if candidate.name not in before
        ]
        return configs | {c.name: p.open(self.start(c)).config() for c, p in places if p and not p.starts}

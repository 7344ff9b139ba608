# SPDX-License-Identifier: MIT
"""A run of an emulated board made again from its hashed inputs, with the plugin that watches it."""

import base64
import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from rtqual.base.cache import cache_dir, kept
from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.boards import rtos_board, virtual
from rtqual.engine.boards.machine import ARM, emulator_for
from rtqual.engine.boards.parts import part
from rtqual.parts.explain import modules
from rtqual.parts.explain.image import of_image
from rtqual.parts.explain.processor import processor_of
from rtqual.parts.explain.spec import spec
from rtqual.parts.explain.symbols import Symbols
from rtqual.protocols.board import Board, Command, Job, JobOutcome, Machine, Recorded
from rtqual.protocols.board.registry import row_of
from rtqual.protocols.record.schema import Inputs, digest
from rtqual.stages.reproduced import machine_of

_TIMEOUT_S = 1200.0
_JOB = TypeAdapter(Job)
_SYMBOLS = "symbols"
# What comes back of a job is text.
_TELL_SYMBOLS = (
    "(grep -E ' [tTwW] | (init_task|__per_cpu_offset|current_task|pcpu_hot|__preempt_count)$' /proc/kallsyms"
    f" || sed 's/^/{modules.TOLD}/' /proc/modules) | gzip | base64 > {_SYMBOLS}"
)
_MOST_SYMBOLS_B = 64 << 20


class Again:
    """`named`: names of files that the run was started with, where its parts may lie."""

    def __init__(self, inputs: Inputs, named: Sequence[str], folder: Path, tell: Callable[[str], None]) -> None:
        self.inputs, self.named, self.folder, self.tell = inputs, tuple(named), folder, tell
        row = row_of(inputs.board, inputs.artefacts)
        assert row is not None, "it was asked for"  # noqa: S101
        self.architecture = row.architecture
        if row.architecture:
            self.processor = processor_of(row.architecture.name)
        else:
            self.processor, self._of_image = of_image(part("image", inputs.artefacts, self.named).read_bytes())
        try:
            self.job = _JOB.validate_python(inputs.job)
        except ValidationError:
            raise BadInput("this rtqual cannot make its job: use the version that measured it") from None
        self.machine = machine_of(inputs, lambda machine: self.board(machine).artefacts())

    def board(self, machine: Machine, watch: Sequence[str] = ()) -> Board:
        """With another plugin beside the clock's, where asked."""
        return (
            self.linux(machine, watch) if self.architecture else rtos_board.anew(self._recorded(machine), watch=watch)
        )

    def linux(self, machine: Machine, watch: Sequence[str] = ()) -> virtual.VirtualBoard:
        assert self.architecture is not None, "of a guest"  # noqa: S101
        return virtual.again(self._recorded(machine), self.architecture, watch=watch)

    def _recorded(self, machine: Machine) -> Recorded:
        return Recorded(self.job, self.inputs.seed, machine, self.inputs.artefacts, self.named, self.folder)

    def watcher(self, symbols: Symbols, windows: Sequence[tuple[int, int]] = ()) -> tuple[Sequence[str], Path]:
        """The plugin's options, and where its log will be."""
        asked, log = self.folder / "spec", self.folder / "log"
        asked.write_text(spec(self.processor, symbols, windows))
        emulator = emulator_for(self.architecture) if self.architecture else ARM
        return (f"file={emulator.plugin('rtqual-watch')}", f"spec={asked}", f"log={log}"), log

    def outcome(self, board: Board, job: Job) -> JobOutcome:
        """Raises RunFailed where the run fails."""
        with taken():
            return board.run(job, seed=self.inputs.seed, timeout_s=_TIMEOUT_S)

    def symbols(self) -> Symbols:
        """Where functions lie once the job's modules are loaded, told by the guest itself in a run of its own."""
        if not self.architecture:
            return self._of_image
        measure = Command(("sh", "-c", _TELL_SYMBOLS))
        before = replace(self.job, loads=(), version=(), measure=measure, collect=(_SYMBOLS,))
        known = digest([self.inputs.artefacts, before.as_inputs()])

        def make(fresh: Path) -> None:
            self.tell("asks the guest for the addresses of its functions")
            fresh.write_bytes(_packed(self.outcome(self.board(self.machine), before).files.get(_SYMBOLS, "")))

        told = _unpacked(kept(cache_dir() / "symbols" / f"{known[:32]}.gz", make))
        of_modules = modules.functions(told, part("initramfs", self.inputs.artefacts, self.named))
        return Symbols.read(told + self._map() + of_modules + self.processor.own)

    def _map(self) -> str:
        """Of a kernel that tells nothing itself, what was kept when it was built; Debian's is a note of one line."""
        image = part("kernel", self.inputs.artefacts, self.named)
        kept = sorted(image.parent.glob("System.map*"))
        return kept[0].read_text(errors="replace") if kept else ""


@contextmanager
def taken() -> Iterator[None]:
    """Whether QEMU takes the plugin. Raises BadInput where it does not."""
    try:
        yield
    except RunFailed as error:
        if "Could not load plugin" in str(error):
            raise BadInput(
                f"this QEMU does not take the plugin that watches ({error}): install Debian 12's qemu-system-x86 "
                "and qemu-system-arm"
            ) from None
        raise


def _packed(text: str) -> bytes:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except ValueError:
        raise RunFailed("the guest's list of symbols was damaged on its way: run it again") from None


def _unpacked(file: Path) -> str:
    try:
        with gzip.open(file) as content:
            return content.read(_MOST_SYMBOLS_B).decode("ascii", "replace")
    except (OSError, EOFError, zlib.error) as error:
        raise BadInput(f"{file}: damaged ({error}): delete it") from None

# SPDX-License-Identifier: MIT
"""Where a run stands that hung: it is made again, and once it has taken as much as a hang does it is looked at from
outside of the guest, some hundred times while it goes on.

The plugin that watches says who runs since when and whether interrupts come; QEMU's monitor says where each CPU is, and
what lies on its stack. A stack is read word by word, so functions that have returned may be among its calls.
"""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from qemu.qmp import QMPClient

from rtqual.base.errors import BadInput
from rtqual.base.scratch import scratch
from rtqual.engine.boards.virtual import console_end
from rtqual.engine.campaign import trusted
from rtqual.engine.campaign.lost import LOST, Lost, lost_in
from rtqual.parts.explain import trace
from rtqual.parts.explain.again import Again, taken
from rtqual.parts.explain.symbols import Symbols
from rtqual.protocols.board.registry import row_of
from rtqual.protocols.record.schema import Inputs
from rtqual.protocols.record.store import Store, read_manifest

AFTER_S = 30.0  # of processor time: a run that hung took at least twice as much (Cell.timeout_s)
_LOOKS, _WORDS, _MOST_CALLS, _LINES = 200, 128, 12, 8
_AT = re.compile(r"^CPU#(\d+)|\b(?:RIP|PC)=([0-9a-f]{16})", re.MULTILINE)
_WORD = re.compile(r"0x([0-9a-f]{16})")


@dataclass(frozen=True)
class Stands:
    """Where a CPU is."""

    cpu: int
    thread: str  # who runs there; empty where the run has not switched since it was restored
    since_ns: int  # guest time without another thread there
    interrupts: int  # that came meanwhile
    places: tuple[tuple[str, float], ...]  # functions, and the share of the looks that found the CPU in each
    calls: tuple[str, ...]  # of the kernel's functions on its stack, the innermost first


@dataclass(frozen=True)
class Hung:
    """A run that hangs."""

    run: str
    candidate: str
    instrument: str
    load: str
    cpus: int
    seed: int
    reasons: tuple[str, ...]  # why it left no record, each time
    guest_ns: int  # guest time since the job was begun or the guest was saved
    stands: tuple[Stands, ...]
    console: tuple[str, ...]  # its last lines


def is_lost(path: Path) -> bool:
    """Whether a user means a run that left no record: its file in a campaign's folder."""
    return path.parent.name == LOST and path.suffix == ".json"


def stands(path: Path, tell: Callable[[str], None] = lambda _: None, *, after_s: float = AFTER_S) -> Hung:
    """Raises BadInput where it cannot be made again, RunFailed where it ends this time."""
    lost = lost_in(path.parent.parent, [path.stem]).get(path.stem)
    if lost is None:
        raise BadInput(f"{path}: no such run: the folder {LOST}/ of a campaign has those that left no record")
    if lost.inputs is None:
        raise BadInput(f"{path}: was noted by an older rtqual, which did not say what it ran: run its campaign again")
    row = row_of(lost.inputs.board, lost.inputs.artefacts)
    if row is None or row.rebuilt is None or not row.linux or row.modelled:
        raise BadInput(
            f"{path}: a run on the {lost.inputs.board} board; Linux on a virtual board alone can be looked at"
        )
    with scratch() as folder:
        try:
            trusted.require_record(lost.inputs, path.stem)
            run = Again(lost.inputs, _named(path.parent.parent, lost.inputs), folder, tell)
            return _looked_at(path.stem, lost, lost.inputs, run, after_s)
        except BadInput as error:
            raise BadInput(f"{path}: {error}") from None


def _named(folder: Path, inputs: Inputs) -> Sequence[str]:
    """Of the files that other runs of its candidate were started with."""
    records = map(read_manifest, Store(folder / "records").paths())
    commands = [manifest.provenance.command for manifest in records if manifest.inputs.candidate == inputs.candidate]
    return [Path(word).name for command in commands[:1] for word in command]


def _looked_at(name: str, lost: Lost, inputs: Inputs, run: Again, after_s: float) -> Hung:
    symbols = run.symbols()
    plugin, log = run.watcher(symbols)
    seen: list[str] = []
    stacks: dict[int, list[int]] = {}

    async def look(monitor: QMPClient) -> None:
        for number in range(_LOOKS):
            await monitor.execute("stop")
            seen.append(await _said(monitor, "info registers -a"))
            if number == _LOOKS - 1:
                for cpu in range(inputs.cpus):
                    text = await _said(monitor, f"x/{_WORDS}gx $sp", cpu)
                    stacks[cpu] = [int(word, 16) for word in _WORD.findall(text)]
            await monitor.execute("cont")

    run.tell(f"makes the run again, and looks at it after {after_s:.0f} s of processor time")
    with taken():
        console = run.linux(run.machine, plugin).left_standing(run.job, inputs.seed, after_s, look)
    watched = trace.read(log)
    return Hung(
        run=name,
        candidate=inputs.candidate,
        instrument=inputs.instrument,
        load=inputs.load,
        cpus=inputs.cpus,
        seed=inputs.seed,
        reasons=tuple(dict.fromkeys(lost.alone)),
        guest_ns=watched.ended_ns - int(watched.ns[0]),
        stands=tuple(_stands(cpu, watched, symbols, seen, stacks.get(cpu, [])) for cpu in range(inputs.cpus)),
        console=tuple(console_end(console, _LINES)),
    )


def _stands(cpu: int, watched: trace.Trace, symbols: Symbols, seen: Sequence[str], stack: Sequence[int]) -> Stands:
    thread, since_ns, interrupts = watched.standing(cpu)
    places = [_places(text).get(cpu) for text in seen]
    found = Counter(_function(place, symbols) for place in places if place is not None)
    shares = tuple((name, times / len(seen)) for name, times in found.most_common(_MOST_CALLS))
    calls = [name for word in stack if word >= symbols.functions[0][0] and (name := symbols.named(word))]
    told = tuple(dict.fromkeys(calls))[:_MOST_CALLS]
    return Stands(cpu, str(thread) if thread else "", since_ns, interrupts, shares, told)


def _places(registers: str) -> dict[int, int]:
    """Where each CPU is, of QEMU's text on all of them."""
    cpu = 0
    found: dict[int, int] = {}
    for number, place in _AT.findall(registers):
        cpu = int(number) if number else cpu
        if place:
            found.setdefault(cpu, int(place, 16))
    return found


def _function(place: int, symbols: Symbols) -> str:
    if place < symbols.functions[0][0]:
        return "user space"
    return symbols.named(place) or "code without a name"


async def _said(monitor: QMPClient, line: str, cpu: int | None = None) -> str:
    asked: dict[str, object] = {"command-line": line, **({} if cpu is None else {"cpu-index": cpu})}
    return str(await monitor.execute("human-monitor-command", asked))

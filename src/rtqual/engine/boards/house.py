# SPDX-License-Identifier: MIT
"""The boards that rtqual brings, a row each."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from rtqual.base.architecture import AMD64, ARM64, ARMHF, Architecture
from rtqual.engine.boards import rtos_board, virtual_pi
from rtqual.engine.boards.local import LocalBoard, processors
from rtqual.engine.boards.machine import PI_3, why_no_guest, why_no_model
from rtqual.engine.boards.modelled import Model, models
from rtqual.engine.boards.rtos_board import RtosBoard
from rtqual.protocols.board import Board, Rebuilt, Recorded
from rtqual.protocols.board.registry import (
    BUILT,
    PACKAGE,
    TAILOR,
    BoardProgram,
    BoardRow,
    CandidateKind,
    Clock,
    Start,
    Starts,
    leading,
    name_with,
)
from rtqual.protocols.board.system import Kernel, Rtos


def _virtual(start: Start, model: Model | None = None) -> Board:
    from rtqual.engine.boards.virtual import VirtualBoard  # noqa: PLC0415 - qemu.qmp is slow to load

    assert isinstance(start.system, Kernel), "it was prepared"  # noqa: S101
    return VirtualBoard(start.system, start.machine, start.scratch, used=start.used, model=model)


def _pi_3(start: Start) -> Board:
    from rtqual.engine.boards.virtual import VirtualBoard  # noqa: PLC0415 - as above

    assert isinstance(start.system, Kernel), "it was prepared"  # noqa: S101
    kernel, tree = virtual_pi.guest(start.system), virtual_pi.device_tree(start.system)
    return VirtualBoard(kernel, start.machine, start.scratch, used=start.used, emulator=PI_3, device_tree=tree)


def _rtos(start: Start) -> Board:
    assert isinstance(start.system, Rtos), "it was prepared"  # noqa: S101
    return RtosBoard(start.system)


def _replay(start: Start) -> Board:
    from rtqual.engine.boards.replay import ReplayBoard  # noqa: PLC0415 - so is duckdb

    assert start.held is not None, "a campaign opens it"  # noqa: S101
    return ReplayBoard(start.named, start.machine.cpus, of=leading()[0], held=start.held)


def _rebuilt(run: Recorded, architecture: Architecture, model: Model | None = None) -> Rebuilt:
    from rtqual.engine.boards.virtual import rebuilt  # noqa: PLC0415

    return rebuilt(run, architecture, model)


def _emulated_s(_: float, busy_s: float, cpus: int) -> float:
    """Seen on two cores at 3 GHz: a guess until cells have run. CPUs share the clock, and take turns."""
    return 1.0 + 4.0 * busy_s * math.sqrt(cpus)


def _of_kernels(
    name: str,
    architecture: Architecture,
    *programs: BoardProgram,
    lacks: tuple[str, ...],
    leads: bool = False,
) -> BoardRow:
    """QEMU's machine for kernels of a processor (machine.py)."""
    return BoardRow(
        name, (PACKAGE, TAILOR, BUILT), _virtual, _emulated_s, Starts.KERNEL, architecture,
        Clock.INSTRUCTIONS, leads=leads, lacks=lacks,
        why_not=lambda _: why_no_guest(architecture), programs=programs,
        rebuilt=partial(_rebuilt, architecture=architecture),
    )  # fmt: skip


_MODELLED_TIMES = 2.0  # what a model costs of the host's time, and once for each CPU


def _modelled(row: BoardRow) -> Iterator[BoardRow]:
    """The board with each model's memory, which a plan names; no candidate comes there by itself."""
    assert row.architecture, "it runs kernels"  # noqa: S101
    for model in models().values():
        yield replace(
            row, name=name_with(row.name, model.name), runs=(), open=partial(_virtual, model=model),
            wall_s=lambda board_s, busy_s, cpus: _emulated_s(board_s, _MODELLED_TIMES * cpus * busy_s, cpus),
            leads=False, modelled=model.name, programs=(), why_not=lambda _: why_no_model(row.architecture),
            rebuilt=partial(_rebuilt, architecture=row.architecture, model=model),
        )  # fmt: skip


_EMULATED = (
    _of_kernels(
        "virtual",
        AMD64,
        BoardProgram("setpriv", "util-linux", "virtual board", demo=True),
        BoardProgram("cpio", "cpio", "virtual board: guest image", demo=True),
        BoardProgram("depmod", "kmod", "virtual board: guest image", demo=True),
        BoardProgram("mke2fs", "e2fsprogs", "virtual board: disks", demo=True),
        lacks=("spi", "gpio"),
        leads=True,
    ),
    _of_kernels("virtual-arm64", ARM64, lacks=("i2c", "spi")),
    _of_kernels(
        "virtual-arm",
        ARMHF,
        BoardProgram("qemu-system-arm", "qemu-system-arm", "virtual ARM board"),
        BoardProgram(
            "arm-linux-gnueabihf-gcc", "gcc-arm-linux-gnueabihf", "virtual ARM board: our programs in its guests"
        ),
        lacks=("i2c", "spi"),
    ),
)
BOARDS = (
    *_EMULATED,
    *(modelled for row in _EMULATED for modelled in _modelled(row)),
    replace(_of_kernels("virtual-pi3", ARM64, lacks=("i2c", "spi")), open=_pi_3, by_name=True, bare=True),
    BoardRow(
        "virtual-arm",
        (
            CandidateKind("image", 'image = "PATH"', "image that says what it is",
                          "image, which is one file with its kernel"),
            CandidateKind("rtos", 'rtos = "freertos"', "image with rtqual's probe",
                          "rtos, which is one image with its kernel"),
        ),
        _rtos, _emulated_s, Starts.IMAGE, clock=Clock.INSTRUCTIONS, linux=False,
        cpus=lambda: 1, why_cpus="{} runs on one CPU here", rebuilt=rtos_board.rebuilt, outcome=rtos_board.again,
    ),
    BoardRow(
        "replay",
        (CandidateKind(
            "replay", 'replay = "FOLDER/CANDIDATE"', "records of {}", "replay, whose runs are recorded",
            r".+/[a-z0-9][a-z0-9-]*", "a campaign's folder and a candidate, as 'out/docking-demo/debian-rt'",
            'A candidate of a campaign that ended, as "out/docking-demo/debian-rt": its records are taken, '
            "nothing runs.",
        ),),
        _replay, lambda *_: 0.1, clock=Clock.RECORDED,
        why_not=lambda named: "" if (folder := Path(named).parent).is_dir() else f"there is no campaign at {folder}",
        why_not_again="its run was replayed: reproduce the record that its command shows",
    ),
    BoardRow(
        "local",
        (CandidateKind(
            "this-machine", "this-machine = true", "this machine as it runs", "this-machine = true, which runs as it is"
        ),),
        lambda start: LocalBoard(start.files), lambda board_s, *_: board_s + 0.3, here=True, leads=True,
        cpus=lambda: len(processors()), why_cpus="this machine runs with the CPUs it has",
    ),
)  # fmt: skip

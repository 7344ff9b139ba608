# SPDX-License-Identifier: MIT
"""The table of boards, and that what it says decides whether a record can be reproduced."""

import re
from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64, ARM64, ARMHF
from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.boards.house import BOARDS
from rtqual.engine.boards.virtual import VirtualBoard
from rtqual.engine.campaign.cell import with_load
from rtqual.engine.instruments.cyclictest.measure import CYCLICTEST, CyclictestParameters
from rtqual.protocols.board import Machine
from rtqual.protocols.board.registry import PACKAGE, Start, kinds, order, row_for, row_of
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.load.own import shape_of
from rtqual.protocols.record.schema import Inputs, Measurement, Provenance, Timing
from rtqual.protocols.record.store import Store, make
from rtqual.stages.reproduced import reproduce

PARAMETERS = CyclictestParameters(cycles=10)
JOB = with_load(CYCLICTEST.job(PARAMETERS, cpus=1, seed=1), "none", None)
SOURCES = Path(__file__).parents[3] / "src/rtqual"


def test_a_kernel_runs_on_the_board_of_its_processor() -> None:
    names = [row_for(PACKAGE, one).name for one in (AMD64, ARM64, ARMHF)]
    assert names == ["virtual", "virtual-arm64", "virtual-arm"]
    (rtos,) = (kind for kind in kinds() if kind.key == "rtos")
    assert row_for(rtos, None).name == "virtual-arm"


def test_two_boards_of_a_name_are_told_apart_by_what_they_start() -> None:
    kernel, image = (row_of("virtual-arm", {what: "c0ffee"}) for what in ("kernel", "image"))
    assert kernel and image and kernel.linux and not image.linux
    assert row_of("unheard-of") is None


def test_a_board_of_kernels_notes_the_code_that_ran_where_it_is_asked_to(tmp_path: Path) -> None:
    kernel = Kernel("x", tmp_path, tmp_path, tmp_path, (), "", "", "", "", 0, 0)
    opened = row_for(PACKAGE, AMD64).open(Start("x", system=kernel, scratch=tmp_path, used=tmp_path / "used"))
    assert isinstance(opened, VirtualBoard) and opened._used == tmp_path / "used"


def test_the_boards_that_lead_come_first_and_others_by_name() -> None:
    boards = ["imported", "virtual-arm", "local", "replay", "virtual"]
    assert sorted(boards, key=order) == ["virtual", "local", "imported", "replay", "virtual-arm"]


def test_nothing_else_names_a_board() -> None:
    name = re.compile("|".join(rf'"{row.name}"' for row in BOARDS))
    named = {path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py") if name.search(path.read_text())}
    assert named == {"engine/boards/house.py"}
    modules = "|".join(path.stem for path in (SOURCES / "engine/boards").glob("*.py") if "(Board):" in path.read_text())
    opened = re.compile(rf"rtqual\.engine\.boards\.(?:{modules}) import .*\w+Board\b")
    named = {path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py") if opened.search(path.read_text())}
    assert named == {"engine/boards/house.py"}


@pytest.mark.parametrize(
    ("board", "artefacts", "said"),
    [
        ("virtual-arm64", {"kernel": "c0ffee"}, r"its kernel \(sha256 c0ffee...\) is not in rtqual's cache"),
        ("virtual-arm", {"image": "c0ffee"}, r"its image \(sha256 c0ffee...\) is not in rtqual's cache"),
        ("local", {"kernel": ""}, "a run on the local board cannot give the same samples twice"),
        ("imported", {}, "others made its run: import their file again"),
    ],
)
def test_what_counts_instructions_can_be_reproduced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, board: str, artefacts: dict[str, str], said: str
) -> None:
    inputs = Inputs(
        candidate="x", instrument="cyclictest", load="none", board=board, cpus=1, seed=1, artefacts=artefacts,
        parameters=PARAMETERS.model_dump(), job=JOB.as_inputs(),
    )  # fmt: skip
    made = Provenance(rtqual="1", mission_sha256="", started=None, wall_s=None, command=["sh", "-c", "touch ran"])
    path = Store(tmp_path).write(make(inputs, Measurement(), made, timing=Timing.UNTESTED, repeat=0))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(BadInput, match=said):
        reproduce(path, [].append)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("load", "table"), [("none", {}), ("hackbench", {"groups": 2})])
def test_what_a_record_says_of_its_command_is_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, load: str, table: dict[str, int]
) -> None:
    """Every part is here, so that a command is run: one that is made of the inputs, also of a load that the mission
    shaped."""
    shape = shape_of(load).model_validate(table)
    job = with_load(CYCLICTEST.job(PARAMETERS, cpus=1, seed=1), load, shape if table else None)
    cache = tmp_path / "rtqual"
    for name, content in (("unpacked/x/boot/vmlinuz-1", "kernel"), ("initramfs/x.cpio", "initramfs")):
        (cache / name).parent.mkdir(parents=True)
        (cache / name).write_text(content)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    image, initramfs = cache / "unpacked/x/boot/vmlinuz-1", cache / "initramfs/x.cpio"
    kernel = Kernel("", image, initramfs, initramfs, ("a=b",), "", "", "", "", 0, 0)
    artefacts = VirtualBoard(kernel, Machine(), tmp_path / "scratch").artefacts()
    inputs = Inputs(
        candidate="x", instrument="cyclictest", load=load, board="virtual", cpus=1, seed=1, artefacts=artefacts,
        parameters={**PARAMETERS.model_dump(), **shape.told}, job=job.as_inputs(),
    )  # fmt: skip
    made = Provenance(rtqual="1", mission_sha256="", started=None, wall_s=None, command=["sh", "-c", "touch ran"])
    path = Store(tmp_path).write(make(inputs, Measurement(), made, timing=Timing.UNTESTED, repeat=0))
    shown: list[str] = []
    with pytest.raises(RunFailed, match="gave no result"):
        reproduce(path, shown.append)
    assert not list(tmp_path.rglob("ran"))
    assert shown[0].startswith("qemu-system-x86_64 ") and "tsc=reliable a=b" in shown[0] and "touch" not in shown[0]
    artefacts = {**artefacts, "machine": "-device ivshmem"}
    path = Store(tmp_path).write(
        make(inputs.model_copy(update={"artefacts": artefacts}), Measurement(), made, timing=Timing.UNTESTED, repeat=0)
    )
    with pytest.raises(BadInput, match=r"its machine was '-device ivshmem', here it is '-machine pc"):
        reproduce(path, [].append)

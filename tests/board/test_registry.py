# SPDX-License-Identifier: MIT
"""The table of boards, and that what it says decides whether a record can be reproduced."""

import re
from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64, ARM64, ARMHF
from rtqual.base.errors import BadInput
from rtqual.board.registry import BOARDS, order, row_for, row_of
from rtqual.record.schema import Inputs, Measurement, Provenance, Timing
from rtqual.record.store import Store, make
from rtqual.stage.reproduce import reproduce

SOURCES = Path(__file__).parents[2] / "src/rtqual"


def test_a_kernel_runs_on_the_board_of_its_processor() -> None:
    names = [row_for("package", one).name for one in (AMD64, ARM64, ARMHF)]
    assert names == ["virtual", "virtual-arm64", "virtual-arm"]
    assert row_for("rtos", None).name == "virtual-arm"


def test_two_boards_of_a_name_are_told_apart_by_what_they_start() -> None:
    kernel, image = (row_of("virtual-arm", {what: "c0ffee"}) for what in ("kernel", "image"))
    assert kernel and image and kernel.linux and not image.linux
    assert row_of("imported") is None


def test_the_boards_that_lead_come_first_and_others_by_name() -> None:
    boards = ["imported", "virtual-arm", "local", "replay", "virtual"]
    assert sorted(boards, key=order) == ["virtual", "local", "imported", "replay", "virtual-arm"]


def test_nothing_else_names_a_board() -> None:
    name = re.compile("|".join(rf'"{row.name}"' for row in BOARDS if row.name != "replay"))
    named = {path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py") if name.search(path.read_text())}
    assert named == {"board/registry.py"}


@pytest.mark.parametrize(
    ("board", "artefacts", "said"),
    [
        ("virtual-arm64", {"kernel": ""}, "its command needs /nowhere/qemu, which is gone"),
        ("virtual-arm", {"image": ""}, "its command needs /nowhere/qemu, which is gone"),
        ("local", {"kernel": ""}, "a run on the local board cannot give the same samples twice"),
        ("imported", {}, "a run on the imported board cannot give the same samples twice"),
    ],
)
def test_what_counts_instructions_can_be_reproduced(
    tmp_path: Path, board: str, artefacts: dict[str, str], said: str
) -> None:
    inputs = Inputs(
        candidate="x", instrument="cyclictest", load="none", board=board, cpus=1, seed=1, artefacts=artefacts
    )
    made = Provenance(rtqual="1", mission_sha256="", started=None, wall_s=None, command=["/nowhere/qemu"])
    path = Store(tmp_path).write(make(inputs, Measurement(), made, timing=Timing.UNTESTED, repeat=0))
    with pytest.raises(BadInput, match=said):
        reproduce(path)

# SPDX-License-Identifier: MIT
"""The virtual Raspberry Pi 3: which candidates run there, and (`make test-full`) that its runs repeat."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from rtqual.base.architecture import ARM64
from rtqual.base.errors import BadInput
from rtqual.engine.boards import virtual_pi
from rtqual.engine.boards.machine import PI_3
from rtqual.engine.mission import load_mission
from rtqual.protocols.board import Machine
from rtqual.protocols.board.registry import PACKAGE, row_for, row_of
from rtqual.protocols.board.system import Kernel
from rtqual.protocols.record.schema import Timing
from rtqual.protocols.record.store import Store, read
from support import device_trees
from support.command import Fails, Run

NAME = "virtual-pi3"
_MISSION = """\
[mission]
name = "pi"
title = "Which kernel?"
purpose = "Tries the board."
duration = "1 min"

[[candidate]]
name = "rt"
title = "Debian, PREEMPT_RT kernel"
package = "linux-image-rt-arm64"
board = "virtual-pi3"

[[candidate]]
name = "rt-virt"
title = "The same on QEMU's own board"
package = "linux-image-rt-arm64"

[parameters.cyclictest]
interval = "1 ms"
cycles = 100

[[scale.demo.plan]]
candidates = ["rt"]
instruments = ["cyclictest"]
loads = ["none"]
cpus = [1, 4]
runs = 2
"""


def _mission(folder: Path, *changes: tuple[str, str]) -> Path:
    text = _MISSION
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path = folder / "pi.toml"
    path.write_text(text)
    return path


def test_a_candidate_names_its_board_or_gets_its_processors(tmp_path: Path) -> None:
    mission = load_mission(_mission(tmp_path))
    assert [candidate.board for candidate in mission.candidates] == [NAME, "virtual-arm64"]
    assert row_for(PACKAGE, ARM64).name == "virtual-arm64"
    named = load_mission(_mission(tmp_path, ('board = "virtual-pi3"', 'board = "virtual-arm64"')))
    assert {candidate.board for candidate in named.candidates} == {"virtual-arm64"}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("virtual-pi3", "virtual-pi4", '"virtual-pi4" does not run rt; write virtual-arm64 or virtual-pi3'),
        ("-rt-arm64", "-rt-amd64", '"virtual-pi3" does not run rt; write virtual'),
        ('["cyclictest"]', '["sysbench-fileio-root"]', "which virtual-pi3 has not"),
    ],
)
def test_what_the_board_does_not_run_is_told_where_it_stands(
    fails: Fails, tmp_path: Path, before: str, after: str, said: str
) -> None:
    path = _mission(tmp_path, (before, after))
    assert said in fails(2, "mission", "check", path)


def test_qemu_is_started_as_that_board(tmp_path: Path) -> None:
    options = PI_3.options(Machine(cpus=2))
    given = list(pairwise(options))
    assert ("-machine", "raspi3b") in given and ("-m", "1024M") in given and "-smp" not in options
    assert ("-global", "bcm2837.enabled-cpus=2") in given, "others would spin"
    assert "maxcpus=2" in PI_3.kernel_parameters(Machine(cpus=2))
    row = row_of(NAME)
    assert row and row.by_name and row.repeats


def test_a_kernel_without_the_boards_device_tree_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    image = tmp_path / "tree/boot/vmlinuz-6.1"
    kernel = Kernel("mine", image, image, image, (), "", "6.1", "", "", 0, 0, ARM64)
    with pytest.raises(BadInput, match=r"candidate mine: the kernel 6.1 brings no bcm2837-rpi-3-b.dtb"):
        virtual_pi.device_tree(kernel)
    tree = tmp_path / "tree/usr/lib/linux-image-6.1/broadcom" / PI_3.device_tree
    tree.parent.mkdir(parents=True)
    tree.write_bytes(device_trees.write({"chosen": {}, "model": b"Raspberry Pi 3 Model B\0"}))
    seeded = virtual_pi.device_tree(kernel)
    chosen = device_trees.read(seeded.read_bytes())["chosen"]
    assert isinstance(chosen, dict) and len(chosen["rng-seed"]) == 64
    assert virtual_pi.device_tree(replace(kernel, candidate="other")) == seeded, "kept"
    tree.write_bytes(b"")
    with pytest.raises(BadInput, match=r"candidate mine: .*: it is a damaged device tree"):
        virtual_pi.device_tree(kernel)


@pytest.mark.full
@pytest.mark.guest
def test_its_runs_repeat_with_one_and_four_cpus_and_uninterrupted(rtqual: Run, tmp_path: Path) -> None:
    """Some 60 s of processor time. The campaign makes the first run of each twice; one is made again by its record."""
    out = tmp_path / "out"
    done = rtqual("select", _mission(tmp_path), "--out", out, "--json")
    assert done.returncode == 0 and json.loads(done.stdout)["failures"] == {}, done.stderr
    records = {path: read(path).manifest for path in Store(out / "records").paths()}
    assert {(record.inputs.cpus, record.inputs.board) for record in records.values()} == {(1, NAME), (4, NAME)}
    for record in records.values():
        assert record.timing is Timing.INSTRUCTIONS and record.problems == [], record.problems
    made = next(path for path, record in records.items() if record.inputs.cpus == 1)
    again = rtqual("reproduce", made)
    assert again.returncode == 0 and "the same samples" in again.stdout, again.stdout + again.stderr

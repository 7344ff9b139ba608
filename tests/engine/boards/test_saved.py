# SPDX-License-Identifier: MIT
"""Booted guests in the cache: made once, never restored damaged, removed when nobody uses them."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.base.sparse import copy_sparse
from rtqual.engine.boards.saved import saved

MEMORY_B = 8 * 2**20
WAITS = """
import sys, time
from pathlib import Path
from rtqual.engine.boards.saved import saved
def make(folder):
    (folder / "memory").write_bytes(b"half")
    print("making", flush=True)
    time.sleep(1000)
saved(Path(sys.argv[1]), "a", make)
"""
USES = """
import sys, time
from pathlib import Path
from rtqual.engine.boards.saved import saved
one = saved(Path(sys.argv[1]), "a", lambda _: sys.exit("it is there"))
print("using", flush=True)
time.sleep(1000)
"""


class Boots:
    """Makes guests, and counts them."""

    def __init__(self) -> None:
        self.made = 0

    def __call__(self, folder: Path) -> None:
        self.made += 1
        memory = os.memfd_create("guest")
        os.truncate(memory, MEMORY_B)
        os.pwrite(memory, b"kernel", 3 * 2**20 + 5)
        os.pwrite(memory, os.urandom(2**20), 5 * 2**20)
        copy_sparse(memory, folder / "memory")
        os.close(memory)
        (folder / "devices").write_bytes(b"devices")


@pytest.fixture
def started() -> Callable[[str, Path], "subprocess.Popen[str]"]:
    def start(program: str, folder: Path) -> "subprocess.Popen[str]":
        process = subprocess.Popen([sys.executable, "-c", program, folder], stdout=subprocess.PIPE, text=True)
        assert process.stdout and process.stdout.readline().strip() in ("making", "using")
        return process

    return start


def test_a_guest_is_made_once_and_its_zeros_take_no_room(tmp_path: Path) -> None:
    boots = Boots()
    first, second = saved(tmp_path, "a", boots), saved(tmp_path, "a", boots)
    assert boots.made == 1
    assert first.memory == second.memory
    content = first.memory.read_bytes()
    assert len(content) == MEMORY_B and content[3 * 2**20 + 5 :].startswith(b"kernel")
    assert first.memory.stat().st_blocks * 512 < MEMORY_B / 2
    assert saved(tmp_path, "b", boots).memory != first.memory
    assert boots.made == 2


@pytest.mark.parametrize("damage", ["memory", "hole", "cut", "devices", "sums", "used"])
def test_a_damaged_guest_is_made_again(damage: str, tmp_path: Path) -> None:
    boots = Boots()
    one = saved(tmp_path, "a", boots)
    one.release()
    if damage in ("memory", "hole"):
        with one.memory.open("r+b") as file:
            file.seek(5 * 2**20 + 77 if damage == "memory" else 0)
            file.write(b"x")
    elif damage == "cut":
        os.truncate(one.memory, MEMORY_B - 2**20)
    elif damage == "devices":
        one.devices.write_bytes(b"Devices")
    elif damage == "sums":
        one.memory.with_name("sums").write_text("{")
    else:
        one.memory.with_name("used").unlink()
    again = saved(tmp_path, "a", boots)
    assert boots.made == 2
    assert again.devices.read_bytes() == b"devices"
    assert again.memory.stat().st_size == MEMORY_B


@pytest.mark.parametrize("how", ["copied", "linked", "a file"])
def test_a_guest_under_anothers_name_is_not_that_guest(how: str, tmp_path: Path) -> None:
    boots = Boots()
    for name in ("a", "b"):
        saved(tmp_path, name, boots).release()
    shutil.rmtree(tmp_path / "a")
    if how == "copied":
        shutil.copytree(tmp_path / "b", tmp_path / "a")
    elif how == "linked":
        (tmp_path / "a").symlink_to(tmp_path / "b")
    else:
        (tmp_path / "a").write_text("")
    saved(tmp_path, "a", boots).release()
    assert boots.made == 3
    assert not (tmp_path / "a").is_symlink()


def test_those_that_were_not_used_for_longest_go_and_those_in_use_stay(tmp_path: Path) -> None:
    boots = Boots()
    held = saved(tmp_path, "a", boots)
    for name in ("b", "c"):
        saved(tmp_path, name, boots).release()
    saved(tmp_path, "b", boots).release()  # used after c
    os.utime(tmp_path / "a" / "used", ns=(0, 0))
    size_b = sum(file.stat().st_blocks * 512 for file in (tmp_path / "a").iterdir())
    saved(tmp_path, "d", boots, at_most_b=3 * size_b + 4096)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["a", "b", "d"]
    held.release()
    saved(tmp_path, "e", boots, at_most_b=1)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["e"]


def test_what_another_process_uses_is_not_removed(
    tmp_path: Path, started: Callable[[str, Path], "subprocess.Popen[str]"]
) -> None:
    boots = Boots()
    saved(tmp_path, "a", boots).release()
    with started(USES, tmp_path) as user:
        saved(tmp_path, "b", boots, at_most_b=1)
        assert (tmp_path / "a" / "memory").exists()
        user.kill()
    saved(tmp_path, "c", boots, at_most_b=1)
    assert not (tmp_path / "a").exists()


def test_a_killed_boot_is_made_again_and_leaves_nothing(
    tmp_path: Path, started: Callable[[str, Path], "subprocess.Popen[str]"]
) -> None:
    with started(WAITS, tmp_path) as maker:
        maker.send_signal(signal.SIGKILL)
    assert (tmp_path / "a.part" / "memory").exists()
    boots = Boots()
    saved(tmp_path, "b", boots)
    assert not (tmp_path / "a.part").exists()
    saved(tmp_path, "a", boots)
    assert boots.made == 2


def test_two_at_once_make_one_guest(tmp_path: Path) -> None:
    boots, together = Boots(), threading.Barrier(4)

    def one(_: int) -> Path:
        together.wait()
        return saved(tmp_path, "a", boots).memory

    with ThreadPoolExecutor(4) as pool:
        assert len(set(pool.map(one, range(4)))) == 1
    assert boots.made == 1


def test_a_boot_that_fails_leaves_nothing_and_is_tried_again(tmp_path: Path) -> None:
    def fails(folder: Path) -> None:
        (folder / "memory").write_bytes(b"half")
        raise RunFailed("it hung")

    with pytest.raises(RunFailed, match="it hung"):
        saved(tmp_path, "a", fails)
    assert [path.name for path in tmp_path.iterdir()] == ["a.lock"]
    assert saved(tmp_path, "a", Boots()).memory.exists()


def test_a_full_disk_is_named(tmp_path: Path) -> None:
    def fills(folder: Path) -> None:
        raise OSError(28, os.strerror(28), folder)

    with pytest.raises(RunFailed, match=r"cannot be saved in .* \(No space left on device\): make room"):
        saved(tmp_path, "a", fills)
    assert not (tmp_path / "a.part").exists()

# SPDX-License-Identifier: MIT
"""Modules of a kernel that a stranger packed: what is none is told in a line, whatever it unpacks to."""

import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.errors import BadInput
from rtqual.engine.initramfs import contents

RELEASE, CUT = "6.6.1-theirs", "is cut off, or unpacks to more"


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    folder = tmp_path / "tree/lib/modules" / RELEASE
    folder.mkdir(parents=True)
    return folder


def copied(tmp_path: Path) -> None:
    contents.copy_modules(tmp_path / "root", tmp_path / "tree", RELEASE, ["ext4"])


@pytest.mark.parametrize(
    ("name", "make", "told"),
    [
        ("ext4.ko", lambda file: file.write_bytes(b"no ELF"), "is no module of a kernel"),
        ("ext4.ko", lambda file: file.write_bytes(b"\x7fELF\2\1\1" + b"\xff" * 100), "is no module of a kernel"),
        ("ext4.ko", Path.mkdir, "cannot be read"),
        ("ext4.ko", os.mkfifo, "is a pipe or a device"),
        ("ext4.ko", lambda file: file.symlink_to("/dev/zero"), "is a pipe or a device"),
        ("ext4.ko.xz", lambda file: file.write_bytes(b"not packed"), "cannot be read"),
        (
            "ext4.ko.xz",
            lambda file: file.write_bytes(lzma.compress(bytes(99), preset=0)[:-9]),
            CUT,
        ),
        (
            "ext4.ko.xz",
            lambda file: file.write_bytes(lzma.compress(bytes(9 << 20), preset=0)),
            CUT,
        ),
    ],
)
def test_what_is_no_module_is_told(
    tmp_path: Path, modules: Path, name: str, make: Callable[[Path], object], told: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(contents, "_MOST_MODULE_B", 8 << 20)
    make(modules / name)
    with pytest.raises(BadInput, match=told) as caught:
        copied(tmp_path)
    assert name in str(caught.value)


def test_an_index_that_is_a_pipe_is_not_waited_for(tmp_path: Path, modules: Path) -> None:
    os.mkfifo(modules / "modules.builtin")
    with pytest.raises(OSError, match="is a pipe or a device"):  # of which image_of() makes a line
        copied(tmp_path)

# SPDX-License-Identifier: MIT
"""What is booted and watched is what was made, whatever became of it in the cache."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.architecture import AMD64
from rtqual.engine.boards.jobs import symbols
from rtqual.engine.initramfs.appended import overlaid
from rtqual.engine.initramfs.contents import names, pack


def flip(file: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))


def empty(file: Path) -> None:
    file.write_bytes(b"")


@pytest.fixture
def image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "root").mkdir()
    (tmp_path / "root/init").write_text("#!/bin/sh\n")
    return pack(tmp_path / "root", tmp_path / "image.cpio")


@pytest.mark.parametrize("spoil", [flip, empty])
def test_an_image_with_a_programs_files_is_used_only_as_it_was_made(
    image: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    (tmp_path / "program").write_text("mine")
    made = overlaid(image, {"opt/x/program": tmp_path / "program"})
    whole = made.read_bytes()
    assert whole.startswith(image.read_bytes()) and b"opt/x/program" in whole and names(made) == names(image)
    spoil(made)
    assert overlaid(image, {"opt/x/program": tmp_path / "program"}).read_bytes() == whole


@pytest.mark.parametrize("spoil", [flip, empty])
def test_a_kernels_addresses_are_asked_again_where_they_are_not_what_it_said(
    image: Path, tmp_path: Path, spoil: Callable[[Path], None]
) -> None:
    said = "ffffffff81000000 T schedule\n"
    assert symbols(lambda _: said, {"kernel": "one"}, AMD64) == said
    assert symbols(lambda _: pytest.fail("asked again"), {"kernel": "one"}, AMD64) == said
    (file,) = (tmp_path / "cache").rglob("*.jobs")
    spoil(file)
    assert symbols(lambda _: said, {"kernel": "one"}, AMD64) == said

# SPDX-License-Identifier: MIT
"""A report is left as it is only where its inputs and its files are those of before."""

import os
from pathlib import Path

import pytest

from rtqual.reports import written
from rtqual.reports.written import key, remember, stands

CONTENTS = {"report.html": b"<p>", "plots/figure-1.svg": b"<svg>"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "out" / "plots").mkdir(parents=True)
    for name, content in CONTENTS.items():
        (tmp_path / "out" / name).write_bytes(content)
    return tmp_path / "out"


def test_what_was_written_stands(folder: Path) -> None:
    assert not stands(folder, key("a"))
    remember(key("a"), CONTENTS)
    assert stands(folder, key("a"))
    assert not stands(folder, key("b"))
    assert not stands(folder, key("a", ""))
    os.utime(folder / "report.html", (0, 0))  # times do not matter
    assert stands(folder, key("a"))


@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize("change", ["other", "gone", "link", "folder"])
def test_what_was_changed_does_not(change: str, name: str, folder: Path) -> None:
    remember(key("a"), CONTENTS)
    file = folder / name
    moved = file.rename(folder / "moved")
    if change == "other":
        file.write_bytes(CONTENTS[name] + b" ")
    elif change == "link":
        file.symlink_to(moved)
    elif change == "folder":
        file.mkdir()
    assert not stands(folder, key("a"))


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"7", b"{}", b'{"../secret": "0"}', b"\xff"])
def test_a_damaged_memory_is_none(content: bytes, folder: Path, tmp_path: Path) -> None:
    remember(key("a"), CONTENTS)
    (tmp_path / "cache" / "rtqual" / "reports" / key("a")).write_bytes(content)
    assert not stands(folder, key("a"))


def test_another_program_writes_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    remember(key("a"), CONTENTS)
    monkeypatch.setattr(written, "_program", lambda: ("another version",))
    assert not stands(folder, key("a"))


def test_the_memory_is_bounded(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(written, "_KEPT", 3)
    for number in range(5):
        remember(key(str(number)), CONTENTS)
        kept = tmp_path / "cache" / "rtqual" / "reports" / key(str(number))
        os.utime(kept, (number, number))
    assert [stands(folder, key(str(number))) for number in range(5)] == [False, False, True, True, True]

# SPDX-License-Identifier: MIT
"""No link is followed in a folder, wherever it lies in a name."""

import os
import signal
from pathlib import Path

import pytest

from rtqual.base import unlinked
from rtqual.base.errors import BadInput
from rtqual.base.scratch import sweep_fresh


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "file").write_text("mine")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path / "victim" / "file")
    (folder / "links").symlink_to(tmp_path / "victim")
    (folder / "nowhere").symlink_to(tmp_path / "victim" / "new")
    os.mkfifo(folder / "pipe")
    return folder


@pytest.mark.parametrize(
    "name", ["link", "links/file", "links/new", "nowhere", "pipe", "../victim/file", "/etc/x", "", "9" * 300]
)
def test_a_name_that_leads_out_is_refused(folder: Path, name: str) -> None:
    for use in (
        unlinked.read,
        unlinked.remove,
        unlinked.require,
        lambda folder, name: unlinked.write(folder, name, b"theirs"),
    ):
        with pytest.raises(BadInput):
            use(folder, name)  # type: ignore[operator]
    assert [path.name for path in (folder.parent / "victim").iterdir()] == ["file"]
    assert (folder.parent / "victim/file").read_text() == "mine"


def test_a_folder_behind_a_link_is_not_listed(folder: Path) -> None:
    with pytest.raises(BadInput, match="links: is a link"):
        unlinked.names(folder, "links")


def test_a_file_takes_the_place_of_a_hard_link(folder: Path) -> None:
    os.link(folder.parent / "victim/file", folder / "hard")
    unlinked.write(folder, "hard", b"ours")
    unlinked.write(folder, "made/here", b"ours")
    assert (folder.parent / "victim/file").read_text() == "mine"
    assert unlinked.read(folder, "hard") == unlinked.read(folder, "made/here") == b"ours"
    assert unlinked.names(folder, "made") == ["here"]
    assert unlinked.names(folder, "none") == []


def test_no_file_is_read_beyond_its_bound(folder: Path) -> None:
    """Sparse, it is some KB in an archive; in memory it would be all that there is."""
    with (folder / "sparse").open("wb") as file:
        file.truncate(40 << 30)
    with pytest.raises(BadInput, match="sparse: holds more than 67,108,864 bytes"):
        unlinked.read(folder, "sparse")
    unlinked.write(folder, "short", b"1234")
    assert unlinked.read(folder, "short", 4) == b"1234"
    with pytest.raises(BadInput):
        unlinked.read(folder, "short", 3)


def test_what_a_writer_left_that_was_killed_is_swept_not_sought_at_each_write(folder: Path) -> None:
    writer = os.fork()
    if writer == 0:  # in the middle
        os.rename = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
        unlinked.write(folder, "report.pdf", b"half")
    os.waitpid(writer, 0)
    assert not (folder / "report.pdf").exists()
    (folder / f".report.pdf.{os.getpid()}").write_text("of one who had this number")
    unlinked.write(folder, "report.pdf", b"whole")
    assert (folder / "report.pdf").read_bytes() == b"whole"
    assert sweep_fresh(folder) == [folder / f".report.pdf.{writer}"]
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]

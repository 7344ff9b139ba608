# SPDX-License-Identifier: MIT
"""Hostile overlays and archives: what leads out of the root is refused, and the host's files stay as they were."""

import io
import os
import socket
import stat
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base.apt import Package
from rtqual.base.architecture import AMD64
from rtqual.base.errors import BadInput, RunFailed
from rtqual.engine.mission import Need
from rtqual.parts.images.assembly import Request, fill
from rtqual.parts.images.inside import Inside
from rtqual.parts.images.overlay import lay_over
from rtqual.parts.images.root import Attributes, Root, unpack_tar


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A folder of the host with files that must stay as they are."""
    folder = tmp_path / "host"
    (folder / "modules/6.1").mkdir(parents=True)
    (folder / "modules/6.1/canary.ko").write_text("canary\n")
    (folder / "x").write_text("canary\n")
    (folder / "empty").mkdir()
    return folder


def state(folder: Path) -> dict[str, object]:
    """Everything about a tree that writing to it could change."""
    found = sorted(folder.rglob("*"))
    return {
        str(path): (path.lstat().st_mode, path.lstat().st_ino, path.lstat().st_mtime_ns, path.lstat().st_nlink)
        for path in [folder, *found]
    } | {f"{path} content": path.read_bytes() for path in found if path.is_file() and not path.is_symlink()}


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    folder = tmp_path / "overlay"
    folder.mkdir()
    return folder


@pytest.fixture
def root(tmp_path: Path) -> Root:
    made = Root(tmp_path / "root")
    made.write("usr/lib/program", "#!/bin/sh\n", executable=True)
    made.make("run")
    made.link("lib", "usr/lib")
    made.link("var/run", "/run")
    return made


def refused(root: Root, overlay: Path) -> str:
    with pytest.raises(BadInput) as caught:
        lay_over(root, overlay)
    said = str(caught.value)
    assert "\n" not in said and said.startswith("--overlay ")
    return said


def test_an_absolute_link_of_the_root_stays_in_the_root(root: Root, overlay: Path, host: Path) -> None:
    root.link("var/host", str(host))
    before = state(host)
    (overlay / "var/run").mkdir(parents=True)
    (overlay / "var/run/x").write_text("new\n")
    (overlay / "lib").mkdir()
    (overlay / "lib/y").write_text("new\n")
    lay_over(root, overlay)
    assert (root.folder / "run/x").read_text() == (root.folder / "usr/lib/y").read_text() == "new\n"
    assert (root.folder / "lib").is_symlink() and (root.folder / "var/run").is_symlink()
    (overlay / "var/host").mkdir()
    (overlay / "var/host/x").write_text("changed\n")
    assert "is not in the root file system" in refused(root, overlay)
    assert state(host) == before


@pytest.mark.parametrize("up", ["../" * 20, "usr/../../" * 9, "./../"])
def test_a_link_that_climbs_out_is_refused(up: str, root: Root, overlay: Path, host: Path) -> None:
    before = state(host)
    root.link("out", f"{up}{str(host).lstrip('/')}")
    (overlay / "out").mkdir()
    (overlay / "out/x").write_text("changed\n")
    assert "leads outside of the root" in refused(root, overlay)
    with pytest.raises(RunFailed, match="leads outside"):
        root.write("out/x", "changed\n")
    with pytest.raises(RunFailed, match="leads outside"):
        root.copy(overlay / "out/x", "out/x")
    assert state(host) == before


def test_a_link_laid_over_a_folder_or_a_circle_is_refused(root: Root, overlay: Path, host: Path) -> None:
    (overlay / "usr").symlink_to(host)
    assert "'usr' is a folder of the root" in refused(root, overlay)
    root.link("a", "b")
    root.link("b", "a")
    with pytest.raises(RunFailed, match="circle"):
        root.write("a/x", "")


@pytest.mark.guest  # asks apt for busybox
@pytest.mark.parametrize("target", ["absolute", "../../../../../../../../..", "climbing"])
@pytest.mark.parametrize("needs", [(), (Need.USB,)])
def test_the_hosts_modules_survive_a_link_in_place_of_lib(
    target: str, needs: tuple[Need, ...], overlay: Path, host: Path, tmp_path: Path
) -> None:
    """The reported attack: lib (or lib/modules) leads to a folder of the host, whose modules were deleted."""
    link = {"absolute": str(host), "climbing": f"{'../' * 20}{str(host).lstrip('/')}"}.get(target, target)
    before = state(host)
    for place in ("lib", "lib/modules"):
        for old in (overlay / "lib/modules", overlay / "lib"):
            if old.is_symlink():
                old.unlink()
        (overlay / place).parent.mkdir(exist_ok=True)
        if (overlay / place).is_dir():
            (overlay / place).rmdir()
        (overlay / place).symlink_to(f"{link}/modules" if place == "lib/modules" else link)
        scratch = tmp_path / f"scratch-{place.replace('/', '-')}"
        scratch.mkdir()
        try:
            fill(Request(_kernel(scratch), AMD64, needs=needs, overlay=overlay), scratch)
        except (BadInput, RunFailed) as error:
            assert "\n" not in str(error)
        assert state(host) == before


def _kernel(folder: Path) -> Package:
    tree = folder / "kernel"
    modules = tree / "lib/modules/6.1/kernel"
    (tree / "boot").mkdir(parents=True)
    modules.mkdir(parents=True)
    (tree / "boot/vmlinuz-6.1").write_bytes(b"kernel")
    (tree / "boot/config-6.1").write_text("CONFIG_EXT4_FS=y\n")
    (tree / "lib/modules/6.1/modules.builtin").write_text("")
    return Package("linux-test", "6.1", "0" * 64, 0, tree)


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        here = os.open(path.parent, os.O_DIRECTORY)
        try:
            made.bind(f"/proc/self/fd/{here}/{path.name}")  # a socket's own path is short
        finally:
            os.close(here)


def _device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("no device nodes without privileges")


@pytest.mark.parametrize("make", [_fifo, _socket, _device])
def test_what_is_no_file_is_refused(make: Callable[[Path], None], root: Root, overlay: Path) -> None:
    make(overlay / "odd")
    assert "neither a file, a folder nor a link" in refused(root, overlay)
    assert not (root.folder / "odd").exists()


@pytest.mark.parametrize("name", [b"a\nb", b"\xff", b"\x1b[2J", "a\u202eb".encode()])
def test_names_that_no_list_can_hold_are_refused(name: bytes, root: Root, overlay: Path) -> None:
    (Path(os.fsdecode(os.fsencode(overlay) + b"/" + name))).write_text("")
    said = refused(root, overlay)
    assert said.isprintable() and "rename it" in said


def test_setuid_bits_and_hard_links_do_not_come_along(root: Root, overlay: Path, host: Path) -> None:
    (overlay / "su").write_text("#!/bin/sh\n")
    (overlay / "su").chmod(0o6755)
    os.link(host / "x", overlay / "linked")
    before = state(host)
    root.write("su", "#!/bin/sh\n")
    root.special["su"] = Attributes(0o4755)
    lay_over(root, overlay)
    assert (root.folder / "su").lstat().st_mode & 0o7777 == 0o755
    assert root.attributes("su") == Attributes(0o755), "what was known of the old file does not hold for the new one"
    root.write("linked", "changed\n")
    assert state(host) == before


def test_a_link_swapped_in_while_the_overlay_is_read_is_not_followed(
    root: Root, overlay: Path, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (overlay / "file").write_text("harmless\n")
    (overlay / "deep").mkdir()
    (overlay / "deep/x").write_text("harmless\n")
    real = os.stat

    def swapping(path: str, **more: object) -> os.stat_result:
        found = real(path, **more)  # type: ignore[arg-type]
        if path == "file" and stat.S_ISREG(found.st_mode) and not (overlay / "file").is_symlink():
            (overlay / "file").unlink()
            (overlay / "file").symlink_to(host / "x")
        if path == "x" and not (overlay / "deep").is_symlink():
            (overlay / "deep").rename(overlay / "moved")
            (overlay / "deep").symlink_to(host)
        return found

    monkeypatch.setattr("rtqual.parts.images.overlay.os.stat", swapping)
    refused(root, overlay)
    monkeypatch.undo()
    copied = [path for path in root.folder.rglob("*") if path.is_file() and not path.is_symlink()]
    assert not [path for path in copied if path.read_text() == "canary\n"]


def _archive(folder: Path, *members: tuple[str, bytes, str]) -> Path:
    path = folder / "root.tar"
    with tarfile.open(path, "w") as tar:
        for name, type_, target in members:
            member = tarfile.TarInfo(name)
            member.type, member.linkname, member.mode = type_, target, 0o4755
            content = b"changed\n" if type_ == tarfile.REGTYPE else b""
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return path


def test_an_archive_does_not_write_through_its_own_links(host: Path, tmp_path: Path) -> None:
    before = state(host)
    outside = f"{'../' * 20}{str(host).lstrip('/')}"
    for number, members in enumerate([
        [("a", tarfile.SYMTYPE, str(host)), ("a/x", tarfile.REGTYPE, "")],
        [("a", tarfile.SYMTYPE, outside), ("a/x", tarfile.REGTYPE, "")],
        [("a", tarfile.SYMTYPE, outside), ("a/new", tarfile.DIRTYPE, "")],
        [("a", tarfile.SYMTYPE, str(host)), ("b", tarfile.LNKTYPE, "a/x")],
        [("a", tarfile.SYMTYPE, str(host / "x")), ("b", tarfile.LNKTYPE, "a")],
        [("b", tarfile.LNKTYPE, outside + "/x")],
        [("a/../../x", tarfile.REGTYPE, "")],
    ]):  # fmt: skip
        with pytest.raises(RunFailed) as caught:
            unpack_tar(_archive(tmp_path, *members), tmp_path / f"root-{number}")
        assert "\n" not in str(caught.value)
    assert state(host) == before


def test_an_archive_is_unpacked_where_its_links_lead_inside(tmp_path: Path) -> None:
    archive = _archive(
        tmp_path,
        ("usr/bin", tarfile.DIRTYPE, ""),
        ("bin", tarfile.SYMTYPE, "/usr/bin"),
        ("./bin/su", tarfile.REGTYPE, ""),
        ("bin/again", tarfile.LNKTYPE, "./bin/su"),
        ("dev/null", tarfile.CHRTYPE, ""),
        ("pipe", tarfile.FIFOTYPE, ""),
    )
    root = unpack_tar(archive, tmp_path / "root")
    assert root.paths() == ["bin", "usr", "usr/bin", "usr/bin/again", "usr/bin/su"]
    assert root.attributes("usr/bin/su").mode == 0o4755, "a link on the way hides no attribute"
    assert (root.folder / "usr/bin/su").stat().st_ino == (root.folder / "usr/bin/again").stat().st_ino
    assert (root.folder / "usr/bin/su").stat().st_mode & 0o7777 == 0o755


def test_reading_and_removing_stay_inside(root: Root, host: Path) -> None:
    before = state(host)
    root.link("status", str(host / "x"))
    root.link("tree", str(host))
    inside = Inside(root.folder)
    assert inside.read("status") is None and not inside.exists("tree/x")
    inside.remove("tree/modules")
    inside.remove("tree")
    assert not (root.folder / "tree").is_symlink()
    inside.remove("lib/program")
    assert not (root.folder / "usr/lib/program").exists() and inside.read("lib/program") is None
    assert state(host) == before

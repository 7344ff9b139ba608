# SPDX-License-Identifier: MIT
"""The cache: what lies there is what was kept, nobody else may write there, and a power cut leaves no half of it."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from rtqual.base import cache
from rtqual.base.cache import cache_dir, kept, lock_file, locked
from rtqual.base.errors import BadInput
from rtqual.engine.campaign.folder import alone

CONTENT = b"an image" * 1000
OTHERS = 12345  # a user and a group that are nobody's here


class Maker:
    def __init__(self, *, folder: bool) -> None:
        self.folder, self.calls = folder, 0

    def __call__(self, fresh: Path) -> None:
        self.calls += 1
        if self.folder:
            (fresh / "boot").mkdir(parents=True)
            (fresh / "boot/link").symlink_to("image")
            fresh = fresh / "boot/image"
        fresh.write_bytes(CONTENT)


def image(place: Path) -> Path:
    return place / "boot/image" if place.is_dir() else place


def flip(file: Path) -> None:
    """As a disk does: the times stay."""
    status = file.stat()
    file.write_bytes(CONTENT[:99] + bytes([CONTENT[99] ^ 1]) + CONTENT[100:])
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))


def link(file: Path) -> None:
    file.unlink()
    file.symlink_to("/dev/null")


@pytest.mark.parametrize("folder", [False, True])
@pytest.mark.parametrize(
    "damage",
    [flip, link, Path.unlink, lambda file: os.truncate(file, 0), lambda file: os.truncate(file, 5000)],
)
def test_what_is_not_what_was_kept_is_made_anew(
    tmp_path: Path, damage: Callable[[Path], None], *, folder: bool
) -> None:
    make = Maker(folder=folder)
    place = kept(tmp_path / "place", make)
    assert kept(place, make) == place
    assert make.calls == 1
    damage(image(place))
    kept(place, make)
    assert make.calls == 2
    assert image(place).read_bytes() == CONTENT
    assert not image(place).is_symlink()
    kept(place, make)
    assert make.calls == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["place", "place.lock"]


def test_what_was_added_to_a_kept_folder_goes_and_an_empty_one_is_made_anew(tmp_path: Path) -> None:
    make = Maker(folder=True)
    place = kept(tmp_path / "place", make)
    (place / "boot/more").write_bytes(b"x")
    kept(place, make)
    assert not (place / "boot/more").exists()
    shutil.rmtree(place / "boot")
    kept(place, make)
    assert (make.calls, image(place).read_bytes()) == (3, CONTENT)


def test_a_cache_that_was_copied_is_sound(tmp_path: Path) -> None:
    for folder in (False, True):
        make = Maker(folder=folder)
        kept(tmp_path / "a" / str(folder), make)
    shutil.copytree(tmp_path / "a", tmp_path / "b", symlinks=True)
    for folder in (False, True):
        make = Maker(folder=folder)
        kept(tmp_path / "b" / str(folder), make)
        assert make.calls == 0


def test_of_what_an_older_rtqual_kept_a_file_is_made_anew_and_a_folder_taken(tmp_path: Path) -> None:
    """Nothing is known of either; a kernel's build takes minutes."""
    for folder in (False, True):
        make, place = Maker(folder=folder), tmp_path / str(folder)
        make(place)
        kept(place, make)
        assert make.calls == (1 if folder else 2)
        flip(image(place))
        kept(place, make)
        assert image(place).read_bytes() == CONTENT


def test_a_folder_is_read_once_after_each_start_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A power cut may leave what no time of a file tells."""
    make, place, reads = Maker(folder=True), tmp_path / "place", 0

    def read(path: Path) -> str:
        nonlocal reads
        reads += 1
        return really(path)

    kept(place, make)
    really = cache.content_of
    monkeypatch.setattr(cache, "content_of", read)
    kept(place, make)
    (tmp_path / "boot_id").write_text("another start")
    monkeypatch.setattr(cache, "_BOOT", tmp_path / "boot_id")
    for _ in range(2):
        kept(place, make)
    assert (make.calls, reads) == (1, 1)


def test_it_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settled: list[tuple[bytes, bool]] = []
    place = tmp_path / "place"

    def settle(fresh: Path) -> None:
        settled.append((fresh.read_bytes(), place.exists()))
        really(fresh)

    really = cache.settle
    monkeypatch.setattr(cache, "settle", settle)
    kept(place, Maker(folder=False))
    assert settled == [(CONTENT, False)]


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_lock_that_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    (tmp_path / "victim").write_text("mine")
    for place in (tmp_path / "place.lock", tmp_path / ".lock"):
        place.symlink_to("victim") if kind == "link" else os.mkfifo(place)
    for use in (locked(tmp_path / "place"), cache.idle(tmp_path / "place"), alone(tmp_path)):
        with pytest.raises(BadInput), use:
            pass
    assert (tmp_path / "victim").read_text() == "mine"


def test_a_lock_keeps_its_content(tmp_path: Path) -> None:
    (tmp_path / "x.lock").write_text("mine")
    with lock_file(tmp_path / "x.lock"), locked(tmp_path / "x"):
        assert (tmp_path / "x.lock").read_text() == "mine"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    base = tmp_path / "cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(base))
    before = os.umask(0)
    assert cache_dir() == base / "rtqual"
    os.umask(before)
    base.chmod(0o755)
    return base


def test_a_fresh_cache_is_its_users_alone_whatever_the_umask(base: Path) -> None:
    assert (base / "rtqual").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o1777])
def test_a_cache_that_others_may_write_is_refused(base: Path, mode: int) -> None:
    (base / "rtqual").chmod(mode)
    with pytest.raises(BadInput, match="other users may write there"):
        cache_dir()
    (base / "rtqual").chmod(0o700)
    base.chmod(mode)
    if mode & 0o1000:  # as /tmp, where nobody renames what is another's
        cache_dir()
    else:
        with pytest.raises(BadInput, match=f"chmod go-w {base}"):
            cache_dir()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a folder to another user")
def test_a_cache_of_another_user_or_of_a_group_is_refused(base: Path) -> None:
    own = base / "rtqual"
    os.chown(own, OTHERS, -1)
    with pytest.raises(BadInput, match="belongs to another user"):
        cache_dir()
    os.chown(own, os.geteuid(), OTHERS)
    own.chmod(0o770)
    with pytest.raises(BadInput, match="other users may write there"):
        cache_dir()
    own.chmod(0o750)
    assert cache_dir() == own

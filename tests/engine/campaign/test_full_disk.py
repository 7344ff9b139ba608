# SPDX-License-Identifier: MIT
"""Disks that fill up in the middle: a line names the disk, what is finished stays, and with room it goes on."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest

from rtqual.base.cache import cache_dir
from rtqual.protocols.record.store import SAMPLES, Store, read
from support.command import rtqual_command
from support.small_disk import PrivateDisk, environment, private_disk


def run(disk: PrivateDisk, *arguments: object, **variables: object) -> subprocess.CompletedProcess[str]:
    command = disk.command(*rtqual_command(*arguments))
    done = subprocess.run(
        command, env=environment(**variables), stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def samples(folder: Path) -> dict[str, bytes]:
    return {path.name: (path / SAMPLES).read_bytes() for path in Store(folder / "records").paths()}


def hashes(folder: Path) -> dict[str, str]:
    return {path.name: read(path).manifest.hash for path in Store(folder / "records").paths()}


def half(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.name[0] == "." and path.name != ".lock"]


@pytest.mark.full
@pytest.mark.parametrize("what", ["out", "tmp"])
def test_a_disk_that_fills_up_in_the_middle(what: str, campaign: Path, mission_file: Path, tmp_path: Path) -> None:
    """The campaign's own, or that of temporary files."""
    with private_disk(tmp_path / "disk", "1g") as disk:
        on_disk = what == "out"
        out = disk.place / "out" if on_disk else tmp_path / "out"
        seen = disk.seen / "out" if on_disk else out
        variables = {} if on_disk else {"TMPDIR": disk.place}
        process = subprocess.Popen(
            disk.command(*rtqual_command("select", mission_file, "--out", out)), env=environment(**variables),
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        while len(Store(seen / "records").paths()) < 2 and process.poll() is None:
            time.sleep(0.02)
        filler = disk.fill()
        said = process.communicate()[1]
        assert process.returncode == 3 and "Traceback" not in said, said
        assert [line for line in said.splitlines() if str(disk.place) in line and "full" in line], said
        before = samples(seen)
        assert 2 <= len(before) < 6
        assert half(seen) == []
        filler.unlink()
        done = run(disk, "select", mission_file, "--out", out, **variables)
        assert done.returncode == 0, done.stderr
        assert {name: samples(seen)[name] for name in before} == before
        assert hashes(seen) == hashes(campaign)
        assert (seen / "junit.xml").read_bytes() == (campaign / "junit.xml").read_bytes()


@pytest.mark.full
def test_a_cache_that_fills_up(campaign: Path, mission_file: Path, tmp_path: Path) -> None:
    """While packages are unpacked; while the guest's image is made."""
    with private_disk(tmp_path / "disk", "2g") as disk:
        cache = disk.seen / "rtqual"
        cache.mkdir()
        shutil.copytree(cache_dir() / "apt", cache / "apt")  # its index is large
        (cache / "archives").mkdir()
        for deb in (cache_dir() / "archives").glob("*.deb"):
            (cache / "archives" / deb.name).symlink_to(deb)
        for room_b, unpacked in ((2**23, False), (2**20, True)):
            if unpacked and not (cache / "unpacked").is_symlink():
                shutil.rmtree(cache / "unpacked", ignore_errors=True)
                (cache / "unpacked").symlink_to(cache_dir() / "unpacked")
            filler = disk.fill(but_b=room_b)
            done = run(disk, "select", mission_file, "--out", tmp_path / "out", XDG_CACHE_HOME=disk.place)
            last = done.stderr.splitlines()[-1]
            assert done.returncode == 3, done.stderr
            assert str(disk.place / "rtqual") in last and "full" in last, last
            filler.unlink()
            assert list(cache.glob("*/rtqual-*")) == []
        done = run(disk, "select", mission_file, "--out", tmp_path / "out", XDG_CACHE_HOME=disk.place)
        assert done.returncode == 0, done.stderr
        assert hashes(tmp_path / "out") == hashes(campaign)

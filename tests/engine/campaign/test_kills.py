# SPDX-License-Identifier: MIT
"""SIGKILL at random moments, to all of a campaign, to rtqual alone, to a guest alone: nothing is lost or left over."""

import fcntl
import os
import random
import shutil
import signal
import subprocess
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rtqual.base.cache import cache_dir
from rtqual.protocols.record.store import MANIFEST, SAMPLES, Store, read
from support.command import children, mission_text, rtqual_command

FAR_S = 300.0  # to wait for what must come
APART_S = 20.0  # two kills, at most: about what an undisturbed campaign takes here with a warm cache
VICTIMS = ("group", "rtqual", "guest")
MARK = "RTQUAL_TEST_STORM"  # in the environment of all that a campaign starts, so that whatever runs on is found


@dataclass
class Storm:
    """Campaigns in `folder`, one after the other, each killed until it has ended by itself."""

    folder: Path
    rng: random.Random
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    told: Counter[str] = field(default_factory=Counter)
    pids: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        for name in ("tmp", "cwd"):
            (self.folder / name).mkdir()
        self.mission = self.folder / "tiny.toml"
        self.mission.write_text(mission_text("here", "debian-rt"))
        self.cache = self.folder / "cache/rtqual"

    def start(self, out: Path) -> subprocess.Popen[bytes]:
        own = {"XDG_CACHE_HOME": self.cache.parent, "TMPDIR": self.folder / "tmp", MARK: self.mark}
        process = subprocess.Popen(
            rtqual_command("select", self.mission, "--out", out),
            cwd=self.folder / "cwd",
            env={**os.environ, **{name: str(value) for name, value in own.items()}},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=(self.folder / "stderr").open("wb"),
            start_new_session=True,
        )
        self.pids.add(process.pid)
        return process

    def chill(self, *, wholly: bool) -> None:
        """An empty cache; the downloads are kept unless `wholly`."""
        shutil.rmtree(self.cache, ignore_errors=True)
        (self.cache / "archives").mkdir(parents=True)
        for deb in () if wholly else (cache_dir() / "archives").glob("*.deb"):
            (self.cache / "archives" / deb.name).symlink_to(deb)
        self.told["caches emptied wholly" if wholly else "caches emptied but for downloads"] += 1

    def still_run(self) -> list[int]:
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            try:
                if f"{MARK}={self.mark}".encode() in path.read_bytes():
                    found.append(int(path.parent.name))
            except OSError:
                continue  # it ended meanwhile, or is somebody else's
        return found

    def strike(self, process: subprocess.Popen[bytes]) -> int:
        """A random victim; with it go all that it started. Returns how many were killed."""
        victim = self.rng.choice(VICTIMS)
        guests = children("qemu-system", process.pid)
        while victim == "guest" and not guests and process.poll() is None:
            time.sleep(self.rng.uniform(0, 2))
            guests = children("qemu-system", process.pid)
        if process.poll() is not None:
            return 0  # it has ended meanwhile
        if victim == "guest" and guests:
            os.kill(self.rng.choice(guests), signal.SIGKILL)
        elif victim == "group":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            victim = "rtqual"
            process.kill()
        self.told[f"{victim} killed"] += 1
        if victim != "guest":
            process.wait()
            begun = time.monotonic()
            while left := self.still_run():
                assert time.monotonic() - begun < FAR_S, [Path(f"/proc/{pid}/cmdline").read_bytes() for pid in left]
                time.sleep(0.05)
        return 1

    def campaign(self, out: Path, kills: int) -> None:
        """Killed at most so often, and started again until it is done."""
        before: dict[str, tuple[int, bytes]] = {}
        while True:
            process = self.start(out)
            while kills:
                try:
                    process.wait(self.rng.uniform(0, APART_S))
                    break
                except subprocess.TimeoutExpired:
                    kills -= self.strike(process)
            process.wait()
            said = (self.folder / "stderr").read_text()
            assert "Traceback" not in said, said
            assert "set aside" not in said, said
            after = state(out)
            assert {name: after.get(name) for name in before} == before, "a finished record was lost or changed"
            before = after
            self.told["starts"] += 1
            if process.returncode == 0:
                return
            assert process.returncode in (-signal.SIGKILL, 3), said
            assert process.returncode != 3 or "signal 9" in said, said

    def left_over(self, out: Path) -> list[str]:
        found = [path for name in ("tmp", "cwd") for path in (self.folder / name).iterdir()]
        found += [path for pid in self.pids for path in Path("/dev/shm").glob(f"rtqual-{pid}-*")]  # noqa: S108
        found += [*self.cache.rglob("rtqual-*-*"), *(self.cache / "archives/partial").glob("*")]
        found += [path for path in out.rglob("*") if path.name[0] == "." and path.name != ".lock"]
        found += (out / "records").glob("*.corrupt")
        return [*map(str, [path for path in found if "unpacked/" not in str(path)]), *self.held()]

    def held(self) -> list[str]:
        found = []
        for path in [*self.cache.rglob("*.lock"), *self.folder.glob("*/.lock")]:
            with path.open() as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    found.append(f"{path} is locked")
        return found


def state(out: Path) -> dict[str, tuple[int, bytes]]:
    """Every record's samples: when written, and what."""
    paths = Store(out / "records").paths()
    assert all((path / MANIFEST).exists() for path in paths), "a record without its manifest"
    return {path.name: ((path / SAMPLES).stat().st_mtime_ns, (path / SAMPLES).read_bytes()) for path in paths}


def virtual_hashes(out: Path) -> dict[str, str]:
    """Those that repeat."""
    manifests = [read(path).manifest for path in Store(out / "records").paths()]
    return {f"{one.inputs.key()} {one.repeat}": one.hash for one in manifests if one.inputs.board == "virtual"}


def storm(folder: Path, kills: int, seed: int) -> None:
    all_of_it = Storm(folder, random.Random(seed))  # noqa: S311 - not for secrets
    all_of_it.chill(wholly=False)
    all_of_it.campaign(folder / "undisturbed", 0)
    wanted = virtual_hashes(folder / "undisturbed")
    assert len(wanted) == 6
    number, struck = 0, 0
    while struck < kills:
        number += 1
        out = folder / f"killed-{number}"
        all_of_it.chill(wholly=number % 4 == 0)
        all_of_it.campaign(out, min(kills - struck, 8))
        struck = sum(all_of_it.told[f"{victim} killed"] for victim in VICTIMS)
        assert virtual_hashes(out) == wanted
        assert all_of_it.left_over(out) == []
        assert (out / "report.html").exists()
        shutil.rmtree(out)
        print(f"seed {seed}:", dict(all_of_it.told), flush=True)


@pytest.mark.full
def test_a_few_kills_lose_nothing_and_leave_nothing(tmp_path: Path) -> None:
    storm(tmp_path, 6, seed=1)


@pytest.mark.manual
def test_a_hundred_kills_lose_nothing_and_leave_nothing(tmp_path: Path) -> None:
    """About 20 minutes. Its last figures stand in docs/verification/attacks.md."""
    storm(tmp_path, 100, seed=2)

# SPDX-License-Identifier: MIT
"""Emulated cells on a cluster of dask's: a worker dies, all cells are there, and none differs from a plain run's."""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from rtqual.protocols.record.store import Store, read_manifest
from support.command import Fails, children, mission_text, rtqual_command


@pytest.mark.parametrize("address", ["tcp://10.0.0.1:8786", "10.0.0.1:8786", "tcp://127.0.0.1.example:1", "ucx://h:1"])
def test_an_address_that_others_can_read_along_is_refused(address: str, fails: Fails, tmp_path: Path) -> None:
    (tmp_path / "mission.toml").write_text(mission_text("here"))
    told = fails(2, "select", tmp_path / "mission.toml", "--cluster", address, "--out", tmp_path / "out")
    assert "could run programs on every worker; give tls://HOST:PORT" in told and not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of processes that have dask.distributed, which is no dependency of the tests: 22 MB."""
    where, uv = tmp_path_factory.mktemp("distributed"), Path(sys.executable).with_name("uv")
    words = [uv, "pip", "install", "--quiet", "--python", sys.executable, "--target", where, "distributed>=2025.7"]
    subprocess.run(words, check=True)
    return {**os.environ, "PYTHONPATH": f"{where}:{os.environ.get('PYTHONPATH', '')}"}


@contextmanager
def started(log: Path, engine: dict[str, str], *words: str) -> Iterator[subprocess.Popen[bytes]]:
    with log.open("wb") as out:
        process = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_" + words[0], *words[1:]],
                                   env=engine, stdout=out, stderr=out, cwd=log.parent)  # fmt: skip
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def hashes(out: Path) -> dict[str, str]:
    return {path.name: read_manifest(path).hash for path in Store(out / "records").paths()}


@pytest.mark.manual
def test_a_worker_is_killed_and_the_records_are_those_of_a_plain_run(engine: dict[str, str], tmp_path: Path) -> None:
    mission = tmp_path / "tiny.toml"
    mission.write_text(mission_text("debian-rt", loads=("none", "hackbench"), runs=4))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    port = address.rpartition(":")[2]
    with ExitStack() as stack:
        words = ("scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard", "--no-show")
        stack.enter_context(started(tmp_path / "scheduler.log", engine, *words))
        workers = []
        for name in ("a", "b"):
            words = ("worker", address, "--no-nanny", "--no-dashboard", "--nthreads", "1", "--resources", "guest=1",
                     "--name", name, "--host", "127.0.0.1", "--local-directory", str(tmp_path / name))  # fmt: skip
            workers.append(stack.enter_context(started(tmp_path / f"{name}.log", engine, *words)))
        while not all("Registered to" in (tmp_path / f"{name}.log").read_text() for name in ("a", "b")):
            assert all(one.poll() is None for one in workers), (tmp_path / "a.log").read_text()[-2000:]
            time.sleep(0.2)
        select = rtqual_command("select", mission, "--cluster", address, "--out", tmp_path / "away")
        campaign = stack.enter_context(
            subprocess.Popen(select, env=engine, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        )
        while not children("qemu-system", of=workers[0].pid):
            assert campaign.poll() is None, campaign.communicate()[0]
            time.sleep(0.05)
        workers[0].kill()
        said = campaign.communicate()[0]
        assert campaign.returncode == 0, said
        assert "other samples" not in said
        assert not children("qemu-system", of=campaign.pid)
    away = hashes(tmp_path / "away")
    assert len(away) == 10  # two groups of four runs, and of each the first once more
    subprocess.run(rtqual_command("select", mission, "--out", tmp_path / "plain"), check=True, capture_output=True)
    assert hashes(tmp_path / "plain") == away
    manifests = [read_manifest(path) for path in Store(tmp_path / "away/records").paths()]
    assert {one.timing.value for one in manifests} == {"instructions"}
    shutil.rmtree(tmp_path / "away/records")  # gone, as on another machine: nothing is taken from a worker's folders
    again = subprocess.run(select, env=engine, capture_output=True, text=True, check=False)
    assert again.returncode == 3 and "no scheduler answers there" in again.stderr

# SPDX-License-Identifier: MIT
"""A place of labgrid's, with its coordinator and exporter: acquired, its power switched, lost with the coordinator."""

import http.server
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from rtqual.base.errors import RunFailed
from rtqual.engine.boards.remote.farm import FarmPlace, client
from rtqual.engine.boards.remote.power import Switched
from rtqual.engine.boards.remote.settings import BoardRefused
from rtqual.protocols.record.store import Store, read
from support.command import rtqual_command
from support.stand_in import mission_of, stand_in


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    (folder / "labgrid-client").write_text(f"#!/bin/sh\n{text}\n")
    (folder / "labgrid-client").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


def test_what_labgrid_says_is_told_and_only_what_was_acquired_is_released(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunFailed, match="labgrid-client is missing"):
        FarmPlace("pi-a", "c:1", "p").take()
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    program(tmp_path, monkeypatch, f'echo "$*" >> {tmp_path}/said')
    place = FarmPlace("pi-a", "c:1", "p")
    place.take()
    place.give()
    place.give()
    assert (tmp_path / "said").read_text() == "-x c:1 -p p acquire\n-x c:1 -p p release\n"
    program(
        tmp_path, monkeypatch, f'echo "You have already acquired place p." >&2; echo "$5" >> {tmp_path}/again; exit 1'
    )
    place.take()
    place.give()
    assert (tmp_path / "again").read_text() == "acquire\n"
    program(tmp_path, monkeypatch, "printf 'Place p is already acquired by \\033[2Jhe' >&2; exit 1")
    with pytest.raises(BoardRefused, match=r"board pi-a: Place p is already acquired by \[2Jhe"):
        place.take()


@pytest.fixture
def programs(tmp_path: Path) -> dict[str, str]:
    """An environment with labgrid, which is no dependency of the tests: 37 MB."""
    uv, where = Path(sys.executable).with_name("uv"), tmp_path / "labgrid"
    subprocess.run([uv, "venv", "--quiet", where], check=True)
    subprocess.run([uv, "pip", "install", "--quiet", "--python", where / "bin/python", "labgrid>=26"], check=True)
    return {**os.environ, "PATH": f"{where}/bin:{os.environ['PATH']}"}


@contextmanager
def running(programs: dict[str, str], folder: Path, *words: str) -> Iterator[None]:
    with (
        (folder / "log").open("ab") as log,
        subprocess.Popen(words, env=programs, cwd=folder, stdout=log, stderr=log) as one,
    ):
        try:
            yield
        finally:
            one.kill()


@contextmanager
def relay(port: int, seen: list[tuple[str, bytes]]) -> Iterator[None]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_PUT(self) -> None:
            seen.append((self.path, self.rfile.read(int(self.headers["Content-Length"]))))
            self.send_response(200)
            self.end_headers()

    server = http.server.HTTPServer(("127.0.0.1", port), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def until(true: Callable[[], bool]) -> None:
    end_s = time.monotonic() + 1800
    while not true():
        assert time.monotonic() < end_s
        time.sleep(0.5)


@dataclass(frozen=True)
class Farm:
    """labgrid's programs with a coordinator of their own, which exports `resources`, by their groups' names."""

    programs: dict[str, str]
    folder: Path
    coordinator: str
    resources: dict[str, str]

    def said(self, *words: str) -> str:
        command = ["labgrid-client", "-x", self.coordinator, *words]
        done = subprocess.run(command, env=self.programs, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    @contextmanager
    def up(self) -> Iterator[None]:
        """The coordinator, then the exporter; once more, it has forgotten who had a place, and no place."""
        lines = [f"{name}: {{{resource}}}" for name, resource in self.resources.items()]
        (self.folder / "exported.yaml").write_text("\n".join(lines) + "\n")
        exporter = ("labgrid-exporter", "-c", self.coordinator, "-n", "here", "exported.yaml")
        with running(self.programs, self.folder, "labgrid-coordinator", "-l", self.coordinator):
            until(lambda: "rror" not in self.said("places"))
            with running(self.programs, self.folder, *exporter):
                until(lambda: all(name in self.said("resources") for name in self.resources))
                yield

    def place(self, name: str, group: str) -> None:
        """A place with what the group exports, kept: the coordinator writes its places every few seconds."""
        self.said("-p", name, "create")
        self.said("-p", name, "add-match", f"here/{group}/NetworkPowerPort")
        kept = self.folder / "places.yaml"
        until(lambda: kept.exists() and group in kept.read_text())


@pytest.mark.manual
def test_places_and_power_of_a_farm(programs: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two places; who has one keeps another user out, until the coordinator starts again and has forgotten."""
    monkeypatch.setenv("PATH", programs["PATH"])
    coordinator, port = f"127.0.0.1:{free_port()}", free_port()
    resource = "NetworkPowerPort: {{model: rest, host: 'http://127.0.0.1:{}/{{index}}', index: '{}'}}"
    farm = Farm(programs, tmp_path, coordinator, {f"bench-{n}": resource.format(port, n) for n in (1, 2)})
    seen: list[tuple[str, bytes]] = []
    one, other = FarmPlace("pi-a", coordinator, "place-1"), FarmPlace("pi-b", coordinator, "place-2")
    with relay(port, seen):
        with farm.up():
            farm.place("place-1", "bench-1")
            farm.place("place-2", "bench-2")
            one.take()
            other.take()
            commands = [client(coordinator, "place-1", "power", word) for word in ("off", "on")]
            Switched("pi-a", *commands).cycle()
            assert seen == [("/1", b"0"), ("/1", b"1")]
            monkeypatch.setenv("LG_USERNAME", "stranger")
            with pytest.raises(BoardRefused, match=r"board pi-a: .*already acquired by"):
                FarmPlace("pi-a", coordinator, "place-1").take()
            with pytest.raises(RunFailed, match=r"its power command .* failed: .*not acquired by your user"):
                Switched("pi-a", *commands).cycle()
            monkeypatch.delenv("LG_USERNAME")
            other.give()
            assert "acquired: None" in farm.said("-p", "place-2", "show")
        with farm.up():
            monkeypatch.setenv("LG_USERNAME", "stranger")
            until(lambda: FarmPlace("pi-a", coordinator, "place-1").take() is None)  # so the board's token decides


@pytest.mark.manual
def test_a_second_rtqual_is_fenced_though_the_coordinator_forgot_the_first(
    programs: dict[str, str], tmp_path: Path
) -> None:
    """Two campaigns of two users on one board; the coordinator starts again between."""
    resource = "NetworkPowerPort: {model: rest, host: 'http://127.0.0.1:1/{index}', index: '1'}"
    farm = Farm(programs, tmp_path, f"127.0.0.1:{free_port()}", {"bench": resource})
    table = f'{{ coordinator = "{farm.coordinator}", place = "place" }}'
    mission = tmp_path / "bench.toml"

    def select(user: str) -> subprocess.Popen[str]:
        words = rtqual_command("select", mission, "--out", tmp_path / user)
        environment = {**programs, "LG_USERNAME": user}
        return subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    with stand_in(tmp_path / "board") as there, ExitStack() as stack:
        there.wait_up()
        mission.write_text(mission_of(there, table=there.table(labgrid=table), runs=2, cycles=1500))
        with farm.up():
            farm.place("place", "bench")
            first = stack.enter_context(select("first"))
            until(lambda: "/first" in farm.said("-p", "place", "show"))
            until(lambda: bool(there.ssh("pidof cyclictest", 600).stdout) or first.poll() is not None)
        with farm.up():
            assert "acquired: None" in farm.said("-p", "place", "show")
            second = select("second")
            refused = second.communicate()[0]
            assert (second.returncode, first.poll()) == (3, None), refused
            assert "board stand-in is in use by " in refused and f"{tmp_path}/first" in refused
            assert not Store(tmp_path / "second/records").paths()
            said = first.communicate()[0]
        assert first.returncode == 0, said
        records = [read(path).manifest for path in Store(tmp_path / "first/records").paths()]
        assert sorted(one.inputs.candidate for one in records) == ["debian"] * 2 + ["debian-rt"] * 2
        assert [one.problems for one in records] == [[]] * 4
        assert there.ssh("uname -r").stdout.strip() == there.release
